"""The verdict on a published claim (docs/method.md#published-claims), with its claims."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from bench_framework.features.results import NOT_MEASURED, TOO_FEW, NamedResult, Results
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Judgement, Scaling
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan
from bench_framework.model.published import REFERENCE, PublishedClaim, PublishedFigure, parse_figure
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, UNSTABLE
from bench_framework.model.run import Build, Event
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.rounding import thresholds
from bench_framework.text import words
from bench_framework.text.errors import new_event
from bench_framework.text.numbers import format_percent, show_ratio
from bench_framework.text.reasons import phrase

Status = Literal[
    "confirmed", "direction confirmed, size refuted", "refuted", "inconclusive", "not testable here"
]
_WORST_FIRST: Final[tuple[Status, ...]] = (
    "refuted",
    "direction confirmed, size refuted",
    "inconclusive",
    "confirmed",
)
"""A claim about several inputs has the first of these that one of the inputs has."""
LEAST_LEVEL: Final = 0.95 - 1e-9
EXCLUDED: Final = "the interval excludes the claimed figure"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The verdict on a published claim, its reason, and our figure or the reason for its absence."""

    status: Status
    reason: str
    measured: str
    evidence: tuple[NamedResult, ...] = ()


def judge(claim: PublishedClaim, results: Results, scaling: Sequence[Scaling]) -> ClaimResult:
    """Return the verdict on a claim."""
    if claim.test == "not-testable":
        return ClaimResult("not testable here", "", claim.name)
    if claim.test == "scaling":
        return _linear(claim, results, [s for s in scaling if s.metric == claim.metric])
    figure = parse_figure(claim.figure)
    evidence = tuple(_evidence(claim, figure, results))
    if not evidence:
        return ClaimResult("inconclusive", phrase(NOT_MEASURED), phrase(NOT_MEASURED))
    verdicts = [_verdict(figure, e) for e in evidence]
    status = min((status for status, _ in verdicts), key=_WORST_FIRST.index)
    measured = results.joined(evidence)
    if not any(e.interval for e in evidence):
        return ClaimResult(status, "", measured, evidence)
    reasons = Counter(reason for verdict, reason in verdicts if verdict == status)
    reason = "; ".join(_on_inputs(*item, len(evidence)) for item in reasons.items())
    return ClaimResult(status, reason, f"{_tested(claim, results)}: {measured}", evidence)


def _on_inputs(reason: str, count: int, inputs: int) -> str:
    """Return a reason with the number of inputs that it is for, if it is not for all."""
    of_inputs = f"on {count} of {inputs} inputs" if count < inputs else ""
    return ", ".join(filter(None, (reason, of_inputs)))


def _tested(claim: PublishedClaim, results: Results) -> str:
    if claim.variant_id:
        return results.plan.variant(claim.variant_id).label
    return claim.name.replace("_", " ") if claim.test == "derived" else claim.name


def _evidence(
    claim: PublishedClaim, figure: PublishedFigure, results: Results
) -> list[NamedResult]:
    of_variant = (claim.variant_id, claim.metric, claim.input_ids)
    if claim.test == "contrast":
        return [*results.contrast(claim.name, claim.input_ids)]
    published = figure if figure.kind == "value" else None
    if claim.test == "derived":
        stated = published if figure.unit else None
        return [replace(e, published=stated) for e in results.derived(claim.name, claim.input_ids)]
    if published is not None:
        return [replace(e, published=published) for e in results.values(*of_variant)]
    return [*results.against_baseline(*of_variant)]


