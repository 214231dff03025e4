"""Figures that follow from named cells: evaluated round by round, then treated as a sample (METHOD 7). Plain Python."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.compare.summaries import LEVEL, median_interval
from bench_framework.model.formula import Formula, Unit, parse
from bench_framework.model.judgement import Derived
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Role
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.compare.samples import Sample
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.run import Block, PreparedInput
    from bench_framework.model.structure import Contribution

PAIR: Final = 2
Series = dict[int, float]
"""Round to value."""
Pairs = dict[tuple[str, ...], "Comparison"]
"""By cell and the cell that it is compared with."""


def derived_rows(
    plan: Plan,
    samples: Mapping[str, Sample],
    inputs: Sequence[PreparedInput],
    usable: frozenset[str],
    comparisons: Sequence[Comparison] = (),
) -> tuple[Derived, ...]:
    """The rate of every named cell, then every formula, input by input; in the order of the scenario.

    A round counts if every figure that a formula needs was measured in it. A cell that failed, or ran another
    way than was asked for, gives no figure.

    Args:
        plan: with the formulas; `load` has checked them.
        samples: by cell id.
        inputs: as prepared: their sizes are the bytes of programs that report none.
        usable: ids of cells that were measured as asked.
        comparisons: judged pairs, the first of a pair counts. A formula ``time(a) / time(b)`` of a judged pair has the
            pair's figures, so that no page has two intervals for one pair.
    """
    if not plan.derived and not plan.named:
        return ()
    sizes = {item.input_id: item.size_bytes for item in inputs}
    pairs: Pairs = {}
    for comparison in comparisons:
        if comparison.metric == WALL:
            pairs.setdefault((comparison.cell_id, comparison.ref_cell_id), comparison)
    found: list[Derived] = []
    for item in plan.inputs:
        found += _of_input(plan, item.id, samples, sizes.get(item.id), usable, pairs)
    return tuple(found)


def _of_input(
    plan: Plan,
    input_id: str,
    samples: Mapping[str, Sample],
    size: int | None,
    usable: frozenset[str],
    pairs: Pairs,
) -> Iterator[Derived]:
    cells = {c.variant_id: c for c in plan.cells_of(input_id) if c.role is not Role.CONTROL}
    rates: dict[str, Series] = {}
    times: dict[str, Series] = {}
    for named in plan.named:
        cell = cells.get(named.variant_id)
        if cell is None or cell.id not in usable or cell.id not in samples:
            continue
        times[named.name], rates[named.name] = _times_and_rates(samples[cell.id], size)
    for named in plan.named:
        yield _row(
            input_id,
            named.name,
            f"rate({named.name})",
            "bytes/s",
            rates.get(named.name, {}),
            cell_ids=_ids(cells, [named.variant_id]),
            measured=True,
        )
    variants = {named.name: named.variant_id for named in plan.named}
    units: dict[str, Unit] = {}
    rows: dict[str, Series] = {}
    needs: dict[str, tuple[str, ...]] = {}
    assumed: dict[str, str] = {}
    for row in plan.derived:
        formula = parse(row.formula, units)
        units[row.name] = formula.unit
        rows[row.name] = _evaluate(formula, rates, times, rows)
        needs[row.name] = tuple(
            dict.fromkeys(
                [*formula.cells, *(cell for name in formula.rows for cell in needs[name])]
            )
        )
        ids = _ids(cells, [variants[name] for name in needs[row.name] if name in variants])
        worked_out = _row(
            input_id, row.name, row.formula, formula.unit, rows[row.name], cell_ids=ids
        )
        # What follows from a projection is a projection too.
        assumed[row.name] = row.assuming or next(
            (a for name in formula.rows if (a := assumed[name])), ""
        )
        if assumed[row.name]:
            yield replace(worked_out, assuming=assumed[row.name])
        else:
            yield _as_judged(worked_out, pairs) if formula.pair else worked_out


def _as_judged(row: Derived, pairs: Pairs) -> Derived:
    """The ratio of two cells' times, with the figures of that pair if it is judged."""
    straight, turned = pairs.get(row.cell_ids[:2]), pairs.get(row.cell_ids[1::-1])
    found = straight or turned
    if found is None:
        return row
    if found.shown is None:
        if found.verdict in {Verdict.INCONCLUSIVE, Verdict.SINGLE_RUN}:
            return row  # too early for the judge; the rounds' own values stand
        return replace(row, judged=True, rounds=0, value=None, lo=None, hi=None, level=None)
    shown = found.shown if straight else found.shown.inverse
    judged = replace(row, judged=True, rounds=found.rounds, value=shown.ratio, level=shown.level)
    if shown.lo <= 0 or not math.isfinite(
        shown.hi
    ):  # too few rounds for that level: a figure without an interval
        return replace(judged, lo=None, hi=None, level=None)
    return replace(judged, lo=shown.lo, hi=shown.hi)


