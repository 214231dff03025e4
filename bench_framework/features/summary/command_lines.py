"""One sentence per command of ``benchctl ab``: time, output and memory against the first one."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from bench_framework.claims import phrases
from bench_framework.claims.factory import ComparisonClaims, amount
from bench_framework.compare.cell_state import baseline_failure
from bench_framework.model.judgement import Comparison, Judgement
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan import Plan
from bench_framework.model.run import Event
from bench_framework.model.verdict import Verdict
from bench_framework.units import THIN_SPACE

_TIMES_FROM: Final = 1.1
"""Smallest ratio that is stated as ``1.1× faster``, as hyperfine does."""
_DECIMALS: Final = 2
"""Decimals of such a ratio, as in the table of results above the sentence."""
_SUBJECT, _REFERENCE = "\ue001", "\ue002"
"""Stand-ins for labels, because a command may contain brackets."""
_INTERVAL: Final = re.compile(
    r"(?:\((?P<before>[^()]*)\) )?\[(?P<lo>[^\]]*), (?P<hi>[^\]]*)\](?: \((?P<after>[^()]*)\))?"
)


def command_lines(plan: Plan, judgement: Judgement, events: Iterable[Event]) -> tuple[str, ...]:
    """Return ``"`b` is 1.3× faster than `a` (95 % CI 1.2 to 1.4), same output, 12 % more memory"``.

    The plan has one baseline.
    """
    if failure := baseline_failure(plan, judgement.states, plan.inputs[0].id):
        return (failure,)
    at = ComparisonClaims(plan, judgement)
    differing = {event.cell_id for event in events if event.code == "BX334"}
    lines = []
    for c in judgement.comparisons:
        if c.family != "headline" or c.metric != WALL:
            continue
        others = {o.metric: o for o in judgement.comparisons if o.cell_id == c.cell_id}
        facts = [_sentence(at, c)]
        if c.verdict.settled:
            if plan.answer.check:
                facts.append("output accepted by the check")
            elif plan.answer.compare == "none":
                facts.append("output not compared")
            else:
                differs = not differing.isdisjoint((c.cell_id, c.ref_cell_id))
                facts.append("different output" if differs else "same output")
            cpu, memory = others.get(CPU), others.get(PEAK_RSS)
            if cpu is not None and cpu.verdict is Verdict.WORSE and not c.verdict.worse:
                facts.append(amount(cpu))
            if memory is not None and memory.verdict is Verdict.EQUIVALENT:
                facts.append("same memory")
            elif memory is not None and memory.verdict in (Verdict.BETTER, Verdict.WORSE):
                facts.append(amount(memory))
        lines.append(", ".join(facts))
    return tuple(lines)


def _sentence(at: ComparisonClaims, c: Comparison) -> str:
    claim = replace(at.comparison(c), subject=_SUBJECT, reference=_REFERENCE)
    claim = replace(claim, values={k: v for k, v in claim.values.items() if k != "cost"})
    decided = c.verdict.decided
    words = (
        phrases.predicate(claim, _TIMES_FROM, _DECIMALS) if decided else phrases.comparison(claim)
    )
    text = f"{_SUBJECT} {words}" if decided else words
    unit = "" if "×" in text else f"{THIN_SPACE}%"

    def spelled(match: re.Match[str]) -> str:
        lo, hi = (match[end].removesuffix(f"{THIN_SPACE}%") for end in ("lo", "hi"))
        interval = f"95{THIN_SPACE}% CI {lo} to {hi}{unit}"
        return f"({'; '.join(filter(None, (match['before'], interval, match['after'])))})"

    text = _INTERVAL.sub(spelled, text)
    text = text.replace(_SUBJECT, f"`{at.label(c.cell_id)}`")
    return text.replace(_REFERENCE, f"`{at.label(c.ref_cell_id)}`")