def _linear(claim: PublishedClaim, results: Results, scaling: Sequence[Scaling]) -> ClaimResult:
    steps = [s for s in scaling if s.variant_id == claim.variant_id]
    if not steps:
        return ClaimResult("inconclusive", phrase(NOT_MEASURED), phrase(NOT_MEASURED))
    inputs = {item.id: item.label for item in results.plan.inputs}
    exponents = "; ".join(
        f"exponent {show_ratio(s.exponent, s.lo, s.hi, 0.05)} from {inputs[s.from_input_id]} to "
        f"{inputs[s.to_input_id]}"
        for s in steps
    )
    measured = f"{_tested(claim, results)}: {exponents}"
    growths = dict.fromkeys(s.word for s in steps)
    if deviating := [word for word in growths if word in {"sub-linear", "super-linear"}]:
        return ClaimResult("refuted", " and ".join(deviating), measured)
    if [*growths] == ["linear"]:
        return ClaimResult("confirmed", "", measured)
    return ClaimResult("inconclusive", "the exponents are not resolved", measured)


def _verdict(figure: PublishedFigure, e: NamedResult) -> tuple[Status, str]:
    if e.interval is None:
        return "inconclusive", phrase(e.reason)
    if figure.kind == "value":
        if _overlap(e.interval, figure.lo, figure.hi):
            return "confirmed", ""
        if _overlap(e.interval, figure.lo / (1 + e.margin), figure.hi * (1 + e.margin)):
            return "confirmed", f"the interval is within {format_percent(e.margin)} of the figure"
        return "refuted", ""
    verdict = e.verdict or Verdict.INCONCLUSIVE
    if e.reason in {ONE_PROGRAM, CONTROL_DIFFERS, UNSTABLE} or e.interval.level < LEAST_LEVEL:
        return "inconclusive", phrase(e.reason or TOO_FEW)
    if not (verdict.settled or verdict is Verdict.INCONCLUSIVE):
        return "inconclusive", _word(e, verdict)
    judge_figure = {"equal": _equal, "limit": _limit}.get(figure.kind, _change)
    return judge_figure(figure, e, e.interval, verdict)


def _equal(
    figure: PublishedFigure, e: NamedResult, interval: Interval, verdict: Verdict
) -> tuple[Status, str]:
    bound = figure.hi or e.margin
    low, _, high = thresholds(bound)
    if verdict is Verdict.INCONCLUSIVE:
        return "inconclusive", phrase(e.reason) or "neither a difference nor equivalence is shown"
    if not _overlap(interval, low, high):
        return "refuted", _word(e, verdict) if verdict.decided else EXCLUDED
    if verdict is Verdict.EQUIVALENT and (not figure.hi or _inside(interval, bound)):
        return "confirmed", ""
    if verdict.decided:
        return "inconclusive", f"a difference is shown, which may be below {format_percent(bound)}"
    within = f"equivalent within ±{format_percent(e.margin)}"
    return "inconclusive", f"{within}, but not within the figure"


def _limit(
    figure: PublishedFigure, e: NamedResult, interval: Interval, verdict: Verdict
) -> tuple[Status, str]:
    bound, _ = figure.ratio(higher=e.higher)
    # A change in the other direction is within the limit, too.
    ratio, limit = (interval, bound) if bound >= 1 else (interval.inverse, 1 / bound)
    if ratio.lo > limit:
        return "refuted", _word(e, verdict) if verdict.decided else EXCLUDED
    if verdict is Verdict.INCONCLUSIVE:
        return "inconclusive", _open(e)
    if ratio.hi <= limit:
        return "confirmed", _word(e, verdict) if verdict.better else ""
    return "inconclusive", "the interval contains the limit"


def _change(
    figure: PublishedFigure, e: NamedResult, interval: Interval, verdict: Verdict
) -> tuple[Status, str]:
    if verdict.decided and verdict.better is not figure.better(higher=e.higher):
        return "refuted", _word(e, verdict)
    sized = figure.kind == "change"
    fits = True
    if sized:
        lo, hi = figure.ratio(higher=e.higher)
        both = _inside(Interval(lo, lo, hi, 1.0), e.margin) and _inside(interval, e.margin)
        # A significant change in the other direction does not confirm the figure.
        both = both and (interval.hi >= 1 if hi > 1 else interval.lo <= 1)
        fits = both or _overlap(interval, lo, hi)
    if verdict.decided:
        return ("confirmed", "") if fits else ("direction confirmed, size refuted", "")
    if verdict is Verdict.EQUIVALENT:
        if sized and fits:
            return "confirmed", f"both are within ±{format_percent(e.margin)}"
        return "refuted", _word(e, verdict)
    return ("inconclusive", _open(e)) if fits else ("refuted", EXCLUDED)


