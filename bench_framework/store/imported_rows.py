"""The tables of an imported set: commands and runs in the order of their files. No column speaks of rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench_framework.store.columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.model.imported import Command, Imported, Session
    from bench_framework.model.judgement import Comparison, Judgement
    from bench_framework.model.verdict import Interval

Row = dict[str, Any]
_IDENTITY: Final = (
    Column("schema_version", "integer", "version of these tables"),
    Column("record_id", "string", "name of the set's folder"),
    Column("name", "string", "name of the set"),
)
_COMMAND: Final = (
    Column("session_id", "string", "the file, as s1, s2, …"),
    Column("session", "string", "name of the file"),
    Column("cell_id", "string", "twelve hex digits of file and label"),
    Column("variant", "string", "label of the command or row"),
)
RUNS: Final = (
    *_IDENTITY, *_COMMAND,
    Column("metric", "string", "wall, cpu or peak_rss"),
    Column("run", "integer", "place among the runs that ended well, from 1"),
    Column("value", "number", "seconds, or bytes for peak_rss", nullable=True),
)  # fmt: skip
CELLS: Final = (
    *_IDENTITY, *_COMMAND,
    Column("metric", "string", "wall, cpu or peak_rss"),
    Column("n", "integer", "runs; empty where the file does not say", nullable=True),
    Column("failed", "integer", "runs that did not end with exit code 0; they are not in n"),
    Column("mean", "number", "seconds, or bytes for peak_rss", nullable=True),
    Column("sd", "number", "standard deviation of one run", nullable=True),
    Column("published", "boolean", "whether the file has mean and spread alone"),
)  # fmt: skip
COMPARISONS: Final = (
    *_IDENTITY, *_COMMAND,
    Column("claim_id", "string", "the claim that says it", nullable=True),
    Column("kind", "string", "headline, memory or best"),
    Column("metric", "string", "what is compared"),
    Column("ref_variant", "string", "label of the reference"),
    Column("statistic", "string", "welch or median", nullable=True),
    Column("ratio", "number", "candidate ÷ reference", nullable=True),
    Column("lo", "number", "lower end of its displayed interval", nullable=True),
    Column("hi", "number", "upper end of its displayed interval", nullable=True),
    Column("level", "number", "level of the displayed interval", nullable=True),
    Column("p", "number", "two-sided, before Holm", nullable=True),
    Column("p_adjusted", "number", "after Holm", nullable=True),
    Column("margin", "number", "change too small to care about, as a fraction", nullable=True),
    Column("epsilon", "number", "smallest effect worth a word, as a fraction", nullable=True),
    Column("mde", "number", "smallest detectable difference, as a fraction", nullable=True),
    Column("runs_needed", "integer", "runs a side that would bring the mde down to the margin", nullable=True),
    Column("runs", "integer", "runs of the candidate"),
    Column("runs_ref", "integer", "runs of the reference"),
    Column("verdict", "string", "code of the verdict"),
    Column("reason", "string", "for a refusal: why", nullable=True),
    Column("text", "string", "the claim's sentence", nullable=True),
)  # fmt: skip


def _identity(imported: Imported) -> Row:
    return {
        "schema_version": imported.schema_version,
        "record_id": imported.record_id,
        "name": imported.name,
    }


def _command(session: Session, command: Command) -> Row:
    return {
        "session_id": session.id,
        "session": session.label,
        "cell_id": command.id,
        "variant": command.label,
    }


def run_rows(imported: Imported) -> Iterator[Row]:
    """One row per run and metric, where single runs are known."""
    for session in imported.sessions:
        for command in session.commands:
            for series in command.series:
                for number, value in enumerate(series.values, 1):
                    own = {"metric": series.metric, "run": number, "value": value}
                    yield {**_identity(imported), **_command(session, command), **own}


def cell_rows(imported: Imported) -> Iterator[Row]:
    """One row per command and metric."""
    for session in imported.sessions:
        for command in session.commands:
            for series in command.series:
                yield {
                    **_identity(imported), **_command(session, command), "metric": series.metric, "n": series.n,
                    "failed": command.failed, "mean": series.mean, "sd": series.sd, "published": not series.values,
                }  # fmt: skip


def comparison_rows(imported: Imported, judgement: Judgement) -> Iterator[Row]:
    """One row per comparison: against the baseline, then every pair of the best groups."""
    claims = {
        (claim.cells, claim.metric): claim
        for claim in judgement.claims
        if claim.kind in {"block-comparison", "block-memory"}
    }
    pairs = (pair for group in judgement.best for pair in group.comparisons)
    for comparison in (*judgement.comparisons, *pairs):
        claim = claims.get(((comparison.cell_id, comparison.ref_cell_id), comparison.metric))
        if comparison.family == "best":
            claim = None
        yield {
            **_identity(imported),
            **_comparison(imported, comparison),
            "claim_id": claim.id if claim else None,
            "text": claim.text if claim else None,
        }


def _comparison(imported: Imported, c: Comparison) -> Row:
    session, command = imported.place(c.cell_id)
    reference = imported.place(c.ref_cell_id) if c.ref_cell_id else None
    shown: Interval | None = c.shown
    return {
        **_command(session, command), "kind": c.family, "metric": c.metric,
        "ref_variant": reference[1].label if reference else imported.baseline,
        "statistic": c.statistic, "ratio": shown.ratio if shown else None, "lo": shown.lo if shown else None,
        "hi": shown.hi if shown else None, "level": shown.level if shown else None, "p": c.p,
        "p_adjusted": c.p_adjusted, "margin": c.margin, "epsilon": c.epsilon, "mde": c.mde,
        "runs_needed": c.rounds_needed, "runs": c.runs, "runs_ref": c.runs_ref, "verdict": c.verdict.value,
        "reason": c.reason or None,
    }  # fmt: skip
