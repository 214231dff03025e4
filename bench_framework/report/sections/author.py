"""Notes and next steps of the author; the latter quote measured figures."""

from bench_framework.report.blocks import AuthorNote, Block, Code
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind


def next_steps(data: ReportData) -> tuple[Block, ...]:
    """Return the author's next steps with measured figures."""
    return tuple(claim_bullets(data.claims("next-step")))


def notes(data: ReportData) -> tuple[Block, ...]:
    """Return one block per note of the scenario, with its code if it has some."""
    blocks: list[Block] = []
    for note in data.plan.notes:
        blocks.append(AuthorNote(note.title, note.text))
        if note.code:
            blocks.append(Code(note.code.rstrip("\n")))
    return tuple(blocks)


NEXT_STEPS = SectionKind(
    "S26",
    "next-steps",
    "Next steps",
    "the author's `next-steps`, with measured figures",
    next_steps,
)
NOTES = SectionKind("S23", "notes", "Author's notes", "notes in the scenario", notes)
