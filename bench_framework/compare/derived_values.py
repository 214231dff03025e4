"""Derived values: rates of named cells, and formulas over them.

A formula is evaluated in every round. The value of the row is the median over rounds, with the
order-statistic 95 % interval of the median.
"""

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.compare.medians import LEVEL, median_interval
from bench_framework.compare.samples import Sample
from bench_framework.model.formula import Formula, FormulaUnit, parse, phase_key
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import PreparedInput
from bench_framework.model.result.judgement import Comparison, Derived
from bench_framework.model.result.structure import ContrastResult, Contribution
from bench_framework.model.verdict import Verdict

_FORMULA: Final = re.compile(r"rate\((\w+)\) / (\w+)")


@dataclass(frozen=True, slots=True)
class LimitShare:
    """The rate of a configuration ÷ a derived rate, such as ``min(…)``, with its name in formulas."""

    name: str
    share: Derived
    rate: Derived
    limit: Derived


def limit_shares(derived: Sequence[Derived], input_id: str) -> list[list[LimitShare]]:
    """Return the shares of each limit, the largest one first.

    The limit that most shares refer to comes first, then the others in the order of the scenario.
    """
    every = shares(derived, input_id, "min(")
    limits = Counter(s.limit.name for s in every).most_common()
    return [
        sorted((s for s in every if s.limit.name == name), key=lambda s: -(s.share.value or 0.0))
        for name, _ in limits
    ]


def shares(derived: Sequence[Derived], input_id: str, function: str) -> list[LimitShare]:
    """Return the rates divided by a derived rate with a function."""
    rows = {row.name: row for row in derived if row.input_id == input_id}
    quotients = []
    for row in rows.values():
        parts = _FORMULA.fullmatch(row.formula)
        rate, top = (rows.get(parts[1]), rows.get(parts[2])) if parts else (None, None)
        if not parts or rate is None or top is None or row.value is None:
            continue
        if not top.measured and function in top.formula:
            quotients.append(LimitShare(parts[1], row, rate, top))
    return quotients


Series = dict[int, float]
"""Round → value."""
Pairs = dict[tuple[str, ...], "Comparison"]
"""(candidate cell id, reference cell id) → comparison."""


def derived_rows(
    plan: Plan,
    samples: Mapping[str, Sample],
    inputs: Sequence[PreparedInput],
    usable: frozenset[str],
    comparisons: Sequence[Comparison] = (),
) -> tuple[Derived, ...]:
    """Compute the rate of every named cell and the value of every formula.

    A round counts if it contains every value that a formula needs. A cell that failed or ran in
    another mode than requested has no value.

    The size of an input is the number of bytes per run for programs that report none. The first
    comparison of a pair counts: ``time(a) / time(b)`` of a judged pair has its ratio and interval,
    so that a report has only one interval for a pair. For each input, the rates come first, then
    the formulas in scenario order.
    """
    sizes = {item.input_id: item.size_bytes for item in inputs}
    pairs: Pairs = {}
    for comparison in comparisons:
        if comparison.metric == WALL:
            pairs.setdefault((comparison.cell_id, comparison.ref_cell_id), comparison)
    return tuple(
        row
        for item in plan.inputs
        for row in _rows_of_input(plan, item.id, samples, sizes.get(item.id), usable, pairs)
    )


def _rows_of_input(
    plan: Plan,
    input_id: str,
    samples: Mapping[str, Sample],
    size: int | None,
    usable: frozenset[str],
    pairs: Pairs,
) -> Iterator[Derived]:
    every = {c.variant_id: c for c in plan.cells_of(input_id) if c.role is not Role.CONTROL}
    cells = {e.name: every[e.variant_id] for e in plan.named if e.variant_id in every}
    rates: dict[str, Series] = {}
    times: dict[str, Series] = {}
    for entry in plan.named:
        name, cell = entry.name, cells.get(entry.name)
        if cell is not None and cell.id in usable:
            times[name], rates[name] = _times_and_rates(samples[cell.id], size)
        series = rates.get(name, {})
        rate = _row(input_id, name, f"rate({name})", "bytes/s", series, cells, [name])
        yield replace(rate, measured=True)
    units: dict[str, FormulaUnit] = {}
    rows: dict[str, Series] = {}
    needs: dict[str, tuple[str, ...]] = {}
    assumed: dict[str, str] = {}
    for row in plan.derived:
        formula = parse(row.formula, units)
        units[row.name] = formula.unit
        for name, phase in formula.phases:
            if name in times:
                key = phase_key(name, phase)
                times[key], rates[key] = _times_and_rates(samples[cells[name].id], size, phase)
        rows[row.name] = _evaluate(formula, rates, times, rows)
        of_rows = (cell for name in formula.rows for cell in needs[name])
        needs[row.name] = tuple(dict.fromkeys((*formula.cells, *of_rows)))
        series, names = rows[row.name], needs[row.name]
        computed = _row(input_id, row.name, row.formula, formula.unit, series, cells, names)
        # A formula that uses a projected value is projected too.
        inherited = (assumed[name] for name in formula.rows)
        assumed[row.name] = row.assuming or next(filter(None, inherited), "")
        if formula.pair and not assumed[row.name]:
            computed = _as_judged(computed, pairs)
        yield replace(computed, assuming=assumed[row.name])


