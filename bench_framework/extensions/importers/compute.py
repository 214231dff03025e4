"""Judgement of imported figures: commands measured one after the other. Always exploratory.

Commands are compared by Welch's test. The types and the verdicts are those of a measured record.
Each session is a separate family for Holm's procedure, and no result is pooled over sessions. The
claims are those that such figures support, and the limits of each file.
"""

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from bench_framework.claims.factory import Names
from bench_framework.compare import medians, samples as sampling, verdict
from bench_framework.compare.decide import rounds_for_margin
from bench_framework.compare.interim_analysis import best_of
from bench_framework.extensions.importers.model import Imported
from bench_framework.features import claim_writer
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import SessionFigures
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.sessions import HarnessSession, Series, SessionCommand
from bench_framework.model.result.judgement import (
    BestGroup,
    CellState,
    Comparison,
    Family,
    Judgement,
    Summary,
)
from bench_framework.model.verdict import Verdict
from bench_framework.stats import welch
from bench_framework.stats.holm_family import log_half_width, minimum_detectable_effect
from bench_framework.stats.portable_math import expm1, log, log1p
from bench_framework.text import write

Commands = Mapping[str, tuple[HarnessSession, SessionCommand]]
SUPPORTED: Final = ("main", "nothing", "comparison", "memory")
"""The kinds of claims that figures without rounds support.

They include no recommendation, and each claim applies to one session.
"""

ONCE: Final = 1
"""The number of rounds of every comparison, and of interim analyses of a set."""
MOST_DETECTABLE: Final = 10.0


def claims_of_imported(plan: Plan, judgement: Judgement, imported: Imported) -> tuple[Claim, ...]:
    """Return the claims with their sentences, in the order of the report."""
    compared: dict[tuple[tuple[str, ...], str | None], Comparison] = {
        ((c.cell_id, c.ref_cell_id), c.metric): c for c in judgement.comparisons
    }
    written = [c for c in claim_writer.claims_of(plan, judgement, {}, ()) if c.kind in SUPPORTED]
    claims = [_in_session(c, compared.get((c.cells[:2], c.metric)), imported) for c in written]
    claims += _limits(plan, imported.commands)
    if len(plan.inputs) > 1:
        claims.append(Claim(plan.name, metric=WALL, fact=facts.SessionsApart()))
    return write.numbered(claims)


def _in_session(claim: Claim, compared: Comparison | None, imported: Imported) -> Claim:
    """Mark a claim as one about a single session, with the runs of both sides."""
    session = SessionFigures()
    file, commands = dict(claim.scope).get("input"), imported.commands
    if isinstance(claim.fact, facts.Nothing) and any(
        one.label == file and imported.baseline not in {c.label for c in one.commands}
        for one in imported.sessions
    ):
        reason = Reason(ReasonCode.BASELINE_NOT_IN_FILE, (imported.baseline, file or ""))
        fact = facts.Nothing(reasons=(("", reason),), others=claim.fact.others)
        claim = replace(claim, fact=fact)
    if compared is not None:
        series = commands[compared.cell_id][1].series_of(compared.metric)
        if compared.verdict is Verdict.SINGLE_RUN and series is not None:
            session = replace(session, value=series.mean)
        contrast = contrast_of(compared, commands) if compared.statistic == "welch" else None
        interval, inconclusive = compared.shown, compared.verdict is Verdict.INCONCLUSIVE
        # The runs that detect the estimate are not stated if it is too small to matter.
        if (
            inconclusive
            and contrast
            and interval
            and abs(contrast.estimate) > log1p(compared.thresholds.minimum_effect)
        ):
            needed = welch.runs_at_estimate(contrast, 1 - interval.level)
            session = replace(session, runs_at_estimate=needed)
    return replace(claim, session=session)


def contrast_of(c: Comparison, commands: Commands) -> welch.LogDifference | None:
    """Return the contrast of a comparison, or `None` without a variance above zero."""
    ours, theirs = (commands[i][1].series_of(c.metric) for i in (c.cell_id, c.ref_cell_id))
    return welch.compare(ours, theirs) if ours is not None and theirs is not None else None


def _limits(plan: Plan, commands: Commands) -> Iterator[Claim]:
    for item in plan.inputs:
        cells = tuple(cell.id for cell in plan.cells_of(item.id))
        if cells:
            session = commands[cells[0]][0]
            runs = sorted({c.runs for c in session.commands if c.runs is not None})
            yield Claim(
                session.label,
                scope=Names(plan).scope(item.id),
                cells=cells,
                session=SessionFigures(),
                fact=facts.SessionContents(
                    commands=len(cells),
                    runs=tuple(dict.fromkeys((*runs[:1], *runs[-1:]))),
                    raw=session.raw,
                    memory=session.memory,
                ),
            )


