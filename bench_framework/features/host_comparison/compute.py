"""Comparison of the results of several hosts (docs/method.md#several-hosts).

Every host has compared the candidates with its own baseline. Verdicts are those of the records, and
times of different hosts are never put together. Only the log ratios of hosts of one kind are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.features.evidence import NOT_MEASURED
from bench_framework.features.host_comparison import sentences
from bench_framework.features.host_comparison.results import (
    FEWEST,
    Agreement,
    HostComparison,
    HostRecord,
    HostResult,
    HostsCompared,
    KindSummary,
    MeasuredHost,
    outcome,
)
from bench_framework.model.fingerprint import fingerprint
from bench_framework.model.judgement import CONTROL_DIFFERS, Comparison, Judgement
from bench_framework.model.plan import Plan
from bench_framework.model.policies import Metric
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import CORRECTED
from bench_framework.report.main_table import plain_interval
from bench_framework.stats.portable_math import expm1, log
from bench_framework.stats.random_effects import random_effects

LEVEL: Final = 0.95
NORMAL_95: Final = 1.959964
_INTERNAL: Final = frozenset({"control", "best", "bridge"})
"""Families of comparisons that describe a record, and not a candidate."""


def compare_hosts(records: Sequence[HostRecord]) -> HostComparison:
    """Compare records of one scenario from different hosts, on the headline metric."""
    plan = records[0].plan
    metric = plan.judge.headline
    hosts = tuple(MeasuredHost(r.host, r.record_id, fingerprint(r.machine)) for r in records)
    by_pair = [_comparisons(record.judgement, metric) for record in records]
    pairs = dict.fromkeys(pair for one in by_pair for pair in one)
    parts = [{given.values for given in record.plan.inputs} for record in records]
    several = len(set().union(*parts)) > 1
    compared = []
    for pair in pairs:
        plan = next(r.plan for r, one in zip(records, by_pair, strict=True) if pair in one)
        given = plan.input(plan.cell(pair[0]).input_id)
        # A host that had no part of this input does not lack the comparison.
        rows = [
            (host, one.get(pair))
            for host, part, one in zip(hosts, parts, by_pair, strict=True)
            if given.values in part
        ]
        label = given.label if several else ""
        compared.append(_compared(plan, label, [r[0] for r in rows], [r[1] for r in rows]))
    margin = plan.judge.margin_of(metric)
    return HostComparison(plan.name, plan.question, margin, hosts, tuple(compared))


def _comparisons(judgement: Judgement, metric: Metric) -> Mapping[tuple[str, str], Comparison]:
    """Return candidate and reference → comparison. Ids of cells do not depend on the host."""
    comparisons = judgement.comparisons
    return {
        (c.cell_id, c.ref_cell_id): c
        for c in comparisons
        if c.metric == metric and c.family not in _INTERNAL
    }


def _compared(
    plan: Plan,
    label: str,
    hosts: Sequence[MeasuredHost],
    comparisons: Sequence[Comparison | None],
) -> HostsCompared:
    first = next(c for c in comparisons if c is not None)
    cell, reference = plan.cell(first.cell_id), plan.cell(first.ref_cell_id)
    results = tuple(
        HostResult(host.name, None, None, NOT_MEASURED) if c is None else _result(host, c)
        for host, c in zip(hosts, comparisons, strict=True)
    )
    draft = HostsCompared(
        plan.variant(cell.variant_id).label,
        plan.variant(reference.variant_id).label,
        label,
        first.metric,
        first.margin,
        first.direction,
        _agreement(results),
        results,
        tuple(_kinds(hosts, comparisons)),
    )
    return replace(draft, text=sentences.say(draft))


def _result(host: MeasuredHost, c: Comparison) -> HostResult:
    interval, notes = plain_interval(c), [c.reason]
    if c.verdict is Verdict.INCONCLUSIVE and interval is not None and c.reason != CONTROL_DIFFERS:
        notes.append("" if interval.lo <= 1 <= interval.hi else CORRECTED)
    return HostResult(host.name, c.verdict, interval, "; ".join(filter(None, notes)))


def _agreement(results: Sequence[HostResult]) -> Agreement:
    outcomes = {outcome(result.verdict) for result in results}
    open_ = outcomes & {None, Verdict.INCONCLUSIVE}
    if len(outcomes - open_) > 1:
        return "depends"
    return "inconclusive" if open_ else "agrees"


def _kinds(
    hosts: Sequence[MeasuredHost], comparisons: Sequence[Comparison | None]
) -> Iterable[KindSummary]:
    """Yield a summary for each kind of which enough hosts have a typical ratio."""
    kinds: dict[str, list[tuple[str, float, float]]] = {}
    for host, c in zip(hosts, comparisons, strict=True):
        typical = c.typical if c is not None and c.reason != CONTROL_DIFFERS else None
        if typical is not None and typical.bounded and typical.lo < typical.hi:
            error = (log(typical.hi) - log(typical.lo)) / (2 * NORMAL_95)
            kinds.setdefault(host.kind.digest, []).append((host.name, log(typical.ratio), error))
    for kind, rows in kinds.items():
        if len(rows) >= FEWEST:
            names, estimates, errors = zip(*rows, strict=True)
            mean, between = random_effects(estimates, errors)
            yield KindSummary(kind, names, mean.interval(LEVEL), expm1(between))
