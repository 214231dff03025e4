"""Notes, learnings and next steps of the author; the latter two quote measured figures."""

from bench_framework.report.blocks import AuthorText, Block, Bullets, Code, Heading
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind


def learnings(data: ReportData) -> tuple[Block, ...]:
    """Return learnings and next steps with measured figures."""
    blocks: list[Block] = []
    for kind, title in (("learning", "Learnings"), ("next-step", "Next steps")):
        texts = tuple(sentence(c) for c in data.claims(kind))
        if texts:
            blocks += [Heading(title, f"author-{kind}s"), Bullets(texts)]
    return tuple(blocks)


def notes(data: ReportData) -> tuple[Block, ...]:
    """Return one block per note of the scenario, with its code if it has some."""
    blocks: list[Block] = []
    for note in data.plan.notes:
        blocks.append(AuthorText(note.title, note.text))
        if note.code:
            blocks.append(Code(note.code.rstrip("\n")))
    return tuple(blocks)


LEARNINGS = SectionKind(
    "S26",
    "learnings",
    "Learnings and next steps",
    "the author's `learnings` and `next-steps`, with measured figures",
    learnings,
    place="report",
)
NOTES = SectionKind("S23", "notes", "Author's notes", "notes in the scenario", notes)
