"""Claims about published claims and the author's texts, and their sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, get_args

from bench_framework.features.evidence import NOT_MEASURED, Results
from bench_framework.features.published import compute
from bench_framework.model.judgement import Claim, Judgement
from bench_framework.model.plan import Plan
from bench_framework.model.published import REFERENCE
from bench_framework.model.run import Build
from bench_framework.units import counted

LEARNING: Final = "learning"
NEXT_STEP: Final = "next-step"


def published_claims(
    plan: Plan, judgement: Judgement, builds: Mapping[str, Build]
) -> Iterator[Claim]:
    """Yield one claim per published claim with their counts, then one per text of the author."""
    results = Results(plan, judgement, builds)
    verdicts: Counter[str] = Counter()
    claims = []
    for published in plan.published.claims if plan.published is not None else ():
        result = compute.judge(published, results, judgement.scaling)
        verdicts[result.status] += 1
        claims.append(_claim(plan, published.text, published.figure, result))
    if plan.published is not None:
        counts = {status: verdicts[status] for status in get_args(compute.Status)}
        values: dict[str, float | int | str] = {k: n for k, n in counts.items() if n}
        yield Claim("", "published-counts", plan.published.title, values=values)
    yield from claims
    for kind, texts in ((LEARNING, plan.learnings), (NEXT_STEP, plan.next_steps)):
        for text in texts:
            yield _author_text(kind, text, results)


def _claim(plan: Plan, text: str, figure: str, result: compute.Result) -> Claim:
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


_COUNTED: Final = {
    "direction confirmed, size refuted": "with the direction confirmed and the size refuted"
}
"""Verdicts whose comma would be read as that of a list → words without it."""


def _with_figures(claim: Claim) -> str:
    return re.sub(REFERENCE, lambda match: str(claim.values[match[0]]), claim.subject)


PUBLISHED_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "published": lambda c: f"{quotation(c)}: {verdict(c)}; {c.values['measured']}",
    "published-counts": _counts,
    LEARNING: _with_figures,
    NEXT_STEP: _with_figures,
}
"""Kind of claim → the function that returns its sentence."""
