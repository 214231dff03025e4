"""The answer to the question of a scenario: one function per kind of question.

Each function returns the sentences of the first paragraph, or nothing if the record does not have
the results that this kind of question asks for. `ANSWERS` is ordered from special to general.
"""

from collections.abc import Callable
from math import ceil, floor
from typing import Final

from bench_framework.claims import metric_nouns, value_phrases
from bench_framework.claims.phrases import TIMES_FROM, noun
from bench_framework.compare.derived_values import limit_shares
from bench_framework.features.summary.evidence import Evidence, leads, listed, statement
from bench_framework.model.judgement import Claim, Comparison, Derived, Scaling
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Input, Role
from bench_framework.model.verdict import Verdict
from bench_framework.units import THIN_SPACE, counted, format_percent, size_unit

MOST_EFFECTS: Final = 6
UNRESOLVED: Final = "not resolved"
"""Word of an exponent whose interval contains a limit between linear and not linear."""


def before_and_after(at: Evidence, _: Input) -> list[Claim]:
    """Return what changed between two revisions."""
    if at.plan.revisions is None:
        return []
    compared, worse = at.main_comparisons(), at.regressions()
    if not compared:
        return []
    base, head = at.plan.revisions.names
    total = counted(len(compared), "comparison")
    if worse:
        first = f"{len(worse)} of {total} became slower from {base} to {head}"
        largest = at.sentence(worse[0])
        text = f"{first}. The largest change: {largest}" if len(compared) > 1 else largest
        return [statement("answer", at.label(worse[0].cell_id), text, at.comparison(worse[0]))]
    if len(compared) == 1 and compared[0].verdict.better:
        (only,) = compared
        label = at.label(only.cell_id)
        return [statement("answer", label, at.sentence(only), at.comparison(only))]
    better = sum(c.verdict.better for c in compared)
    equal = sum(c.verdict is Verdict.EQUIVALENT for c in compared)
    open_ = len(compared) - better - equal
    faster = f" {better} became faster." if better else ""
    are = "is" if equal == 1 else "are"
    within = f"{equal} of {total} {are} equivalent (within ±{format_percent(compared[0].margin)})"
    if not open_:
        text = f"Nothing became slower from {base} to {head}: {within}.{faster}"
    else:
        text = (
            f"No change for the worse is significant from {base} to {head}, but {open_} of {total} "
            f"{'is' if open_ == 1 else 'are'} inconclusive and may hide one.{faster}"
        )
    return [statement("answer", "", text)]


def against_a_limit(at: Evidence, item: Input) -> list[Claim]:
    """Return which variant comes closest to the limit that the scenario derives."""
    limits = limit_shares(at.judgement.derived, item.id)
    if not limits:
        return []
    shares = limits[0]
    group = at.groups.get(item.id)
    members = at.leaders(group) if group is not None else []
    if shares[0].rate.cell_ids[0] in members:
        # Of tied variants, the answer names the first row of the table.
        by_cell = {s.rate.cell_ids[0]: s for s in shares}
        top = next(by_cell[cell] for cell in members if cell in by_cell)
        shares = [top, *(s for s in shares if s is not top)]
    first, *others = shares
    rate, limit = first.rate, first.limit
    leader = rate.cell_ids[0]
    subject = at.label(leader)
    unit, scale = size_unit(min(r.value or 0.0 for r in (rate, limit)), at.plan.unit_family)
    rates = [value_phrases.up_to_digits((r.value or 0.0) * scale, 3) for r in (rate, limit)]
    speed = f"{rates[0]} of {rates[1]}{THIN_SPACE}{unit}/s"
    ties = [at.label(c) for c in members if c != leader] if leader in members else []
    head = leads(subject, listed([subject, *ties]), "closest to the limit")
    answer = [statement("answer", subject, f"{head} reaches {_share(first.share)} of it, {speed}")]
    if others:
        rest = (f"{at.label(s.rate.cell_ids[0])} {_share(s.share)}" for s in others)
        text = f"Of the same limit, they reach: {listed(rest)}"
        answer.append(statement("answer", "", text, lead="Other variants"))
    return answer


def _share(row: Derived) -> str:
    assert row.value is not None
    bounds = (
        f" [{floor(row.lo * 100)}, {ceil(row.hi * 100)}]"
        if row.lo is not None and row.hi is not None
        else ""
    )
    return f"{row.value * 100:.0f}{THIN_SPACE}%{bounds}"


