"""Judging figures that were measured in blocks, one command after the other: exploratory, whatever they say.

The types are those of a record's judgement and the verdicts those of METHOD 4; the test is Welch's on the log scale in
place of label swaps, as nothing was drawn at random.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.analysis import block_claims, medians, sitting_bridge
from bench_framework.analysis import samples as sampling
from bench_framework.analysis.block_pairs import (
    BLOCK,
    ZERO_SPREAD,
    Case,
    draft_of,
    judge_family,
    pair_contrast,
    refusal,
)
from bench_framework.analysis.mirror import mirrored
from bench_framework.model.judgement import BestGroup, Comparison, Judgement, Summary, Verdict
from bench_framework.model.looks import Looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Arm, Imported, Sitting
    from bench_framework.model.judgement import RecordStatus
    from bench_framework.model.plan import JudgePolicy, Metric

TIMED: Final[tuple[Metric, ...]] = ("wall", "cpu")
MEMORY: Final = "peak_rss"


def judge_imported(imported: Imported) -> Judgement:
    """Judge a set of sittings. Equal sets give equal judgements, to the last bit.

    Each sitting is a family of its own for Holm's procedure: its comparisons were made under one set of conditions, and
    nothing is pooled over sittings.
    """
    comparisons: list[Comparison] = []
    groups = []
    for sitting in imported.sittings:
        comparisons += _headline(imported, sitting)
        comparisons += _memory(imported, sitting)
        groups.append(_best(imported, sitting))
    bridged = sitting_bridge.bridges(imported)
    headline = [c for c in comparisons if c.family == "headline"]
    size = max(1, len(headline))
    draft = Judgement(
        looks=Looks((BLOCK,), BLOCK, decidable=False, family=size, level=imported.judge.level),
        states=(),
        summaries=_summaries(imported),
        comparisons=(*comparisons, *bridged),
        best=tuple(groups),
        floors=(),
        scaling=(),
        status=_status(headline),
    )
    return replace(draft, claims=block_claims.claims_of(imported, draft))


def _metrics(sitting: Sitting) -> tuple[Metric, ...]:
    """Metrics that a sitting can judge: CPU time only where it was exported per run."""
    return TIMED if sitting.format == "hyperfine-2" else TIMED[:1]


def _headline(imported: Imported, sitting: Sitting) -> list[Comparison]:
    """Every arm against the baseline, in the order of the file; those that are refused count for the family."""
    base = sitting.arm(imported.baseline)
    wanted = [
        (arm, metric) for metric in _metrics(sitting) for arm in sitting.arms if arm.label != imported.baseline
    ]  # fmt: skip
    if base is None:
        missing = replace(sitting.arms[0], id="", label=imported.baseline, series=())
        return [_refused(sitting, arm, missing, None, metric, imported.judge) for arm, metric in wanted]
    return _family(imported.judge, sitting, [(arm, base, metric) for arm, metric in wanted], "headline")


def _family(
    policy: JudgePolicy,
    sitting: Sitting,
    wanted: Sequence[tuple[Arm, Arm, Metric]],
    family: Literal["headline", "best"],
) -> list[Comparison]:
    found: dict[tuple[str, str, Metric], Comparison] = {}
    cases = []
    for arm, base, metric in wanted:
        key = (arm.id, base.id, metric)
        contrast = pair_contrast(arm, base, metric)
        if refusal(sitting, arm, base, metric) is not None:
            found[key] = replace(_refused(sitting, arm, base, base, metric, policy), family=family)
        elif contrast is None:
            found[key] = replace(draft_of(arm, base, metric, family, policy), reason=ZERO_SPREAD)
        else:
            cases.append(Case(draft_of(arm, base, metric, family, policy), contrast))
    for judged in judge_family(cases, len(wanted), policy):
        found[judged.cell_id, judged.ref_cell_id, judged.metric] = judged
    return [found[arm.id, base.id, metric] for arm, base, metric in wanted]


def _refused(
    sitting: Sitting, arm: Arm, named: Arm, base: Arm | None, metric: Metric, policy: JudgePolicy
) -> Comparison:  # fmt: skip
    why = refusal(sitting, arm, base, metric)
    assert why is not None
    return replace(draft_of(arm, named, metric, "headline", policy), verdict=why[0], reason=why[1])


def _best(imported: Imported, sitting: Sitting) -> BestGroup:
    """Every arm that is not worse than another one: all pairs of a sitting, a family of their own (METHOD 4).

    A pair that the headline compares keeps the headline's verdict, as in a record (`looking.best_group`).
    """
    usable = [a for a in sitting.arms if refusal(sitting, a, a, "wall") is None]
    pairs = [(b, a, "wall") for a, b in itertools.combinations(usable, 2)]
    own = [c for c in _headline(imported, sitting) if c.metric == "wall"]
    told = {(c.cell_id, c.ref_cell_id): c for h in own for c in (mirrored(h), h)}
    comparisons = [
        replace(told.get((c.cell_id, c.ref_cell_id), c), family="best")
        for c in _family(imported.judge, sitting, pairs, "best")
    ]
    beaten = {c.cell_id for c in comparisons if c.verdict in _WORSE}
    beaten |= {c.ref_cell_id for c in comparisons if c.verdict in _BETTER}
    members = tuple(a.id for a in usable if a.id not in beaten) if comparisons else ()
    return BestGroup(sitting.id, "wall", members, len(usable) == len(sitting.arms), tuple(comparisons))


_BETTER: Final = frozenset({Verdict.BETTER, Verdict.BETTER_SIZE_OPEN})
_WORSE: Final = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_OPEN})


def _memory(imported: Imported, sitting: Sitting) -> list[Comparison]:
    """Peak memory by medians, where a file has it per run; one figure is a value, and a running maximum is nothing."""
    base, policy = sitting.arm(imported.baseline), imported.judge
    theirs = base.of(MEMORY) if base is not None else None
    if base is None or theirs is None or sitting.memory != "per-run":
        return []
    others = [a for a in sitting.arms if a is not base and a.of(MEMORY) is not None]
    found = []
    for arm in others:
        ours = arm.of(MEMORY)
        assert ours is not None
        if (why := refusal(sitting, arm, base, MEMORY)) is not None:
            draft = draft_of(arm, base, MEMORY, "memory", policy)
            found.append(replace(draft, verdict=why[0], reason=why[1]))
            continue
        shared = min(len(ours.values), len(theirs.values))
        pair = sampling.Pair(tuple(range(shared)), ours.values, theirs.values)
        judged = medians.compare_medians(
            arm.id, base.id, MEMORY, pair, level=policy.level, size=len(others),
            margin=policy.margin_of(MEMORY), epsilon=policy.epsilon_of(MEMORY),
        )  # fmt: skip
        reason = judged.reason.replace("rounds", "runs")
        runs, runs_ref = len(ours.values), len(theirs.values)
        found.append(replace(judged, reason=reason, rounds=BLOCK, runs=runs, runs_ref=runs_ref))
    return found


def _summaries(imported: Imported) -> tuple[Summary, ...]:
    """Centres and spreads as the files have them; the median only where single runs are known."""
    found = []
    for sitting in imported.sittings:
        for arm in sitting.arms:
            for s in arm.series:
                values = s.values or (s.mean,)
                found.append(
                    Summary(
                        arm.id, s.metric, BLOCK, s.n or 0, arm.failed, statistics.median(values), None, None,
                        s.mean, s.sd, min(values), max(values), None,
                    )
                )  # fmt: skip
    return tuple(found)


def _status(headline: Sequence[Comparison]) -> RecordStatus:
    """Exploratory (R13), unless nothing ran at all."""
    verdicts = {c.verdict for c in headline}
    return "failed" if verdicts and verdicts <= {Verdict.FAILED} else "exploratory"