def _as_judged(row: Derived, pairs: Pairs) -> Derived:
    """Return a ratio of two times with the values of the judged pair, if there is one."""
    straight, inverse = pairs.get(row.cell_ids[:2]), pairs.get(row.cell_ids[1::-1])
    comparison = straight or inverse
    if comparison is None:
        return row
    if comparison.shown is None:
        if comparison.verdict in {Verdict.INCONCLUSIVE, Verdict.SINGLE_RUN}:
            return row  # no interim analysis yet; the median over rounds remains
        return replace(row, judged=True, rounds=0, value=None, lo=None, hi=None, level=None)
    interval = comparison.shown if straight else comparison.shown.inverse
    row = replace(row, judged=True, rounds=comparison.rounds, value=interval.ratio)
    if not interval.bounded:
        # Too few rounds for that level: the row has a value without an interval.
        return replace(row, lo=None, hi=None, level=None)
    return replace(row, lo=interval.lo, hi=interval.hi, level=interval.level)


def with_contribution_figures(
    rows: Sequence[Derived], tables: Sequence[Contribution], results: Sequence[Comparison]
) -> tuple[Derived, ...]:
    """Replace the ratios that are also steps of a contribution by the values of that step.

    A pair of the results table keeps its values. Any other pair is also judged in the best group,
    which is a larger family with wider intervals. A report must show one interval per pair.
    """
    in_results = {(c.cell_id, c.ref_cell_id) for c in results if c.metric == WALL}
    timed = (table for table in tables if table.metric == WALL)
    every = (step for table in timed for step in (*table.steps, *table.beyond))
    steps: dict[tuple[str | None, ...], ContrastResult] = {
        (s.cell_id, s.ref_cell_id): s.contrast for s in every
    }

    def with_figures(row: Derived) -> Derived:
        pair = row.cell_ids
        contrast = steps.get(pair) if row.judged else None
        if contrast is None or contrast.shown is None or {pair, pair[::-1]} & in_results:
            return row
        i = contrast.shown
        return replace(row, rounds=contrast.rounds, value=i.ratio, lo=i.lo, hi=i.hi, level=i.level)

    return tuple(map(with_figures, rows))


def _times_and_rates(
    sample: Sample, size: int | None, phase: str | None = None
) -> tuple[Series, Series]:
    """Return the times of the runs or of a phase, and the bytes per second.

    A run processed the bytes that the worker reports, or else the `size` of the input.
    """
    times = dict(sample.values(WALL)) if phase is None else {}
    handled: dict[int, int | None] = {}
    for block in sample.blocks:
        if phase and (spent := [r.phases_s[phase] for r in block.receipts if phase in r.phases_s]):
            times[block.round] = statistics.median(spent)
        handled[block.round] = next((r.bytes for r in block.receipts if r.bytes is not None), size)
    rates = {
        number: count / seconds
        for number, seconds in times.items()
        if seconds > 0 and (count := handled.get(number)) is not None
    }
    return times, rates


def _evaluate(
    formula: Formula,
    rates: Mapping[str, Series],
    times: Mapping[str, Series],
    rows: Mapping[str, Series],
) -> Series:
    values: Series = {}
    rounds = {number for series in (*rates.values(), *times.values()) for number in series}
    for number in sorted(rounds):
        now = [
            {name: s[number] for name, s in kind.items() if number in s}
            for kind in (rates, times, rows)
        ]
        try:
            value = formula.value(*now)
        except (KeyError, ZeroDivisionError):
            continue  # this round lacks a value
        if math.isfinite(value):
            values[number] = value
    return values


def _row(
    input_id: str,
    name: str,
    formula: str,
    unit: FormulaUnit,
    series: Series,
    cells: Mapping[str, Cell],
    names: Sequence[str],
) -> Derived:
    ranked = sorted(series.values())
    bounds = median_interval(ranked, LEVEL)
    return Derived(
        input_id=input_id,
        name=name,
        formula=formula,
        unit=unit,
        cell_ids=tuple(cells[cell_name].id for cell_name in names if cell_name in cells),
        measured=False,
        rounds=len(ranked),
        value=statistics.median(ranked) if ranked else None,
        lo=bounds[0] if bounds else None,
        hi=bounds[1] if bounds else None,
    )
