"""Comparison of two records through anchors: cells that did not change.

Times of two sessions can differ through changes of the machine, because rounds are interleaved only
within a record. Each changed cell is therefore expressed as its ratio to the anchors of the same
record and round, which cancels what affects both alike. The two ratios are compared. The variances
of their logarithms add. Times are compared only if the anchors are shown to have changed by less
than the margin. See docs/method.md#two-records.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bench_framework.compare import cell_state, medians
from bench_framework.compare.decide import by_interval, within_margin
from bench_framework.compare.verdict import judge_by_t
from bench_framework.features.record_comparison import anchors
from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell, Match, Side
from bench_framework.model.metrics import CPU, WALL, is_exact
from bench_framework.model.plan.plan import Cell
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Difference, Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.holm_family import DETECTION_POWER, MDE_FACTOR
from bench_framework.stats.portable_math import NORMAL_95, expm1, log, t_quantile
from bench_framework.stats.welch import LogDifference

PLACEMENT: Final = 0.005
"""The standard deviation between sessions, on the log scale, that every cell has at least.

Copies of one binary differ by up to half a percent through the placement of their pages, which is
random in each session. This variation is added to that of the rounds.
"""
FEWEST: Final = 6
"""The smallest number of rounds of each record for a 95 % interval."""
PLAIN: Final = 0.95
TIMES: Final = (WALL, CPU)
TOO_FEW: Final = Reason(ReasonCode.TOO_FEW_IN_RECORD, FEWEST)
NO_INTERVAL: Final = Reason(ReasonCode.NO_INTERVAL)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A centre on the log scale with its standard error."""

    centre: float
    error: float
    rounds: int


def estimate(logs: Sequence[float]) -> Estimate | None:
    """Return the Hodges-Lehmann centre of a series of logarithms, or `None` below six rounds.

    The values must be in the order of the rounds. The error is the larger one of two: the error of
    the signed-rank interval, and the error of means over stretches of √n rounds. On a drifting
    machine, neighbouring rounds are not independent (batch means, Law & Kelton 2000, 9.5.3).
    """
    n = len(logs)
    if n < FEWEST:
        return None
    bounds = intervals.typical(np.asarray(logs, dtype=np.float64), PLAIN)
    stretch = math.isqrt(n)
    means = [statistics.fmean(logs[i : i + stretch]) for i in range(0, n - stretch + 1, stretch)]
    by_stretch = statistics.stdev(means) / math.sqrt(len(means))
    return Estimate(bounds.estimate, max(bounds.half_width / NORMAL_95, by_stretch), n)


def bridge(
    before: Side,
    after: Side,
    metrics: Sequence[Metric] = TIMES,
    *,
    forced: Sequence[Difference] = (),
) -> Bridge:
    """Compare two records.

    The cells of the earlier record are the references. The scenario of the later one determines
    margins and level. Times are compared through anchors, binary sizes as exact values.

    `forced` are differences of the machines in spite of which the records are compared.
    """
    records = _Records(before, after, forced)
    times = [m for m in metrics if m in TIMES]
    rows = [row for metric in times for row in records.anchor_rows(metric)]
    rows += records.changed_rows(times, rows)
    rows += [row for metric in metrics if is_exact(metric) for row in records.exact_rows(metric)]
    policy = after.plan.judge
    return Bridge(
        before.record_id,
        after.record_id,
        records.conditions,
        anchors.remarks(before.host, after.host),
        tuple(rows),
        anchors.unmatched(before, after, records.matches),
        family=max(1, sum(1 for r in rows if r.role == "changed" and r.comparison.metric in TIMES)),
        level=policy.level,
        margin=policy.margin_of(times[0] if times else WALL),
        forced=bool(forced),
    )


