"""Judgement of imported figures: commands measured one after the other. Always exploratory.

Commands are compared by Welch's test. The types and the verdicts are those of a measured record.
Each session is a separate family for Holm's procedure, and no result is pooled over sessions.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.compare import medians, verdict
from bench_framework.compare import samples as sampling
from bench_framework.compare.decide import Evidence, decide, equivalence_level, rounds_for_margin
from bench_framework.compare.inverse import mirrored
from bench_framework.features.imported import claims as imported_claims
from bench_framework.model.judgement import (
    BestGroup,
    CellState,
    Comparison,
    Judgement,
    Summary,
)
from bench_framework.model.looks import Looks
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.stats import welch
from bench_framework.stats.holm_family import Adjusted, holm, minimum_detectable_effect
from bench_framework.stats.portable_math import exp, expm1, log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Command, Imported, Session
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.policies import Metric

ONCE: Final = 1
"""The number of rounds of every comparison, and of interim analyses of a set."""
NO_SPREAD: Final = "its file gives no number of runs or no spread: values without an interval"
ZERO_SPREAD: Final = "every spread is given as zero: no interval follows from rounded figures"
MOST_DETECTABLE: Final = 10.0
HOPELESS: Final = "too few or too variable runs: even a factor of ten cannot be detected"
_BETTER: Final = frozenset({Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN})
_WORSE: Final = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN})


def judge_imported(plan: Plan, imported: Imported) -> Judgement:
    """Judge the cells of a plan by the figures of a set.

    Equal arguments give bitwise equal judgements.

    Args:
        plan: `plan_of` the set, perhaps with another baseline or fewer commands.
        imported: the set.
    """
    judges = [_SessionJudge(plan, imported, item.id) for item in plan.inputs]
    comparisons = tuple(c for judge in judges for c in (*judge.headline, *judge.memory()))
    headline = [c for judge in judges for c in judge.headline]
    failed = bool(headline) and all(c.verdict is Verdict.FAILED for c in headline)
    draft = Judgement(
        looks=Looks(
            (ONCE,),
            ONCE,
            decidable=True,
            family=max((len(j.headline) for j in judges), default=0),
            level=plan.judge.level,
        ),
        states=tuple(_state(cell, imported.commands[cell.id][1]) for cell in plan.cells),
        summaries=tuple(
            s for cell in plan.cells for s in _summaries(cell, imported.commands[cell.id][1])
        ),
        comparisons=comparisons,
        best=tuple(judge.best() for judge in judges),
        floors=(),
        scaling=(),
        status="failed" if failed else "exploratory",
    )
    return replace(draft, claims=imported_claims.claims_of_imported(plan, draft, imported))


class _SessionJudge:
    """Judge of the commands of one session."""

    def __init__(self, plan: Plan, imported: Imported, input_id: str) -> None:
        self._policy, self._input_id = plan.judge, input_id
        self._cells = plan.cells_of(input_id)
        self._commands = {cell.id: imported.commands[cell.id][1] for cell in self._cells}
        self._session: Session | None = next(
            (imported.commands[c.id][0] for c in self._cells), None
        )
        self._baseline = plan.baseline_cell(input_id)
        self.headline = self._family(self._headline_pairs(), "headline")

    def _headline_pairs(self) -> list[tuple[Cell, Cell, Metric]]:
        """Return every command against the baseline, in the order of the file.

        CPU time is included only if it is known per run.
        """
        baseline = self._baseline
        if baseline is None or self._session is None:
            return []
        known = (WALL, CPU) if self._session.format == "hyperfine-2" else (WALL,)
        metrics = [metric for metric in self._policy.metrics if metric in known]
        return [
            (c, baseline, metric) for metric in metrics for c in self._cells if c.id != baseline.id
        ]

    def _family(
        self, pairs: Sequence[tuple[Cell, Cell, Metric]], family: Literal["headline", "best"]
    ) -> list[Comparison]:
        """Return one comparison per pair, in the given order.

        Refused comparisons count for the size of the family.
        """
        drafts = [self._draft(cell, base, metric, family) for cell, base, metric in pairs]
        contrasts = [self._contrast(c) if _open(c) else None for c in drafts]
        judged = [(n, contrast) for n, contrast in enumerate(contrasts) if contrast is not None]
        adjusted = holm([c.p for _, c in judged], size=len(pairs), level=self._policy.level)
        rules = verdict.Rules(looks=ONCE, size=len(pairs), level=self._policy.level, seed=0)
        for n, draft in enumerate(drafts):
            if _open(draft) and contrasts[n] is None:
                drafts[n] = replace(draft, reason=ZERO_SPREAD)
        for (n, contrast), adjustment in zip(judged, adjusted, strict=True):
            drafts[n] = _decide(drafts[n], contrast, adjustment, rules)
        return drafts

    def _draft(
        self, cell: Cell, base: Cell, metric: Metric, family: Literal["headline", "best", "memory"]
    ) -> Comparison:
        """Return a comparison that is not judged yet, or is refused with its reason."""
        ours, theirs = (self._commands[c.id].series_of(metric) for c in (cell, base))
        code, reason = self._refusal(cell, base, metric) or (Verdict.INCONCLUSIVE, "")
        return Comparison(
            cell.id,
            base.id,
            metric,
            family,
            code,
            reason,
            rounds=ONCE,
            runs=(ours.n or 0) if ours else 0,
            runs_ref=(theirs.n or 0) if theirs else 0,
            margin=self._policy.margin_of(metric),
            epsilon=self._policy.epsilon_of(metric),
        )

    def _refusal(self, cell: Cell, base: Cell, metric: Metric) -> tuple[Verdict, str] | None:
        """Return why a pair cannot be compared on a metric, or `None` if it can."""
        command, other = self._commands[cell.id], self._commands[base.id]
        if failed(command):
            return Verdict.FAILED, f"{command.failed} of its runs did not end with exit code 0"
        if failed(other):
            return (
                Verdict.NOT_COMPARABLE,
                f"the baseline: {other.failed} runs did not end with exit code 0",
            )
        ours, theirs = command.series_of(metric), other.series_of(metric)
        if ours is None or theirs is None:
            return Verdict.INCONCLUSIVE, "one side has no figure above zero"
        if ONCE in (ours.n, theirs.n):
            return Verdict.SINGLE_RUN, ""
        if welch.log_mean(ours) is None or welch.log_mean(theirs) is None:
            return Verdict.INCONCLUSIVE, NO_SPREAD
        return None

    def _contrast(self, c: Comparison) -> welch.Contrast | None:
        ours, theirs = (self._commands[i].series_of(c.metric) for i in (c.cell_id, c.ref_cell_id))
        return welch.compare(ours, theirs) if ours is not None and theirs is not None else None

    def best(self) -> BestGroup:
        """Return every command that is not worse than another one.

        All pairs of a session are one family. A pair that the headline also compares keeps the
        verdict of the headline, as in a measured record.
        """
        usable = [c for c in self._cells if self._refusal(c, c, WALL) is None]
        pairs = [(b, a, WALL) for a, b in itertools.combinations(usable, 2)]
        walls = [c for c in self.headline if c.metric == WALL]
        known = {(c.cell_id, c.ref_cell_id): c for h in walls for c in (mirrored(h), h)}
        comparisons = [
            replace(known.get((c.cell_id, c.ref_cell_id), c), family="best")
            for c in self._family(pairs, "best")
        ]
        beaten = {c.cell_id for c in comparisons if c.verdict in _WORSE}
        beaten |= {c.ref_cell_id for c in comparisons if c.verdict in _BETTER}
        members = tuple(a.id for a in usable if a.id not in beaten) if comparisons else ()
        complete = len(usable) == len(self._cells)
        return BestGroup(self._input_id, WALL, members, complete, tuple(comparisons))

    def memory(self) -> list[Comparison]:
        """Return the comparisons of peak memory by medians, if the file has it per run."""
        baseline = self._baseline
        if baseline is None or self._session is None or self._session.memory != "per-run":
            return []
        theirs = self._commands[baseline.id].series_of(PEAK_RSS)
        others = [
            c for c in self._cells if c is not baseline and self._commands[c.id].series_of(PEAK_RSS)
        ]
        comparisons = []
        for cell in others if theirs is not None else ():
            ours, draft = (
                self._commands[cell.id].series_of(PEAK_RSS),
                self._draft(cell, baseline, PEAK_RSS, "memory"),
            )
            assert ours is not None
            assert theirs is not None
            if not _open(draft):
                comparisons.append(draft)
                continue
            shared = min(len(ours.values), len(theirs.values))
            pair = sampling.Pair(tuple(range(shared)), ours.values, theirs.values)
            judged = medians.compare_medians(
                cell.id,
                baseline.id,
                PEAK_RSS,
                pair,
                level=self._policy.level,
                size=len(others),
                margin=draft.margin,
                epsilon=draft.epsilon,
            )
            reason = judged.reason.replace("rounds", "runs")
            comparisons.append(
                replace(
                    judged, reason=reason, rounds=ONCE, runs=draft.runs, runs_ref=draft.runs_ref
                )
            )
        return comparisons


def _open(draft: Comparison) -> bool:
    """Return whether a pair can be judged because it was not refused."""
    return draft.verdict is Verdict.INCONCLUSIVE and not draft.reason


def failed(command: Command) -> bool:
    """Return whether more than 5 % of the runs failed, as for a cell of a measured record."""
    return command.failed > sampling.VOID_SHARE * (command.failed + (command.runs or 0))


def _decide(
    draft: Comparison, contrast: welch.Contrast, adjusted: Adjusted, rules: verdict.Rules
) -> Comparison:
    """Return the comparison with the verdict of its contrast."""
    thresholds = Thresholds(draft.margin, draft.epsilon)
    bounds = interval(contrast, 1 - rules.level / adjusted.divisor)
    level = equivalence_level(ONCE)
    decision = decide(
        Evidence(adjusted.rejected, bounds, "welch", lambda: interval(contrast, level)), thresholds
    )
    typical = interval(contrast, verdict.PLAIN_LEVEL)
    draft = replace(
        draft,
        verdict=decision.verdict,
        reason=decision.reason,
        shown=decision.interval,
        statistic="welch",
        typical=typical,
        p=contrast.p,
        p_adjusted=adjusted.p,
    )
    if decision.verdict.settled:
        return draft
    mde = minimum_detectable_effect(
        (log(typical.hi) - log(typical.lo)) / 2, rules.strict, thresholds.minimum_effect
    )
    if mde > log(MOST_DETECTABLE):
        return replace(draft, reason=HOPELESS)
    needed = rounds_for_margin(contrast.n, mde, thresholds.margin)
    return replace(draft, mde=expm1(mde), rounds_needed=needed)


def interval(contrast: welch.Contrast, level: float) -> Interval:
    """Return the contrast as a ratio with its interval."""
    lo, hi = contrast.bounds(level)
    return Interval(exp(contrast.estimate), exp(max(lo, -700.0)), exp(min(hi, 700.0)), level)


def _state(cell: Cell, command: Command) -> CellState:
    if not failed(command):
        return CellState(cell.id, "measured", ONCE, command.failed)
    reason = f"{command.failed} of its runs did not end with exit code 0"
    return CellState(cell.id, "failed", ONCE, command.failed, reason)


def _summaries(cell: Cell, command: Command) -> list[Summary]:
    """Return centre and spread of every metric of a command.

    The centre of published figures is the mean.
    """
    return [
        Summary(
            cell.id,
            s.metric,
            ONCE,
            s.n or 0,
            command.failed,
            statistics.median(values),
            None,
            None,
            s.mean,
            s.sd,
            min(values),
            max(values),
            None,
        )
        for s in command.series
        for values in (s.values or (s.mean,),)
    ]
