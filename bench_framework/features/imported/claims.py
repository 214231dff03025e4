"""Claims about an imported set: claims that such figures support, and the limits of each file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims.phrases import IN_SESSION
from bench_framework.features import claim_writer, sentences
from bench_framework.model.judgement import Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.stats import welch
from bench_framework.stats.portable_math import log1p

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.model.imported import Imported
    from bench_framework.model.judgement import Comparison, Judgement, Scope
    from bench_framework.model.plan import Input, Plan

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
        *_limits(plan, imported),
    ]
    if len(plan.inputs) > 1:
        claims.append(Claim("", "sessions", plan.name, None, WALL, (), None))
    numbered = (replace(claim, id=f"c{i}") for i, claim in enumerate(claims, 1))
    return tuple(replace(claim, text=sentences.say(claim)) for claim in numbered)


def _in_session(claim: Claim, compared: Comparison | None, imported: Imported) -> Claim:
    """Mark a claim as one about a single session, with the runs of both sides."""
    values: Values = {**claim.values, IN_SESSION: 1}
    file = dict(claim.scope).get("input")
    if file is not None and claim.kind == "nothing" and file in _without_baseline(imported):
        values["reason"] = f"the baseline {imported.baseline} is not in {file}"
    if compared is not None:
        values["runs_ref"] = compared.runs_ref
        sides = [imported.commands[cell][1].series_of(compared.metric) for cell in claim.cells[:2]]
        if compared.verdict is Verdict.SINGLE_RUN and sides[0] is not None:
            values["value"] = sides[0].mean
        if (likely := _runs_at_estimate(compared, imported)) is not None:
            values["runs_at_estimate"] = likely
    elif "counts" in claim.values:
        values["runs_ref"] = min(imported.commands[cell][1].runs or 0 for cell in claim.cells)
    return replace(claim, values=values)


def _without_baseline(imported: Imported) -> set[str]:
    return {
        session.label
        for session in imported.sessions
        if imported.baseline not in {command.label for command in session.commands}
    }


def _runs_at_estimate(c: Comparison, imported: Imported) -> int | None:
    """Return the runs per command that would detect the estimate, if it is inconclusive.

    The result is `None` for an estimate below the minimum effect size.
    """
    ours, theirs = (
        imported.commands[cell][1].series_of(c.metric) for cell in (c.cell_id, c.ref_cell_id)
    )
    if c.verdict is not Verdict.INCONCLUSIVE or c.statistic != "welch" or c.shown is None:
        return None
    contrast = welch.compare(ours, theirs) if ours is not None and theirs is not None else None
    if contrast is None or abs(contrast.estimate) <= log1p(c.epsilon):
        return None
    return welch.runs_at_estimate(contrast, 1 - c.shown.level)


def _limits(plan: Plan, imported: Imported) -> Iterator[Claim]:
    """Yield the contents of each file and its limits."""
    for item in plan.inputs:
        cells = tuple(cell.id for cell in plan.cells_of(item.id))
        if cells:
            session = imported.commands[cells[0]][0]
            runs = sorted({c.runs for c in session.commands if c.runs is not None})
            values: Values = {
                "commands": len(cells),
                "runs": f"{_span(runs)} runs" if runs else "an unknown number of runs",
                "raw": int(session.raw),
                "memory": session.memory,
                IN_SESSION: 1,
            }
            yield Claim(
                "",
                "limits",
                session.label,
                None,
                None,
                _scope(plan, item),
                None,
                cells=cells,
                values=values,
            )


def _scope(plan: Plan, item: Input) -> Scope:
    return (("input", item.label),) if len(plan.inputs) > 1 else ()


def _span(runs: list[int]) -> str:
    return str(runs[0]) if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"
