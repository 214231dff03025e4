"""One pair measured in blocks: what may be compared, Welch's contrast, and its verdict (METHOD 4)."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.analysis import verdict, welch
from bench_framework.analysis.family import Adjusted, holm
from bench_framework.analysis.samples import VOID_SHARE
from bench_framework.model.judgement import Comparison
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.rounding import decimal, rounded, thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Command, Session
    from bench_framework.model.policies import JudgePolicy, Metric

BLOCK: Final = 1
"""Rounds of a comparison in blocks: each command has one."""
SINGLE_LOOK: Final = 1
NO_SPREAD: Final = "its file gives no number of runs or no spread: values without an interval"
ZERO_SPREAD: Final = "every spread is given as zero: no interval follows from rounded figures"
MOST_DETECTABLE: Final = 10.0
HOPELESS: Final = "runs so few and so different would not have shown a factor of ten"
DETECTION_POWER_AT_ESTIMATE: Final = 0.80


@dataclass(frozen=True, slots=True)
class Case:
    """A pair under judgement: the contrast of its centres, and whose it is."""

    draft: Comparison
    contrast: welch.Contrast


def refusal(
    session: Session, command: Command, base: Command | None, metric: Metric
) -> tuple[Verdict, str] | None:
    """Why an command cannot be compared on a metric; `None` if it can."""
    if failed(command):
        return Verdict.FAILED, f"{command.failed} of its runs did not end with exit code 0"
    if base is None:
        return Verdict.NOT_COMPARABLE, f"the baseline is not in {session.label}"
    if failed(base):
        return Verdict.NOT_COMPARABLE, f"the baseline: {base.failed} runs did not end with exit code 0"
    ours, theirs = command.of(metric), base.of(metric)
    if ours is None or theirs is None:
        return Verdict.UNDECIDED, "one side has no figure above zero"
    if BLOCK in (ours.n, theirs.n):
        return Verdict.SINGLE_RUN, ""
    if welch.log_mean(ours) is None or welch.log_mean(theirs) is None:
        return Verdict.UNDECIDED, NO_SPREAD
    return None


def failed(command: Command) -> bool:
    """Whether more than 5 % of the runs failed, as for a cell of a record (METHOD 1)."""
    return command.failed > VOID_SHARE * (command.failed + (command.runs or 0))


def judge_family(cases: Sequence[Case], size: int, policy: JudgePolicy) -> list[Comparison]:
    """Verdicts of a family in the order of its cases; `size` counts the planned ones."""
    adjusted = holm([case.contrast.p for case in cases], size=size, level=policy.level)
    rules = verdict.Rules(looks=SINGLE_LOOK, size=size, level=policy.level, seed=0)
    return [_judge(case, found, rules) for case, found in zip(cases, adjusted, strict=True)]


def _judge(case: Case, adjusted: Adjusted, rules: verdict.Rules) -> Comparison:
    contrast, margin, epsilon = case.contrast, case.draft.margin, case.draft.epsilon
    shown = interval(contrast, 1 - rules.level / adjusted.divisor)
    draft = replace(
        case.draft, verdict=Verdict.UNDECIDED, shown=shown, statistic="welch",
        typical=interval(contrast, verdict.PLAIN_LEVEL), p=contrast.p, p_adjusted=adjusted.p,
    )  # fmt: skip
    if adjusted.rejected and abs(contrast.estimate) > math.log1p(epsilon):
        found = verdict.by_interval(shown, margin)
        if found.decided:
            return replace(draft, verdict=found)
    equal = interval(contrast, verdict.equivalence_level(SINGLE_LOOK))
    if inside(equal, margin):
        return replace(draft, verdict=Verdict.EQUIVALENT, shown=equal)
    half = (math.log(draft.typical.hi) - math.log(draft.typical.lo)) / 2 if draft.typical else 0.0
    mde = verdict.detectable(half, rules, epsilon)
    if mde > math.log(MOST_DETECTABLE):
        return replace(draft, reason=HOPELESS)
    runs = min(draft.runs, draft.runs_ref)
    needed = math.ceil(runs * (mde / math.log1p(margin)) ** 2)
    reason = "a difference was found, but it is smaller than the smallest effect worth a word"
    return replace(
        draft, mde=math.expm1(mde), rounds_needed=needed, reason=reason if adjusted.rejected else ""
    )


def interval(contrast: welch.Contrast, level: float) -> Interval:
    """The contrast as a ratio with its interval."""
    lo, hi = contrast.bounds(level)
    return Interval(math.exp(contrast.estimate), math.exp(max(lo, -700.0)), math.exp(min(hi, 700.0)), level)


def inside(shown: Interval, margin: float) -> bool:
    """Whether an interval, as it is printed, lies within the margin."""
    low, _, high = thresholds(margin)
    made = rounded(shown.ratio, shown.lo, shown.hi, margin=margin)
    return made.lo > decimal(low) and made.hi < decimal(high)


def runs_at_estimate(contrast: welch.Contrast, runs: int, level: float) -> int | None:
    """Runs a side that would find the estimate itself with 80 % power at a level, if it were the truth.

    n · ((z₁₋a⁄₂ + z.₈₀) · SE ÷ estimate)²; `None` for an estimate of nothing.
    """
    normal = statistics.NormalDist()
    if contrast.estimate == 0:
        return None
    z = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(DETECTION_POWER_AT_ESTIMATE)
    return math.ceil(runs * (z * contrast.error / contrast.estimate) ** 2)


def pair_contrast(command: Command, base: Command, metric: Metric) -> welch.Contrast | None:
    """Candidate against baseline on a metric; `None` where neither has a spread above zero."""
    ours, theirs = command.of(metric), base.of(metric)
    candidate, reference = (welch.log_mean(s) if s is not None else None for s in (ours, theirs))
    if candidate is None or reference is None:
        return None
    return welch.contrast(candidate, reference)


def draft_of(
    command: Command, base: Command, metric: Metric, family: Literal["headline", "best", "memory"], policy: JudgePolicy
) -> Comparison:  # fmt: skip
    """A comparison before anything is judged, with the runs of both sides."""
    ours, theirs = command.of(metric), base.of(metric)
    return Comparison(
        command.id, base.id, metric, family, Verdict.UNDECIDED,
        rounds=BLOCK, runs=(ours.n or 0) if ours else 0, runs_ref=(theirs.n or 0) if theirs else 0,
        margin=policy.margin_of(metric), epsilon=policy.epsilon_of(metric),
    )  # fmt: skip
