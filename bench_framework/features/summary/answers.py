"""The answer to the question of a scenario: one function per kind of question.

Each function returns the sentences of the first paragraph, or nothing if the record does not have
the results that this kind of question asks for. `ANSWERS` is ordered from special to general.
"""

from collections.abc import Callable
from math import ceil, floor
from typing import Final

from bench_framework.claims import metric_nouns
from bench_framework.claims.phrases import noun
from bench_framework.compare.derived_values import limit_shares
from bench_framework.features.summary.evidence import Evidence, leads, listed, statement
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Comparison, Derived
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Input, Role
from bench_framework.model.verdict import Verdict
from bench_framework.text.numbers import (
    TIMES_FROM,
    format_percent,
    per_doubling,
    significant,
    size_unit,
)
from bench_framework.units import THIN_SPACE, counted

MOST_EFFECTS: Final = 6
UNRESOLVED: Final = "not resolved"
"""Word of an exponent whose interval contains a limit between linear and not linear."""


def _result(at: Evidence, c: Comparison, text: str) -> Claim:
    """Return the sentence of an answer whose figures are those of a comparison."""
    return statement("answer", at.label(c.cell_id), text, at.comparison(c))


def before_and_after(at: Evidence, _: Input) -> list[Claim]:
    """Return what changed between two revisions."""
    compared, worse = at.main_comparisons(), at.regressions()
    if at.plan.revisions is None or not compared:
        return []
    base, head = at.plan.revisions.names
    total = counted(len(compared), "comparison")
    if len(compared) == 1 and (worse or compared[0].verdict.better):
        return [_result(at, compared[0], at.sentence(compared[0]))]
    if worse:
        first = f"{len(worse)} of {total} became slower from {base} to {head}"
        return [_result(at, worse[0], f"{first}. The largest change: {at.sentence(worse[0])}")]
    better = sum(c.verdict.better for c in compared)
    equal = sum(c.verdict is Verdict.EQUIVALENT for c in compared)
    open_ = len(compared) - better - equal
    within = f"equivalent (within ±{format_percent(compared[0].thresholds.margin)})"
    text = (
        f"Nothing became slower from {base} to {head}: {equal} of {total} {_are(equal)} {within}."
    )
    if open_:
        text = (
            f"No change for the worse is significant from {base} to {head}, but {open_} of {total} "
            f"{_are(open_)} inconclusive and may hide one."
        )
    text += f" {better} became faster." if better else ""
    return [statement("answer", "", text)]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def against_a_limit(at: Evidence, item: Input) -> list[Claim]:
    """Return which variant comes closest to the limit that the scenario derives."""
    limits = limit_shares(at.judgement.derived, item.id)
    if not limits:
        return []
    shares = {share.rate.cell_ids[0]: share for share in limits[0]}
    group, leader = at.groups.get(item.id), next(iter(shares))
    members = at.leaders(group) if group is not None else []
    if leader in members:
        # Of tied variants, the answer names the first row of the table.
        leader = next(cell for cell in members if cell in shares)
    first, subject = shares.pop(leader), at.label(leader)
    values = [first.rate.value or 0.0, first.limit.value or 0.0]
    unit, scale = size_unit(min(values), at.plan.unit_family)
    rate, limit = (significant(value * scale, 3) for value in values)
    ties = [at.label(c) for c in members if c != leader] if leader in members else []
    head = leads(subject, listed([subject, *ties]), "closest to the limit")
    speed = f"{rate} of {limit}{THIN_SPACE}{unit}/s"
    answer = [statement("answer", subject, f"{head} reaches {_share(first.share)} of it, {speed}")]
    if shares:
        rest = listed(f"{at.label(cell)} {_share(s.share)}" for cell, s in shares.items())
        text = f"Of the same limit, they reach: {rest}"
        answer.append(statement("answer", "", text, lead="Other variants"))
    return answer


def _share(row: Derived) -> str:
    assert row.value is not None
    text = format_percent(row.value, decimals=0)
    if row.lo is None or row.hi is None:
        return text
    return f"{text} [{floor(row.lo * 100)}, {ceil(row.hi * 100)}]"


def contribution(at: Evidence, item: Input) -> list[Claim]:
    """Return the total effect of the steps of a ladder, and the effect of each step."""
    for table in at.judgement.structure.contributions:
        if table.input_id == item.id and table.design == "ladder" and table.end_cell_id:
            break
    else:
        return []
    total = at.pair(table.end_cell_id, table.start_cell_id)
    if total is None:
        return []
    count, effect = len(table.steps), "this effect"
    if total.verdict is Verdict.EQUIVALENT:
        effect = "no effect beyond the margin"
    text = f"Together, the {count} steps have {effect}: {at.sentence(total)}"
    if total.verdict.decided:
        text = f"With all {count} steps, {at.label(total.cell_id)} {at.predicate(total)}"
    names = {e.change[0]: e.name for e in at.plan.experiments if e.change}
    steps = [
        (listed(names.get((c.axis, c.after), c.after) for c in step.changes), pair)
        for step in table.steps
        if (pair := at.pair(step.cell_id or "", step.ref_cell_id or "")) is not None
    ]
    effects = _effects(at, steps, "the step before")
    return [_result(at, total, text), statement("answer", "", effects, lead="Each step")]


