"""The verdict on a published claim (docs/method.md#published-claims), with its claims and sentences."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from bench_framework.features.evidence import NOT_MEASURED, TOO_FEW, Evidence, Results
from bench_framework.model import words
from bench_framework.model.judgement import (
    CONTROL_DIFFERS,
    ONE_PROGRAM,
    REACHES_ONE,
    Claim,
    Judgement,
    Scaling,
)
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Plan
from bench_framework.model.published import REFERENCE, Figure, PublishedClaim, parse_figure
from bench_framework.model.run import Build
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.numbers import show_ratio
from bench_framework.rounding import plain, thresholds
from bench_framework.units import MINUS, THIN_SPACE, counted, format_percent

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
NO_DIFFERENCE: Final = "no significant difference"
EXCLUDED: Final = "the interval excludes the claimed figure"
LEARNING: Final = "learning"
NEXT_STEP: Final = "next-step"
_COUNTED: Final = {
    "direction confirmed, size refuted": "with the direction confirmed and the size refuted"
}
"""Verdicts whose comma would be read as that of a list → words without it."""


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on a published claim.

    Attributes:
        reason: why, as a short phrase; may be empty.
        measured: our figure with its interval, or the reason for its absence.
    """

    status: Status
    reason: str
    measured: str
    evidence: tuple[Evidence, ...] = ()


def judge(claim: PublishedClaim, results: Results, scaling: Sequence[Scaling]) -> Result:
    """Return the verdict on a claim."""
    if claim.test == "not-testable":
        return Result("not testable here", "", claim.name)
    if claim.test == "scaling":
        return _linear(claim, results, [s for s in scaling if s.metric == claim.metric])
    figure = parse_figure(claim.figure)
    evidence = tuple(_evidence(claim, figure, results))
    if not evidence:
        return Result("inconclusive", NOT_MEASURED, NOT_MEASURED)
    verdicts = [_verdict(figure, e) for e in evidence]
    worst = min(verdicts, key=lambda v: _WORST_FIRST.index(v[0]))
    reason = worst[1]
    if len(evidence) > 1 and (count := Counter(v[0] for v in verdicts)[worst[0]]) < len(evidence):
        reason = f"{reason}, " if reason else ""
        reason += f"on {count} of {len(evidence)} inputs"
    if not any(e.interval for e in evidence):
        return Result(worst[0], "", results.joined(evidence), evidence)
    measured = f"{_tested(claim, results)}: {results.joined(evidence)}"
    return Result(worst[0], reason, measured, evidence)


def _tested(claim: PublishedClaim, results: Results) -> str:
    """Return the name of what tests a claim."""
    if claim.variant_id:
        return results.plan.variant(claim.variant_id).label
    return claim.name.replace("_", " ") if claim.test == "derived" else claim.name


def _evidence(claim: PublishedClaim, figure: Figure, results: Results) -> list[Evidence]:
    if claim.test == "contrast":
        return [*results.contrast(claim.name, claim.input_ids)]
    if claim.test == "derived":
        rows = results.derived(claim.name, claim.input_ids)
        return [_in_unit(e, figure) if figure.unit else e for e in rows]
    if figure.kind == "value":
        values = results.values(claim.variant_id, claim.metric, claim.input_ids)
        return [_in_unit(e, figure) for e in values]
    return [*results.against_baseline(claim.variant_id, claim.metric, claim.input_ids)]


def _in_unit(evidence: Evidence, figure: Figure) -> Evidence:
    """Return the evidence with its text in the unit of the published value."""
    if evidence.interval is None or figure.kind != "value":
        return evidence
    value = evidence.interval
    text = plain(*(x / figure.factor for x in value.figures), most=2)
    bounds = "" if value.lo == value.hi else f" [{text.lo}, {text.hi}]"
    unit = {"x": "×", "": ""}.get(figure.unit, f"{THIN_SPACE}{figure.unit}")
    return replace(evidence, text=f"{text.estimate}{unit}{bounds}".replace("-", MINUS))