class _Records:
    """The two records, their common cells, and the conditions that differ."""

    def __init__(self, before: Side, after: Side, forced: Sequence[Difference] = ()) -> None:
        self.before, self.after = before, after
        self.matches = anchors.matches(before, after)
        self.anchors = [match for match in self.matches if match.role == "anchor"]
        conditions = anchors.conditions(before.host, after.host)
        self.refused = () if forced else conditions
        known = {difference.name for difference in forced}
        self.conditions = (*forced, *(one for one in conditions if one.name not in known))

    def _sides(self, match: Match) -> tuple[tuple[Side, Cell], tuple[Side, Cell]]:
        return (self.before, match.before), (self.after, match.after)

    def _draft(
        self, match: Match, metric: Metric, refusal: tuple[Verdict, Reason] | None = None
    ) -> Comparison:
        thresholds = self.after.plan.judge.thresholds_of(metric)
        ids = match.after.id, match.before.id
        draft = Comparison.unjudged(*ids, metric, "bridge", thresholds)
        return replace(draft, verdict=refusal[0], reason=refusal[1]) if refusal else draft

    def _refusal(self, match: Match) -> tuple[Verdict, Reason] | None:
        """Return why a pair is not compared, regardless of its anchors, or `None`."""
        if self.refused:
            return Verdict.NOT_COMPARABLE, Reason(ReasonCode.OTHER_CONDITIONS, self.refused)
        for one, cell in self._sides(match):
            state = one.states.get(cell.id)
            if state is None or state.state != "measured":
                reason = (state and state.reason) or Reason(ReasonCode.NOT_STARTED)
                reason = Reason(ReasonCode.IN_RECORD, (one.record_id, reason))
                return Verdict.NOT_COMPARABLE, reason
        earlier, later = (one.digest(cell) for one, cell in self._sides(match))
        if earlier is None or earlier != later:
            return Verdict.NOT_COMPARABLE, Reason(ReasonCode.OTHER_INPUT)
        answers = [one.answers.get(cell.id) for one, cell in self._sides(match)]
        if None not in answers and answers[0] != answers[1]:
            return Verdict.OTHER_OUTPUT, Reason(ReasonCode.OTHER_ANSWER)
        return None

    def _log_times(self, match: Match, metric: Metric) -> tuple[list[float], list[float]]:
        """Return the logarithms of the times of both cells, in the order of the rounds."""
        (first, earlier), (second, later) = self._sides(match)
        return _logs(first, [earlier.id], metric), _logs(second, [later.id], metric)

    def anchor_rows(self, metric: Metric) -> Iterator[BridgedCell]:
        """Yield the change of every anchor between the records, with its verdict.

        An anchor is equivalent if its unpaired 95 % interval is within the margin. All anchors must
        be equivalent, so their intervals need no adjustment for each other.
        """
        for match in self.anchors:
            refusal = self._refusal(match)
            draft = self._draft(match, metric, refusal)
            first, second = (
                (None, None) if refusal else map(estimate, self._log_times(match, metric))
            )
            if first is not None and second is not None:
                interval = _contrast(first, second).interval(PLAIN)
                inside = within_margin(interval, draft.thresholds.margin)
                draft = replace(
                    draft,
                    verdict=Verdict.EQUIVALENT
                    if inside
                    else by_interval(interval, draft.thresholds.margin),
                    shown=interval,
                    rounds=second.rounds,
                    runs=second.rounds,
                    runs_ref=first.rounds,
                )
            elif refusal is None:
                draft = replace(draft, reason=TOO_FEW)
            yield self._row(match, draft)

    def changed_rows(
        self, metrics: Sequence[Metric], anchor_rows: Sequence[BridgedCell]
    ) -> list[BridgedCell]:
        """Return changes relative to the anchors of their input, as one Holm family."""
        standing = {(r.comparison.cell_id, r.comparison.metric): r.comparison for r in anchor_rows}
        rows: list[tuple[Match, Comparison, LogDifference | None]] = []
        for match in (m for m in self.matches if m.role != "anchor"):
            used = [m for m in self.anchors if m.after.input_id == match.after.input_id]
            for metric in metrics:
                known = [standing[m.after.id, metric] for m in used]
                refusal = self._refusal(match) or _unanchored(known)
                draft, contrast = self._draft(match, metric, refusal), None
                if refusal is None and (ends := self._relative(match, used, metric)) is not None:
                    first, second = ends
                    draft = replace(draft, runs=second.rounds, runs_ref=first.rounds)
                    contrast = _contrast(first, second, self._scatter(used, metric))
                elif refusal is None:
                    draft = replace(draft, reason=TOO_FEW)
                rows.append((match, draft, contrast))
        level = self.after.plan.judge.level
        cases = [(draft, contrast) for _, draft, contrast in rows if contrast is not None]
        judged = iter(judge_by_t(cases, size=len(rows), level=level))
        return [
            self._row(
                match,
                draft if case is None else _with_mde(next(judged), case, level / (2 * len(rows))),
            )
            for match, draft, case in rows
        ]

    def _relative(
        self, match: Match, used: Sequence[Match], metric: Metric
    ) -> tuple[Estimate, Estimate] | None:
        """Return a cell's time relative to its anchors in both records, or `None` if unknown."""
        matches = (match, *used)
        first = estimate(_logs(self.before, [m.before.id for m in matches], metric))
        second = estimate(_logs(self.after, [m.after.id for m in matches], metric))
        return None if first is None or second is None else (first, second)

    def _scatter(self, used: Sequence[Match], metric: Metric) -> float:
        """Return the standard deviation of the anchors between sessions, at least `PLACEMENT`."""
        logs = (self._log_times(match, metric) for match in used)
        moves = [statistics.median(later) - statistics.median(earlier) for earlier, later in logs]
        return max(PLACEMENT, statistics.stdev(moves) if len(moves) > 1 else 0.0)

    def _row(self, match: Match, comparison: Comparison) -> BridgedCell:
        samples = (one.samples.get(cell.id) for one, cell in self._sides(match))
        series = [s.values(comparison.metric).values() if s is not None else () for s in samples]
        before, after = (statistics.median(values) if values else None for values in series)
        plan, item = self.after.plan, self.after.plan.input(match.after.input_id).label
        label = plan.variant(match.after.variant_id).label
        item = item if len(plan.inputs) > 1 else ""
        return BridgedCell(label, item, match.role, comparison, before, after, match.change)

    def exact_rows(self, metric: Metric) -> Iterator[BridgedCell]:
        """Yield the comparison of a deterministic value of each variant's binary."""
        of_variant: dict[str, Match] = {}
        for match in self.matches:
            of_variant.setdefault(match.after.variant_id, match)
        for match in of_variant.values():
            theirs, ours = (
                cell_state.exact_value(one.build(cell), metric) for one, cell in self._sides(match)
            )
            draft = self._draft(match, metric)
            if theirs is None or ours is None:
                draft = replace(draft, reason=Reason(ReasonCode.UNKNOWN_METRIC, metric))
            else:
                draft = medians.compare_exact(draft, ours, theirs)
            label = self.after.plan.variant(match.after.variant_id).label
            yield BridgedCell(label, "", match.role, draft, theirs, ours, match.change)


