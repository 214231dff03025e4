"""Judging figures that were measured in blocks, one command after the other: exploratory, whatever they say.

The types are those of a record's judgement and the verdicts those of METHOD 4; the test is Welch's on the log scale in
place of label swaps, as nothing was drawn at random.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from bench_framework.analysis import block_claims, medians
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
from bench_framework.model.judgement import BestGroup, Comparison, Judgement, Summary
from bench_framework.model.looks import Looks
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Command, Imported, Session
    from bench_framework.model.judgement import RecordStatus
    from bench_framework.model.policies import JudgePolicy, Metric

TIMED: Final[tuple[Metric, ...]] = (WALL, CPU)


def judge_imported(imported: Imported) -> Judgement:
    """Judge a set of sessions. Equal sets give equal judgements, to the last bit.

    Each session is a family of its own for Holm's procedure: its comparisons were made under one set of conditions, and
    nothing is pooled over sessions.
    """
    comparisons: list[Comparison] = []
    groups = []
    for session in imported.sessions:
        comparisons += _headline(imported, session)
        comparisons += _memory(imported, session)
        groups.append(_best(imported, session))
    headline = [c for c in comparisons if c.family == "headline"]
    size = max(1, len(headline))
    draft = Judgement(
        looks=Looks((BLOCK,), BLOCK, decidable=False, family=size, level=imported.judge.level),
        states=(),
        summaries=_summaries(imported),
        comparisons=tuple(comparisons),
        best=tuple(groups),
        floors=(),
        scaling=(),
        status=_status(headline),
    )
    return replace(draft, claims=block_claims.claims_of(imported, draft))


def _metrics(session: Session) -> tuple[Metric, ...]:
    """Metrics that a session can judge: CPU time only where it was exported per run."""
    return TIMED if session.format == "hyperfine-2" else TIMED[:1]


def _headline(imported: Imported, session: Session) -> list[Comparison]:
    """Every command against the baseline, in the order of the file; those that are refused count for the family."""
    base = session.command(imported.baseline)
    wanted = [
        (command, metric)
        for metric in _metrics(session)
        for command in session.commands
        if command.label != imported.baseline
    ]
    if base is None:
        missing = replace(session.commands[0], id="", label=imported.baseline, series=())
        return [
            _refused(session, command, missing, None, metric, imported.judge) for command, metric in wanted
        ]
    return _family(
        imported.judge, session, [(command, base, metric) for command, metric in wanted], "headline"
    )


def _family(
    policy: JudgePolicy,
    session: Session,
    wanted: Sequence[tuple[Command, Command, Metric]],
    family: Literal["headline", "best"],
) -> list[Comparison]:
    found: dict[tuple[str, str, Metric], Comparison] = {}
    cases = []
    for command, base, metric in wanted:
        key = (command.id, base.id, metric)
        contrast = pair_contrast(command, base, metric)
        if refusal(session, command, base, metric) is not None:
            found[key] = replace(_refused(session, command, base, base, metric, policy), family=family)
        elif contrast is None:
            found[key] = replace(draft_of(command, base, metric, family, policy), reason=ZERO_SPREAD)
        else:
            cases.append(Case(draft_of(command, base, metric, family, policy), contrast))
    for judged in judge_family(cases, len(wanted), policy):
        found[judged.cell_id, judged.ref_cell_id, judged.metric] = judged
    return [found[command.id, base.id, metric] for command, base, metric in wanted]


def _refused(
    session: Session, command: Command, named: Command, base: Command | None, metric: Metric, policy: JudgePolicy
) -> Comparison:  # fmt: skip
    why = refusal(session, command, base, metric)
    assert why is not None
    return replace(draft_of(command, named, metric, "headline", policy), verdict=why[0], reason=why[1])


def _best(imported: Imported, session: Session) -> BestGroup:
    """Every command that is not worse than another one: all pairs of a session, a family of their own (METHOD 4).

    A pair that the headline compares keeps the headline's verdict, as in a record (`looking.best_group`).
    """
    usable = [a for a in session.commands if refusal(session, a, a, WALL) is None]
    pairs = [(b, a, WALL) for a, b in itertools.combinations(usable, 2)]
    own = [c for c in _headline(imported, session) if c.metric == WALL]
    told = {(c.cell_id, c.ref_cell_id): c for h in own for c in (mirrored(h), h)}
    comparisons = [
        replace(told.get((c.cell_id, c.ref_cell_id), c), family="best")
        for c in _family(imported.judge, session, pairs, "best")
    ]
    beaten = {c.cell_id for c in comparisons if c.verdict in _WORSE}
    beaten |= {c.ref_cell_id for c in comparisons if c.verdict in _BETTER}
    members = tuple(a.id for a in usable if a.id not in beaten) if comparisons else ()
    return BestGroup(session.id, WALL, members, len(usable) == len(session.commands), tuple(comparisons))


_BETTER: Final = frozenset({Verdict.BETTER, Verdict.BETTER_SIZE_OPEN})
_WORSE: Final = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_OPEN})


def _memory(imported: Imported, session: Session) -> list[Comparison]:
    """Peak memory by medians, where a file has it per run; one figure is a value, and a running maximum is nothing."""
    base, policy = session.command(imported.baseline), imported.judge
    theirs = base.of(PEAK_RSS) if base is not None else None
    if base is None or theirs is None or session.memory != "per-run":
        return []
    others = [a for a in session.commands if a is not base and a.of(PEAK_RSS) is not None]
    found = []
    for command in others:
        ours = command.of(PEAK_RSS)
        assert ours is not None
        if (why := refusal(session, command, base, PEAK_RSS)) is not None:
            draft = draft_of(command, base, PEAK_RSS, "memory", policy)
            found.append(replace(draft, verdict=why[0], reason=why[1]))
            continue
        shared = min(len(ours.values), len(theirs.values))
        pair = sampling.Pair(tuple(range(shared)), ours.values, theirs.values)
        judged = medians.compare_medians(
            command.id, base.id, PEAK_RSS, pair, level=policy.level, size=len(others),
            margin=policy.margin_of(PEAK_RSS), epsilon=policy.epsilon_of(PEAK_RSS),
        )  # fmt: skip
        reason = judged.reason.replace("rounds", "runs")
        runs, runs_ref = len(ours.values), len(theirs.values)
        found.append(replace(judged, reason=reason, rounds=BLOCK, runs=runs, runs_ref=runs_ref))
    return found


def _summaries(imported: Imported) -> tuple[Summary, ...]:
    """Centres and spreads as the files have them; the median only where single runs are known."""
    found = []
    for session in imported.sessions:
        for command in session.commands:
            for s in command.series:
                values = s.values or (s.mean,)
                found.append(
                    Summary(
                        command.id, s.metric, BLOCK, s.n or 0, command.failed, statistics.median(values), None, None,
                        s.mean, s.sd, min(values), max(values), None,
                    )
                )  # fmt: skip
    return tuple(found)


def _status(headline: Sequence[Comparison]) -> RecordStatus:
    """Exploratory (R13), unless nothing ran at all."""
    verdicts = {c.verdict for c in headline}
    return "failed" if verdicts and verdicts <= {Verdict.FAILED} else "exploratory"