def _linear(claim: PublishedClaim, results: Results, scaling: Sequence[Scaling]) -> Result:
    steps = [s for s in scaling if s.variant_id == claim.variant_id]
    if not steps:
        return Result("inconclusive", NOT_MEASURED, NOT_MEASURED)
    inputs = {item.id: item.label for item in results.plan.inputs}
    exponents = [show_ratio(s.exponent, s.lo, s.hi, 0.05) for s in steps]
    measured = "; ".join(
        f"exponent {figure} from {inputs[s.from_input_id]} to {inputs[s.to_input_id]}"
        for s, figure in zip(steps, exponents, strict=True)
    )
    measured = f"{_tested(claim, results)}: {measured}"
    words_found = [s.word for s in steps if s.word in {"sub-linear", "super-linear"}]
    if words_found:
        return Result("refuted", " and ".join(dict.fromkeys(words_found)), measured)
    if all(s.word == "linear" for s in steps):
        return Result("confirmed", "", measured)
    return Result("inconclusive", "the exponents are not resolved", measured)


def _verdict(figure: Figure, e: Evidence) -> tuple[Status, str]:
    """Return the verdict on one input, and the reason for it."""
    if e.interval is None:
        return "inconclusive", e.reason
    if figure.kind == "value":
        return _value(figure, e, e.interval)
    verdict = e.verdict or Verdict.INCONCLUSIVE
    if e.reason in {ONE_PROGRAM, CONTROL_DIFFERS} or e.interval.level < LEAST_LEVEL:
        return "inconclusive", e.reason or TOO_FEW
    if not (verdict.settled or verdict is Verdict.INCONCLUSIVE):
        return "inconclusive", words.word(verdict, e.metric or WALL)
    if figure.kind == "equal":
        return _equal(figure, e, verdict)
    if figure.kind == "limit":
        return _limit(figure, e, verdict)
    return _change(figure, e, verdict)


def _value(figure: Figure, e: Evidence, interval: Interval) -> tuple[Status, str]:
    if _overlap(interval, figure.lo, figure.hi):
        return "confirmed", ""
    if _overlap(interval, figure.lo / (1 + e.margin), figure.hi * (1 + e.margin)):
        return "confirmed", f"the interval is within {format_percent(e.margin)} of the figure"
    return "refuted", ""


def _equal(figure: Figure, e: Evidence, verdict: Verdict) -> tuple[Status, str]:
    assert e.interval is not None
    bound = figure.hi or e.margin
    low, _, high = thresholds(bound)
    if verdict is Verdict.INCONCLUSIVE:
        return "inconclusive", e.reason or "neither a difference nor equivalence is shown"
    if not _overlap(e.interval, low, high):
        return "refuted", _word(e, verdict) if verdict.decided else EXCLUDED
    if verdict is Verdict.EQUIVALENT and (not figure.hi or _inside(e.interval, bound)):
        return "confirmed", ""
    if verdict.decided:
        return "inconclusive", f"a difference is shown, which may be below {format_percent(bound)}"
    within = f"equivalent within ±{format_percent(e.margin)}"
    return "inconclusive", f"{within}, but not within the figure"


def _limit(figure: Figure, e: Evidence, verdict: Verdict) -> tuple[Status, str]:
    assert e.interval is not None
    bound, _ = figure.ratio(higher=e.higher)
    # A change in the other direction is within the limit, too.
    ratio, limit = (e.interval, bound) if bound >= 1 else (e.interval.inverse, 1 / bound)
    if ratio.lo > limit:
        return "refuted", _word(e, verdict) if verdict.decided else EXCLUDED
    if verdict is Verdict.INCONCLUSIVE:
        return "inconclusive", _open(e)
    if ratio.hi <= limit:
        return "confirmed", _word(e, verdict) if verdict.better else ""
    return "inconclusive", "the interval contains the limit"


def _change(figure: Figure, e: Evidence, verdict: Verdict) -> tuple[Status, str]:
    assert e.interval is not None
    better = figure.better(higher=e.higher)
    if verdict.decided and verdict.better is not better:
        return "refuted", _word(e, verdict)
    sized = figure.kind == "change"
    fits = True
    if sized:
        lo, hi = figure.ratio(higher=e.higher)
        both = _inside(Interval(lo, lo, hi, 1.0), e.margin) and _inside(e.interval, e.margin)
        # A significant change in the other direction does not confirm the figure.
        both = both and (e.interval.hi >= 1 if hi > 1 else e.interval.lo <= 1)
        fits = both or _overlap(e.interval, lo, hi)
    if verdict.decided:
        return ("confirmed", "") if fits else ("direction confirmed, size refuted", "")
    if verdict is Verdict.EQUIVALENT:
        if sized and fits:
            return "confirmed", f"both are within ±{format_percent(e.margin)}"
        return "refuted", _word(e, verdict)
    if fits:
        return "inconclusive", _open(e)
    return "refuted", EXCLUDED