def _unanchored(comparisons: Sequence[Comparison]) -> tuple[Verdict, Reason] | None:
    """Return why the anchors of an input support no comparison, or `None`."""
    if not comparisons:
        return Verdict.NOT_COMPARABLE, Reason(ReasonCode.NO_ANCHOR)
    moved = [c for c in comparisons if c.verdict is not Verdict.EQUIVALENT]
    if not moved:
        return None

    def reach(c: Comparison) -> float:
        interval = c.shown
        return (
            math.inf if interval is None or interval.lo <= 0 else max(interval.hi, 1 / interval.lo)
        )

    return Verdict.NOT_COMPARABLE, _moved(max(moved, key=reach), len(moved), len(comparisons))


def _moved(worst: Comparison, count: int, total: int) -> Reason:
    """Return why so many of all anchors support no comparison, with the largest change."""
    one = total == 1
    which = (
        Reason(ReasonCode.ONE_ANCHOR) if one else Reason(ReasonCode.SOME_ANCHORS, (count, total))
    )
    if worst.shown is None or not worst.shown.bounded:
        return Reason(ReasonCode.ANCHOR_UNUSABLE, (which, worst.reason or NO_INTERVAL))
    change = Reason(ReasonCode.CHANGE if one else ReasonCode.LARGEST_CHANGE, worst.shown)
    if worst.verdict.decided:
        return Reason(ReasonCode.ANCHOR_MOVED, (which, change))
    return Reason(ReasonCode.ANCHOR_UNCERTAIN, (which, worst.thresholds.margin, change))


def _contrast(before: Estimate, after: Estimate, scatter: float = 0.0) -> LogDifference:
    """Return the change between two estimates. The t distribution has the fewer rounds of both."""
    rounds = min(before.rounds, after.rounds)
    error = math.hypot(before.error, after.error, scatter)
    return LogDifference(after.centre - before.centre, error, rounds - 1, rounds)


def _logs(one: Side, cell_ids: Sequence[str], metric: Metric) -> list[float]:
    """Return ln(time of the first cell ÷ geometric mean of the others) of each common round."""
    first, *others = (one.samples[cell_id].values(metric) for cell_id in cell_ids)
    shared = [r for r in sorted(first) if all(s.get(r, 0.0) > 0 for s in (first, *others))]
    if not others:
        return [log(first[r]) for r in shared]
    return [log(first[r]) - statistics.fmean(log(s[r]) for s in others) for r in shared]


def _with_mde(judged: Comparison, contrast: LogDifference, tail: float) -> Comparison:
    """Add the rounds, and the MDE if inconclusive; `tail` is that of Holm's first step."""
    judged = replace(judged, statistic=None, reason=None, rounds=contrast.n)
    if judged.verdict.settled:
        return judged
    reach = sum(t_quantile(p, contrast.freedom) for p in (1 - tail, DETECTION_POWER))
    return replace(judged, mde=expm1(MDE_FACTOR * reach * contrast.error))
