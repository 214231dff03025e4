"""Claims about an imported set: claims that such figures support, and the limits of each file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from bench_framework.claims.factory import Names
from bench_framework.claims.phrases import IN_SESSION
from bench_framework.features import claim_writer
from bench_framework.model.imported import Command, Imported, Session
from bench_framework.model.judgement import Claim, Comparison, Judgement
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan
from bench_framework.model.verdict import Verdict
from bench_framework.stats import welch
from bench_framework.stats.portable_math import log1p

Commands = Mapping[str, tuple[Session, Command]]
SUPPORTED: Final = ("main", "nothing", "comparison", "memory")
"""The kinds of claims that figures without rounds support.

They include no recommendation, and each claim applies to one session.
"""

Values = dict[str, float | int | str]


def claims_of_imported(plan: Plan, judgement: Judgement, imported: Imported) -> tuple[Claim, ...]:
    """Return the claims with their sentences, in the order of the report."""
    compared: dict[tuple[tuple[str, ...], str | None], Comparison] = {
        ((c.cell_id, c.ref_cell_id), c.metric): c for c in judgement.comparisons
    }
    written = [c for c in claim_writer.claims_of(plan, judgement, {}, ()) if c.kind in SUPPORTED]
    claims = [
        *(_in_session(c, compared.get((c.cells[:2], c.metric)), imported) for c in written),
        *_limits(plan, imported.commands),
    ]
    if len(plan.inputs) > 1:
        claims.append(Claim("", "sessions", plan.name, metric=WALL))
    return claim_writer.numbered(claims)


def _in_session(claim: Claim, compared: Comparison | None, imported: Imported) -> Claim:
    """Mark a claim as one about a single session, with the runs of both sides."""
    values: Values = {**claim.values, IN_SESSION: 1}
    file, commands = dict(claim.scope).get("input"), imported.commands
    if claim.kind == "nothing" and any(
        session.label == file and imported.baseline not in {c.label for c in session.commands}
        for session in imported.sessions
    ):
        values["reason"] = f"the baseline {imported.baseline} is not in {file}"
    if compared is not None:
        values["runs_ref"] = compared.runs_ref
        series = commands[compared.cell_id][1].series_of(compared.metric)
        if compared.verdict is Verdict.SINGLE_RUN and series is not None:
            values["value"] = series.mean
        if (likely := _runs_at_estimate(compared, commands)) is not None:
            values["runs_at_estimate"] = likely
    return replace(claim, values=values)


def _runs_at_estimate(c: Comparison, commands: Commands) -> int | None:
    """Return the runs per command that detect an inconclusive estimate, unless it is too small."""
    if c.verdict is not Verdict.INCONCLUSIVE or c.statistic != "welch" or c.shown is None:
        return None
    contrast = contrast_of(c, commands)
    if contrast is None or abs(contrast.estimate) <= log1p(c.epsilon):
        return None
    return welch.runs_at_estimate(contrast, 1 - c.shown.level)


def contrast_of(c: Comparison, commands: Commands) -> welch.Contrast | None:
    """Return the contrast of a comparison, or `None` without a variance above zero."""
    ours, theirs = (commands[i][1].series_of(c.metric) for i in (c.cell_id, c.ref_cell_id))
    return welch.compare(ours, theirs) if ours is not None and theirs is not None else None


def _limits(plan: Plan, commands: Commands) -> Iterator[Claim]:
    """Yield the contents of each file and its limits."""
    for item in plan.inputs:
        cells = tuple(cell.id for cell in plan.cells_of(item.id))
        if cells:
            session = commands[cells[0]][0]
            runs = sorted({c.runs for c in session.commands if c.runs is not None})
            values: Values = {
                "commands": len(cells),
                "runs": f"{_span(runs)} runs" if runs else "an unknown number of runs",
                "raw": int(session.raw),
                "memory": session.memory,
                IN_SESSION: 1,
            }
            scope = Names(plan).scope(item.id)
            yield Claim("", "limits", session.label, scope=scope, cells=cells, values=values)


def _span(runs: list[int]) -> str:
    return str(runs[0]) if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"