def _open(e: Evidence) -> str:
    """Return why a comparison is inconclusive. The displayed interval is the one without correction."""
    if e.interval is not None and not e.interval.lo <= 1 <= e.interval.hi:
        return words.CORRECTED if e.reason in ("", REACHES_ONE) else e.reason
    return e.reason or NO_DIFFERENCE


def _overlap(interval: Interval, lo: float, hi: float) -> bool:
    return interval.lo <= hi and lo <= interval.hi


def _inside(interval: Interval, margin: float) -> bool:
    low, _, high = thresholds(margin)
    return low <= interval.lo and interval.hi <= high


def _word(e: Evidence, verdict: Verdict) -> str:
    return words.word(verdict, e.metric or WALL)


def published_claims(
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build]
) -> Iterator[Claim]:
    """Yield one claim per published claim with their counts, then one per text of the author."""
    results = Results(plan, judgement, builds)
    verdicts: Counter[str] = Counter()
    claims = []
    for published in plan.published.claims if plan.published is not None else ():
        result = judge(published, results, judgement.scaling)
        verdicts[result.status] += 1
        claims.append(_claim(plan, published.text, published.figure, result))
    if plan.published is not None:
        counts = {status: verdicts[status] for status in get_args(Status)}
        values: dict[str, float | int | str] = {k: n for k, n in counts.items() if n}
        yield Claim("", "published-counts", plan.published.title, values=values)
    yield from claims
    for kind, texts in ((LEARNING, plan.learnings), (NEXT_STEP, plan.next_steps)):
        for text in texts:
            yield _author_text(kind, text, results)


def _claim(plan: Plan, text: str, figure: str, result: Result) -> Claim:
    values: dict[str, float | int | str] = {"status": result.status, "measured": result.measured}
    values |= {key: v for key, v in (("figure", figure), ("reason", result.reason)) if v}
    cells = tuple(dict.fromkeys(c for e in result.evidence for c in e.cells))
    claim = Claim("", "published", text, cells=cells, values=values)
    if len(result.evidence) != 1:
        return claim
    only = result.evidence[0]
    scope = (("input", plan.input(only.input_id).label),) if len(plan.inputs) > 1 else ()
    return Claim(
        "",
        "published",
        text,
        metric=only.metric or None,
        scope=scope,
        verdict=only.verdict,
        margin=only.margin,
        cells=cells,
        values=values,
    ).with_interval(only.interval)


def _author_text(kind: str, text: str, results: Results) -> Claim:
    values: dict[str, float | int | str] = {}
    cells: dict[str, None] = {}
    for match in REFERENCE.finditer(text):
        name, metric = match["name"].strip(), match["metric"] or ""
        if match["kind"] == "experiment":
            evidence = [*results.experiment(name, metric)]
        else:
            lookup = results.contrast if match["kind"] == "contrast" else results.derived
            evidence = [*lookup(name)]
        values[match[0]] = results.joined(evidence) if evidence else NOT_MEASURED
        cells |= dict.fromkeys(c for e in evidence for c in e.cells)
    return Claim("", kind, text, cells=tuple(cells), values=values)


def quotation(claim: Claim) -> str:
    """Return the quoted claim, with the figure unless the quotation contains it."""
    figure = str(claim.values.get("figure", ""))
    contained = figure.replace(" ", "") in claim.subject.replace(" ", "")
    number = any(c.isdigit() for c in figure)
    return f"“{claim.subject}”" + (f" ({figure})" if number and not contained else "")


def verdict(claim: Claim) -> str:
    """Return the verdict with its reason, such as ``"refuted: slower"``."""
    reason = claim.values.get("reason")
    return f"{claim.values['status']}{f': {reason}' if reason else ''}"


def _counts(claim: Claim) -> str:
    counts = ", ".join(
        f"{count} {_COUNTED.get(status, status)}" for status, count in claim.values.items()
    )
    total = sum(int(count) for count in claim.values.values())
    return f"{counted(total, 'claim')} of “{claim.subject}”: {counts}"


def _with_figures(claim: Claim) -> str:
    return re.sub(REFERENCE, lambda match: str(claim.values[match[0]]), claim.subject)


PUBLISHED_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "published": lambda c: f"{quotation(c)}: {verdict(c)}; {c.values['measured']}",
    "published-counts": _counts,
    LEARNING: _with_figures,
    NEXT_STEP: _with_figures,
}
"""Kind of claim → the function that returns its sentence."""
