"""The documents that `run` and `report` print with ``--json``. `benchctl schema NAME` prints their JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from bench_framework.compare import cell_state
from bench_framework.model.documents.comparison import ComparisonDocument, comparison_document
from bench_framework.model.result.judgement import RecordStatus
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Box, Paragraph, paragraph_text
from bench_framework.report.sections.summary import SUMMARY
from bench_framework.store.manifest import digest_of_record
from bench_framework.store.records import open_record

if TYPE_CHECKING:
    from bench_framework.model.facts import Claim
    from bench_framework.workflow.run import RunOutcome


_Block = TypeVar("_Block", bound=Block)


@dataclass(frozen=True, slots=True)
class ClaimDocument:
    """A sentence of the report."""

    id: str
    """Id of the claim, as in `claims.json`."""
    kind: str
    """Kind of the fact that the sentence states."""
    verdict: Verdict | None
    """Verdict of the claim; null for a claim without one."""
    text: str
    """The sentence."""


@dataclass(frozen=True, slots=True)
class FailureDocument:
    """Something that could not be built or measured."""

    code: str
    """Code of the error (docs/reference/codes.md)."""
    message: str
    """The error in words."""
    fix: str | None
    """Advice on what to do; null without one."""


@dataclass(frozen=True, slots=True)
class RunDocument:
    """The result of `run`, `ab`, `sweep` and `ablate`."""

    record: str | None
    """Folder of the record."""
    exit_code: int
    """Exit code of the command."""
    digest: str | None
    """Digest of the measured files."""
    status: RecordStatus | Literal["interrupted"]
    """State of the record."""
    answer: tuple[str, ...]
    """The first sentences of the report."""
    decision: tuple[str, ...]
    """The variant to use; empty if the data do not show it."""
    warnings: tuple[str, ...]
    """Reasons to be careful with the answer, such as outputs that differ."""
    other_outputs: tuple[str, ...]
    """Labels of the variants that are compared although their output differs from the baseline's."""
    comparisons: tuple[ComparisonDocument, ...]
    """All comparisons of the record."""
    claims: tuple[ClaimDocument, ...]
    """Sentences of the report."""
    failures: tuple[FailureDocument, ...]
    """Errors of builds and runs."""
    resume: str | None
    """Command that continues an interrupted measurement."""


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """The result of `report` and `import`."""

    record: Path
    """Folder of the record, or of the published report."""
    files: tuple[Path, ...]
    """The files that were written."""


@dataclass(frozen=True, slots=True)
class FileDocument:
    """The result of `export --out` and `baseline export`: a file that was written."""

    file: Path
    """Path of the file."""
    format: str
    """Format of the file."""
    bytes: int
    """Size of the file."""


def run_document(outcome: RunOutcome) -> RunDocument:
    """Return the document of a run. Raises `RecordError`: its record cannot be read."""
    path, judgement = outcome.record, outcome.judgement
    comparisons: tuple[ComparisonDocument, ...] = ()
    claims: tuple[ClaimDocument, ...] = ()
    other_outputs: tuple[str, ...] = ()
    if judgement is not None and path is not None:
        with open_record(path) as record:
            plan = record.plan
            cells = cell_state.other_outputs(plan, record.contents.events)[1]
        labels = (plan.variant(cell.variant_id).label for cell in cells)
        other_outputs = tuple(dict.fromkeys(labels))
        comparisons = tuple(comparison_document(plan, c) for c in judgement.comparisons)
        claims = claim_documents(judgement.claims)
    boxes = _blocks(outcome, Box)
    return RunDocument(
        record=str(path) if path else None,
        exit_code=outcome.exit_code,
        digest=digest_of_record(path) if judgement and path else None,
        status=judgement.status if judgement else "interrupted",
        answer=tuple(s.text for block in _blocks(outcome, Paragraph) for s in block.sentences),
        decision=tuple(s.text for box in boxes if box.tone == "decision" for s in box.sentences),
        warnings=tuple(paragraph_text(box.sentences) for box in boxes if box.tone == "warning"),
        other_outputs=other_outputs,
        comparisons=comparisons,
        claims=claims,
        failures=tuple(FailureDocument(e.code, e.message, e.fix) for e in outcome.failures),
        resume=outcome.resume,
    )


def claim_documents(claims: Iterable[Claim]) -> tuple[ClaimDocument, ...]:
    """Return claims without their figures, which are in ``claims.json``."""
    return tuple(ClaimDocument(c.id, c.kind, c.verdict, c.text) for c in claims)


def _blocks(outcome: RunOutcome, kind: type[_Block]) -> tuple[_Block, ...]:
    """Return the blocks of one kind of the first section of the report."""
    section = outcome.document.section(SUMMARY.code) if outcome.document else None
    return tuple(b for b in (section.blocks if section else ()) if isinstance(b, kind))