def judge_imported(plan: Plan, imported: Imported) -> Judgement:
    """Judge the cells of a plan by the figures of a set.

    Equal arguments give bitwise equal judgements.

    The plan is `plan_of` the set, perhaps with another baseline or fewer commands.
    """
    commands = imported.commands
    judges = [_SessionJudge(plan, commands, item.id) for item in plan.inputs]
    headline = [c for judge in judges for c in judge.headline]
    failed = bool(headline) and all(c.verdict is Verdict.FAILED for c in headline)
    family = max((len(judge.headline) for judge in judges), default=0)
    draft = Judgement(
        looks=Looks((ONCE,), ONCE, decidable=True, family=family, level=plan.judge.level),
        states=tuple(_state(cell, commands[cell.id][1]) for cell in plan.cells),
        summaries=tuple(s for cell in plan.cells for s in _summaries(cell, commands[cell.id][1])),
        comparisons=tuple(c for judge in judges for c in (*judge.headline, *judge.memory())),
        best=tuple(judge.best() for judge in judges),
        floors=(),
        scaling=(),
        status="failed" if failed else "exploratory",
    )
    return replace(draft, claims=claims_of_imported(plan, draft, imported))


class _SessionJudge:
    def __init__(self, plan: Plan, commands: Commands, input_id: str) -> None:
        self._policy, self._commands, self._input_id = plan.judge, commands, input_id
        self._cells = plan.cells_of(input_id)
        self._session = commands[self._cells[0].id][0] if self._cells else None
        self._baseline = base = plan.baseline_cell(input_id)
        # CPU time is compared only if it is known per run.
        timed = self._session.timed if self._session is not None else ()
        metrics = [metric for metric in plan.judge.metrics if metric in timed]
        others = [c for c in self._cells if base is not None and c.id != base.id]
        pairs = [(c, base, metric) for metric in metrics for c in others if base is not None]
        self.headline = self._family(pairs, "headline")

    def _series(self, cell: Cell, metric: Metric) -> Series | None:
        return self._commands[cell.id][1].series_of(metric)

    def _family(
        self, pairs: Sequence[tuple[Cell, Cell, Metric]], family: Family
    ) -> list[Comparison]:
        """Return one comparison per pair in order; refused ones count for the family's size."""
        drafts = [self._draft(*pair, family) for pair in pairs]
        contrasts = [contrast_of(c, self._commands) if _open(c) else None for c in drafts]
        cases = [(d, c) for d, c in zip(drafts, contrasts, strict=True) if c is not None]
        size, level = len(pairs), self._policy.level
        judged = iter(verdict.judge_by_t(cases, size=size, level=level))
        for n, (draft, contrast) in enumerate(zip(drafts, contrasts, strict=True)):
            if contrast is not None:
                drafts[n] = _with_mde(next(judged), contrast, level / size)
            elif _open(draft):
                drafts[n] = replace(draft, reason=Reason(ReasonCode.ZERO_SPREAD))
        return drafts

    def _draft(self, cell: Cell, base: Cell, metric: Metric, family: Family) -> Comparison:
        """Return a comparison that is not judged yet, or is refused with its reason."""
        sides = (self._series(cell, metric), self._series(base, metric))
        runs, runs_ref = ((side.n or 0) if side else 0 for side in sides)
        thresholds = self._policy.thresholds_of(metric)
        draft = Comparison.unjudged(cell.id, base.id, metric, family, thresholds)
        draft = replace(draft, rounds=ONCE, runs=runs, runs_ref=runs_ref)
        refusal = self._refusal(cell, base, metric)
        return replace(draft, verdict=refusal[0], reason=refusal[1]) if refusal else draft

    def _refusal(
        self, cell: Cell, base: Cell, metric: Metric
    ) -> tuple[Verdict, Reason | None] | None:
        """Return why a pair cannot be compared on a metric, or `None` if it can."""
        command, other = (self._commands[c.id][1] for c in (cell, base))
        if failed(command):
            return Verdict.FAILED, _failure(command)
        if failed(other):
            failure = Reason(ReasonCode.RUNS_FAILED, other.failed)
            return Verdict.NOT_COMPARABLE, Reason(ReasonCode.OF_BASELINE, failure)
        ours, theirs = command.series_of(metric), other.series_of(metric)
        if ours is None or theirs is None:
            return Verdict.INCONCLUSIVE, Reason(ReasonCode.NO_FIGURE)
        if ONCE in (ours.n, theirs.n):
            return Verdict.SINGLE_RUN, None
        if welch.log_mean(ours) is None or welch.log_mean(theirs) is None:
            return Verdict.INCONCLUSIVE, Reason(ReasonCode.NO_SPREAD)
        return None

    def best(self) -> BestGroup:
        """Return every command that is not worse than another one.

        All pairs of a session are one family. A pair that the headline also compares keeps the
        verdict of the headline, as in a measured record.
        """
        usable = [c for c in self._cells if self._refusal(c, c, WALL) is None]
        judged = self._family([(b, a, WALL) for a, b in itertools.combinations(usable, 2)], "best")
        complete = len(usable) == len(self._cells)
        return best_of(self._input_id, WALL, usable, judged, self.headline, complete=complete)

    def memory(self) -> list[Comparison]:
        """Return the comparisons of peak memory by medians, if the file has it per run."""
        baseline = self._baseline
        if baseline is None or self._session is None or self._session.memory != "per-run":
            return []
        known = {c.id: s for c in self._cells if (s := self._series(c, PEAK_RSS))}
        others = [c for c in self._cells if c.id in known and c is not baseline]
        comparisons = []
        for cell in others if baseline.id in known else ():
            draft = self._draft(cell, baseline, PEAK_RSS, "memory")
            if _open(draft):
                ours, theirs = known[cell.id].values, known[baseline.id].values
                pair = sampling.Pair(tuple(range(min(len(ours), len(theirs)))), ours, theirs)
                level, size = self._policy.level, len(others)
                draft = medians.compare_medians(draft, pair, level=level, size=size)
                if (reason := draft.reason) is not None:
                    reason = replace(reason, code=_OF_RUNS.get(reason.code, reason.code))
                draft = replace(draft, reason=reason, rounds=ONCE)
            comparisons.append(draft)
        return comparisons