def _open(e: NamedResult) -> str:
    """Return why a comparison is inconclusive."""
    return phrase(e.reason) or "no significant difference"


def _overlap(interval: Interval, lo: float, hi: float) -> bool:
    return interval.lo <= hi and lo <= interval.hi


def _inside(interval: Interval, margin: float) -> bool:
    low, _, high = thresholds(margin)
    return low <= interval.lo and interval.hi <= high


def _word(e: NamedResult, verdict: Verdict) -> str:
    return words.word(verdict, e.metric or WALL)


def published_claims(
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build]
) -> Iterator[Claim]:
    """Yield one claim per published claim with their counts, then one per text of the author."""
    results = Results(plan, judgement, builds)
    if plan.published is not None:
        judged = [(c, judge(c, results, judgement.scaling)) for c in plan.published.claims]
        verdicts = Counter(result.status for _, result in judged)
        counts = tuple((s, verdicts[s]) for s in get_args(Status) if verdicts[s])
        yield Claim(plan.published.title, fact=facts.PublishedCounts(counts=counts))
        for published, result in judged:
            yield _claim(plan, published, result)
    for takeaway in plan.takeaways:
        if results.fulfils(takeaway.condition):
            yield _author_text("takeaway", takeaway.text, results)
    for text in plan.next_steps:
        yield _author_text("next-step", text, results)


def left_out(plan: Plan, judgement: Judgement, builds: Mapping[str, Build]) -> list[Event]:
    """Return an event for each takeaway whose condition is not fulfilled."""
    results = Results(plan, judgement, builds)
    return [
        new_event("BX349", "note", condition=takeaway.condition, text=takeaway.text)
        for takeaway in plan.takeaways
        if not results.fulfils(takeaway.condition)
    ]


def _claim(plan: Plan, published: PublishedClaim, result: ClaimResult) -> Claim:
    fact = facts.PublishedResult(
        status=result.status,
        measured=result.measured,
        figure=published.figure or "",
        reason=result.reason,
    )
    cells = tuple(dict.fromkeys(c for e in result.evidence for c in e.cells))
    claim = Claim(published.text, cells=cells, fact=fact)
    if len(result.evidence) != 1:
        return claim
    (only,) = result.evidence
    scope = (("input", plan.input(only.input_id).label),) if len(plan.inputs) > 1 else ()
    claim = replace(claim, metric=only.metric or None, scope=scope, verdict=only.verdict)
    return replace(claim, margin=only.margin).with_interval(only.interval)


def _author_text(kind: Literal["takeaway", "next-step"], text: str, results: Results) -> Claim:
    parts: list[str] = []
    cells: dict[str, None] = {}
    end = 0
    for match in REFERENCE.finditer(text):
        name, metric = match["name"].strip(), match["metric"] or ""
        if match["kind"] == "experiment":
            evidence = [*results.experiment(name, metric)]
        else:
            lookup = results.contrast if match["kind"] == "contrast" else results.derived
            evidence = [*lookup(name)]
        figure = results.joined(evidence) if evidence else phrase(NOT_MEASURED)
        parts += [text[end : match.start()], figure]
        cells |= dict.fromkeys(c for e in evidence for c in e.cells)
        end = match.end()
    fact = facts.AuthorText(kind=kind, parts=(*parts, text[end:]))
    return Claim(text, cells=tuple(cells), fact=fact)
