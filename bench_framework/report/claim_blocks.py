"""Claims as sentences of a report, and the main claim of an input."""

from collections import Counter
from collections.abc import Callable, Iterable

from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.published import Outcome
from bench_framework.model.plan.plan import Input, Role
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Bullets, Sentence
from bench_framework.report.context import ReportData
from bench_framework.text.write import brief, lead

MAIN_KINDS = ("main", "nothing")


def sentence(claim: Claim) -> Sentence:
    """Return a claim as a sentence, with its id, its verdict and the words before it."""
    return Sentence(claim.text, claim.id, claim.verdict, lead(claim))


def brief_sentence(claim: Claim) -> Sentence:
    """Return a claim as one line of the first screen."""
    return Sentence(brief(claim), claim.id, claim.verdict, lead(claim))


def claim_bullets(
    claims: Iterable[Claim], text: Callable[[Claim], Sentence] = sentence
) -> list[Bullets]:
    """Return the sentences of claims as a list, or nothing without claims."""
    items = tuple(text(claim) for claim in claims)
    return [Bullets(items)] if items else []


def key_claim(data: ReportData, item: Input) -> Claim | None:
    """Return the claim about the best group of an input."""
    return next(iter(data.claims(*MAIN_KINDS, item=item)), None)


def leading_claim(data: ReportData) -> Claim | None:
    """Return the result of the input that the answer is about."""
    results = data.claims(*MAIN_KINDS)
    return next(
        (c for c in results if isinstance(c.fact, (facts.Best, facts.Nothing)) and c.fact.leading),
        None,
    )


def leading_input(data: ReportData) -> Input | None:
    """Return the input of the answer, or `None` if nothing was compared."""
    main = leading_claim(data)
    label = dict(main.scope).get("input") if main is not None else None
    inputs = data.plan.inputs
    return next((i for i in inputs if main is not None and label in (None, i.label)), None)


def recommended(data: ReportData) -> tuple[Claim, ...]:
    """Return which variant to use, on each input or on all of them."""
    return data.claims("recommendation")


def published_changes(data: ReportData, item: Input) -> dict[str, Claim]:
    """Return the published figures of single changes by the configuration of the change.

    The table of changes has them. It has place for one figure of a change, of the main metric.
    """
    plan, base = data.plan, data.plan.cell_id(data.plan.baseline_id, item.id)
    pairs = {(plan.cell_id(e.variant_id, item.id), base) for e in plan.experiments}
    claims = [c for c in data.claims("published") if c.cells in pairs and _is_change(data, c.fact)]
    counts = Counter(claim.cells for claim in claims)
    return {claim.cells[0]: claim for claim in claims if counts[claim.cells] == 1}


def _is_change(data: ReportData, fact: facts.Fact) -> bool:
    """Return whether a published figure is a change of the main metric that one comparison tests."""
    if not isinstance(fact, facts.PublishedResult) or len(fact.tests) != 1:
        return False
    of_metric = fact.tests[0].form == "ratio" and fact.tests[0].evidence.metric == data.metric
    return of_metric and fact.outcome not in {Outcome.NOT_TESTED, Outcome.REFUTED}


def nothing_better(data: ReportData) -> bool:
    """Return whether variants were compared and none is shown to be better than another."""
    groups = [g for item in data.plan.inputs if (g := data.best(item.id)) is not None]
    all_best = (len(g.cell_ids) >= len(data.measured(g.input_id)) for g in groups)
    return bool(groups) and all(all_best)


def all_equal(data: ReportData) -> bool:
    """Return whether every planned variant is equivalent to the baseline in the main metric, on each input."""
    cells = (c for item in data.plan.inputs for c in data.arms(item.id))
    compared = [data.comparison(c.id, data.metric) for c in cells if c.role is Role.CANDIDATE]
    return bool(compared) and all(c and c.verdict is Verdict.EQUIVALENT for c in compared)