def one_at_a_time(at: Evidence, item: Input) -> list[Claim]:
    """Return which single changes to the baseline have an effect."""
    baseline, group = at.plan.baseline_cell(item.id), at.groups.get(item.id)
    if at.plan.design != "one-at-a-time" or baseline is None or group is None:
        return []
    compared = (c.id for c in at.compared(item.id) if c.id != baseline.id)
    pairs = {c: pair for c in compared if (pair := at.pair(c, baseline.id)) is not None}
    if not pairs:
        return []
    changes, base = counted(len(pairs), "single change"), at.label(baseline.id)
    better = [c for c, pair in pairs.items() if pair.verdict.better]
    if not better:
        text = f"None of the {changes} makes {base} significantly faster"
        if len(pairs) == 1:
            text = f"The single change does not make {base} significantly faster"
        answer = statement("answer", "", text)
    else:
        first, *others = [c for c in at.leaders(group) if c in better] or better[:1]
        label, pair = at.label(first), pairs.pop(first)
        head = leads(label, listed(map(at.label, (first, *others))), "best")
        text = f"Of {changes} to {base}, {head} {at.predicate(pair)}"
        answer = _result(at, pair, text if pairs else f"{label} {at.predicate(pair)}")
    rest = _effects(at, [(at.label(c), pair) for c, pair in pairs.items()], base)
    lead = "Other changes" if better else "Each change"
    return [answer, statement("answer", "", rest, lead=lead)]


def _effects(at: Evidence, pairs: list[tuple[str, Comparison]], reference: str) -> str:
    """Return gains and losses, the largest first, and the changes without a significant effect."""
    frame, what = metric_nouns.frame(at.metric), noun(at.metric)
    decided = [(n, c, c.shown.ratio) for n, c in pairs if c.shown is not None and c.verdict.decided]
    decided.sort(key=lambda effect: -abs(effect[2] - 1))
    parts: list[str] = []
    for gain in (True, False):
        group = [effect for effect in decided if effect[1].verdict.better is gain]
        head = f"{frame.less if gain != at.higher else frame.more} {what}"
        if at.metric == WALL and any(max(r, 1 / r) >= TIMES_FROM for _, _, r in group):
            head = "faster" if gain else "slower"
        times_from = 1.0 if head in {"faster", "slower"} else TIMES_FROM
        entries = [f"{n} {at.effect(c, times_from).replace(f' {head}', '')}" for n, c, _ in group]
        if entries:
            than = "" if parts else f" than {reference}"
            parts.append(f"{head[0].upper()}{head[1:]}{than}: {listed(entries, MOST_EFFECTS)}")
    same = [(n, c) for n, c in pairs if c.verdict is Verdict.EQUIVALENT]
    if same:
        within = format_percent(same[0][1].thresholds.margin)
        parts.append(f"Equivalent (within ±{within}): {listed(n for n, _ in same)}")
    none = [n for n, c in pairs if not c.verdict.decided and c.verdict is not Verdict.EQUIVALENT]
    if none:
        parts.append(f"No significant effect: {listed(none)}")
    return ". ".join(parts)


def scaling(at: Evidence, _: Input) -> list[Claim]:
    """Return how time grows with the size of the input, if nothing else varies."""
    if any(cell.role is Role.CANDIDATE for cell in at.plan.cells):
        return []
    return [
        statement("answer", at.plan.variant(s.variant_id).label, growth(at, s.variant_id))
        for s in at.judgement.scaling[:1]
    ]


def growth(at: Evidence, *variant_ids: str) -> str:
    """Return how the time of variants grows between neighbouring sizes, if any of it is resolved."""
    parts: list[str] = []
    for variant_id in variant_ids:
        known = [
            s for s in at.judgement.scaling if s.variant_id == variant_id and s.metric == at.metric
        ]
        steps: list[str] = []
        for s in known:
            start, end = (at.plan.input(i).label for i in (s.from_input_id, s.to_input_id))
            factor = per_doubling(s.exponent, s.lo, s.hi)
            steps.append(f"{factor} from {start} to {end}")
        if any(s.word != UNRESOLVED for s in known):
            parts.append(f"{at.plan.variant(variant_id).label} {listed(steps)}")
    head = f"When the input doubles, {noun(at.metric)} grows by this factor (2 is linear)"
    return f"{head}: {'; '.join(parts)}" if parts else ""


ANSWERS: Final[tuple[Callable[[Evidence, Input], list[Claim]], ...]] = (
    before_and_after,
    contribution,
    one_at_a_time,
    against_a_limit,
    scaling,
)
"""The kinds of questions in the order in which they are tried. The last resort is the best of many
variants, which is the claim of kind ``main`` of the leading input."""