def _failure(command: SessionCommand) -> Reason:
    return Reason(ReasonCode.OWN_RUNS_FAILED, command.failed)


_OF_RUNS: Final = {
    ReasonCode.TOO_FEW_ROUNDS: ReasonCode.TOO_FEW_RUNS,
    ReasonCode.TOO_FEW_FOR_COMPARISONS: ReasonCode.TOO_FEW_RUNS_FOR_COMPARISONS,
}
"""Commands of a session were measured in runs, not in rounds."""


def _open(draft: Comparison) -> bool:
    """Return whether a pair can be judged because it was not refused."""
    return draft.verdict is Verdict.INCONCLUSIVE and draft.reason is None


def failed(command: SessionCommand) -> bool:
    """Return whether more than 5 % of the runs failed, as for a cell of a measured record."""
    return command.failed > sampling.VOID_SHARE * (command.failed + (command.runs or 0))


def _with_mde(judged: Comparison, contrast: welch.LogDifference, strict: float) -> Comparison:
    """Add MDE and runs needed if inconclusive; `strict` is the level of Holm's first step."""
    if judged.verdict.settled or judged.unadjusted is None:
        return judged
    half, epsilon = log_half_width(judged.unadjusted), judged.thresholds.minimum_effect
    mde = minimum_detectable_effect(half, strict, epsilon)
    if mde > log(MOST_DETECTABLE):
        return replace(judged, reason=Reason(ReasonCode.UNDETECTABLE))
    needed = rounds_for_margin(contrast.n, mde, judged.thresholds.margin)
    return replace(judged, mde=expm1(mde), rounds_needed=needed)


def _state(cell: Cell, command: SessionCommand) -> CellState:
    broken = failed(command)
    state: Literal["failed", "measured"] = "failed" if broken else "measured"
    reason = _failure(command) if broken else None
    return CellState(cell.id, state, ONCE, command.failed, reason)


def _summaries(cell: Cell, command: SessionCommand) -> list[Summary]:
    """Return centre and spread of a command's metrics; published ones have the mean."""
    summaries = []
    for s in command.series:
        values = s.values or (s.mean,)
        runs, ends = (ONCE, s.n or 0, command.failed), (min(values), max(values))
        median = statistics.median(values)
        summaries.append(
            Summary(cell.id, s.metric, *runs, median, None, None, s.mean, s.sd, *ends, None)
        )
    return summaries
