"""Takeaways and next steps of the author, which quote measured figures."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from bench_framework.features.results import NOT_MEASURED, NamedResult, Results
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.published import REFERENCE
from bench_framework.model.record.run import Build, Event
from bench_framework.model.result.judgement import Judgement
from bench_framework.text.errors import new_event

NO_FIGURE: Final = facts.AuthorFigure(evidence=Evidence(reason=NOT_MEASURED))


def author_claims(plan: Plan, judgement: Judgement, builds: Mapping[str, Build]) -> Iterator[Claim]:
    """Yield the takeaways whose condition is fulfilled and whose figures were measured, then the next steps."""
    results = Results(plan, judgement, builds)
    for takeaway in plan.takeaways:
        claim = _author_text("takeaway", takeaway.text, results)
        if results.fulfils(takeaway.condition) and not _lacks_figures(claim):
            yield claim
    for text in plan.next_steps:
        yield _author_text("next-step", text, results)


def left_out(plan: Plan, judgement: Judgement, builds: Mapping[str, Build]) -> list[Event]:
    """Return an event for each takeaway that `author_claims` leaves out."""
    results, events = Results(plan, judgement, builds), list[Event]()
    for takeaway in plan.takeaways:
        text, condition = takeaway.text, takeaway.condition
        if not results.fulfils(condition):
            events.append(new_event("BX349.condition", "note", condition=condition, text=text))
        elif _lacks_figures(_author_text("takeaway", text, results)):
            events.append(new_event("BX349.no-figure", "note", text=text))
    return events


def _lacks_figures(claim: Claim) -> bool:
    """Return whether a figure that an author's text quotes was not measured."""
    assert isinstance(claim.fact, facts.AuthorText)
    figures = (figure for part in claim.fact.parts if not isinstance(part, str) for figure in part)
    return any(figure.evidence.reason == NOT_MEASURED for figure in figures)


def _author_text(kind: facts.AuthorTextKind, text: str, results: Results) -> Claim:
    parts: list[str | tuple[facts.AuthorFigure, ...]] = []
    cells: dict[str, None] = {}
    end = 0
    for match in REFERENCE.finditer(text):
        name, metric = match["name"].strip(), match["metric"] or ""
        if match["kind"] == "experiment":
            measured = [*results.experiment(name, metric)]
        else:
            lookup = results.contrast if match["kind"] == "contrast" else results.derived
            measured = [*lookup(name)]
        if label := match["input"]:
            ids = {item.id for item in results.plan.inputs if item.label == label.strip()}
            measured = [e for e in measured if e.input_id in ids]
        figures = tuple(_figure(e, results) for e in measured)
        parts += [text[end : match.start()], figures or (NO_FIGURE,)]
        cells |= dict.fromkeys(c for e in measured for c in e.cells)
        end = match.end()
    fact = facts.AuthorText(kind=kind, parts=(*parts, text[end:]))
    return Claim(text, cells=tuple(cells), fact=fact)


def _figure(e: NamedResult, results: Results) -> facts.AuthorFigure:
    # A derived value that is not a comparison has no margin, so no verdict sets its digits.
    evidence = replace(results.evidence(e), margin=e.margin if e.metric else None)
    return facts.AuthorFigure(evidence=evidence, unit=e.unit, family=results.plan.unit_family)