def as_steps(
    rows: Sequence[Derived], tables: Sequence[Contribution], results: Sequence[Comparison]
) -> tuple[Derived, ...]:
    """The rows, where a ratio is a step among the contributions with the figures that it has there.

    A pair of the results themselves keeps theirs. Others are judged among the best group's pairs as well, a far
    larger family; a page must not tell one pair in both.
    """
    told = {(c.cell_id, c.ref_cell_id) for c in results if c.metric == WALL}
    steps = {
        (s.cell_id, s.ref_cell_id): s.contrast
        for table in tables
        if table.metric == WALL
        for s in (*table.steps, *table.beyond)
    }
    found = []
    for row in rows:
        pair = row.cell_ids[:2]
        contrast = (
            steps.get(pair) if row.judged and len(pair) == len(row.cell_ids) == PAIR else None
        )
        if contrast is not None and contrast.shown is not None and not {pair, pair[::-1]} & told:
            own = contrast.shown
            row = replace(  # noqa: PLW2901 -- the same row, with other figures
                row, rounds=contrast.rounds, value=own.ratio, lo=own.lo, hi=own.hi, level=own.level
            )
        found.append(row)
    return tuple(found)


def _ids(cells: Mapping[str, Cell], variants: Sequence[str]) -> tuple[str, ...]:
    return tuple(cells[variant].id for variant in variants if variant in cells)


def _times_and_rates(sample: Sample, size: int | None) -> tuple[Series, Series]:
    walls = sample.of(WALL)
    handled = {block.round: _bytes(block, size) for block in sample.blocks}
    rates = {
        number: count / wall
        for number, wall in walls.items()
        if wall > 0 and (count := handled.get(number)) is not None
    }
    return dict(walls), rates


def _bytes(block: Block, size: int | None) -> int | None:
    """Bytes that one run handled: what the worker reports, else the size of its input."""
    told = [receipt.bytes for receipt in block.receipts if receipt.bytes is not None]
    return told[0] if told else size


def _evaluate(
    formula: Formula,
    rates: Mapping[str, Series],
    times: Mapping[str, Series],
    rows: Mapping[str, Series],
) -> Series:
    found: Series = {}
    rounds = {number for series in (*rates.values(), *times.values()) for number in series}
    for number in sorted(rounds):
        now = [
            {name: s[number] for name, s in kind.items() if number in s}
            for kind in (rates, times, rows)
        ]
        try:
            value = formula.value(*now)
        except (KeyError, ZeroDivisionError):
            continue  # this round lacks a figure
        if math.isfinite(value):
            found[number] = value
    return found


def _row(
    input_id: str,
    name: str,
    formula: str,
    unit: Unit,
    series: Series,
    *,
    cell_ids: tuple[str, ...],
    measured: bool = False,
) -> Derived:
    ranked = sorted(series.values())
    bounds = median_interval(ranked, LEVEL)
    return Derived(
        input_id=input_id,
        name=name,
        formula=formula,
        unit=unit,
        cell_ids=cell_ids,
        measured=measured,
        rounds=len(ranked),
        value=statistics.median(ranked) if ranked else None,
        lo=bounds[0] if bounds else None,
        hi=bounds[1] if bounds else None,
    )