def contribution(at: Evidence, item: Input) -> list[Claim]:
    """Return the total effect of the steps of a ladder, and the effect of each step."""
    table = next(
        (
            t
            for t in at.judgement.structure.contributions
            if t.input_id == item.id and t.design == "ladder" and t.end_cell_id is not None
        ),
        None,
    )
    if table is None or table.end_cell_id is None:
        return []
    total = at.pair(table.end_cell_id, table.start_cell_id)
    if total is None:
        return []
    count = len(table.steps)
    end = at.label(table.end_cell_id)
    text = f"Together, the {count} steps have this effect: {at.sentence(total)}"
    if total.verdict is Verdict.EQUIVALENT:
        text = f"Together, the {count} steps have no effect beyond the margin: {at.sentence(total)}"
    if total.verdict.decided:
        text = f"With all {count} steps, {end} {at.predicate(total)}"
    names = {e.change[0]: e.name for e in at.plan.experiments if e.change}
    steps = [
        (listed(names.get((c.axis, c.after), c.after) for c in step.changes), pair)
        for step in table.steps
        if (pair := at.pair(step.cell_id or "", step.ref_cell_id or "")) is not None
    ]
    effects = _effects(at, steps, "the step before")
    parts = statement("answer", "", effects, lead="Each step")
    return [statement("answer", end, text, at.comparison(total)), parts]


def one_at_a_time(at: Evidence, item: Input) -> list[Claim]:
    """Return which single changes to the baseline have an effect."""
    baseline, group = at.plan.baseline_cell(item.id), at.groups.get(item.id)
    if at.plan.design != "one-at-a-time" or baseline is None or group is None:
        return []
    compared = (c.id for c in at.compared(item.id) if c.id != baseline.id)
    pairs = [(c, pair) for c in compared if (pair := at.pair(c, baseline.id)) is not None]
    if not pairs:
        return []
    changes = counted(len(pairs), "single change")
    better = [c for c, pair in pairs if pair.verdict.better]
    base = at.label(baseline.id)
    if not better:
        effects = _effects(at, [(at.label(c), pair) for c, pair in pairs], base)
        lead = f"None of the {changes} makes {base} significantly faster"
        if len(pairs) == 1:
            lead = f"The single change does not make {base} significantly faster"
        parts = statement("answer", "", effects, lead="Each change")
        return [statement("answer", "", lead), parts]
    first, *others = [c for c in at.leaders(group) if c in better] or better[:1]
    label, pair = at.label(first), dict(pairs)[first]
    members = listed(map(at.label, (first, *others)))
    text = f"Of {changes} to {base}, {leads(label, members, 'best')} {at.predicate(pair)}"
    if len(pairs) == 1:
        text = f"{label} {at.predicate(pair)}"
    rest = [(at.label(c), pair) for c, pair in pairs if c != first]
    return [
        statement("answer", label, text, at.comparison(pair)),
        statement("answer", "", _effects(at, rest, base), lead="Other changes"),
    ]


def _effects(at: Evidence, pairs: list[tuple[str, Comparison]], reference: str) -> str:
    """Return gains and losses, the largest first, and the changes without a significant effect."""
    frame, what = metric_nouns.frame(at.metric), noun(at.metric)
    decided = [(n, c) for n, c in pairs if c.shown is not None and c.verdict.decided]
    decided.sort(key=lambda pair: -abs((pair[1].shown.ratio if pair[1].shown else 1) - 1))
    parts: list[str] = []
    for gain in (True, False):
        group = [(n, c) for n, c in decided if c.verdict.better is gain]
        head = f"{frame.less if gain != at.higher else frame.more} {what}"
        ratios = [c.shown.ratio for _, c in group if c.shown is not None]
        if at.metric == WALL and any(max(r, 1 / r) >= TIMES_FROM for r in ratios):
            head = "faster" if gain else "slower"
        times_from = 1.0 if head in {"faster", "slower"} else TIMES_FROM
        entries = [f"{n} {at.effect(c, times_from).replace(f' {head}', '')}" for n, c in group]
        if entries:
            than = "" if parts else f" than {reference}"
            parts.append(f"{head[0].upper()}{head[1:]}{than}: {listed(entries, MOST_EFFECTS)}")
    same = [(n, c) for n, c in pairs if c.verdict is Verdict.EQUIVALENT]
    if same:
        within = format_percent(same[0][1].margin)
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


def growth(at: Evidence, variant_id: str) -> str:
    """Return how the time of a variant grows between neighbouring sizes, if any of it is resolved."""
    known = [
        s for s in at.judgement.scaling if s.variant_id == variant_id and s.metric == at.metric
    ]
    if all(s.word == UNRESOLVED for s in known):
        return ""
    label, what = at.plan.variant(variant_id).label, noun(at.metric)
    parts = (_step(at, s, "" if number else what) for number, s in enumerate(known))
    return f"For twice the input, {label} takes {listed(parts)}"


def _step(at: Evidence, s: Scaling, what: str) -> str:
    start, end = (at.plan.input(i).label for i in (s.from_input_id, s.to_input_id))
    word = f" ({s.word})" if s.word != UNRESOLVED else ""
    return f"{value_phrases.per_doubling(s.exponent, s.lo, s.hi, what)} from {start} to {end}{word}"


ANSWERS: Final[tuple[Callable[[Evidence, Input], list[Claim]], ...]] = (
    before_and_after,
    contribution,
    one_at_a_time,
    against_a_limit,
    scaling,
)
"""The kinds of questions in the order in which they are tried. The last resort is the best of many
variants, which is the claim of kind ``main`` of the leading input."""
