"""Sentences from claims: each kind of fact has one macro in ``sentences.j2``, and only this module calls it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model.facts.comparisons import Compared
from bench_framework.model.metrics import METRICS, PEAK_RSS, WALL
from bench_framework.model.reasons import ONE_PROGRAM, UNSTABLE
from bench_framework.model.verdict import Verdict
from bench_framework.text import (
    answers,
    builds,
    causes,
    differences,
    figures,
    functions,
    names,
    numbers,
    published,
    words,
)
from bench_framework.text.reasons import phrase
from bench_framework.units import counted, every

if TYPE_CHECKING:
    from bench_framework.model.facts import Claim

FILE: Final = Path(__file__).with_name("sentences.j2")
_BREAK: Final = re.compile(r"\n\s*")
_MACRO: Final = re.compile(r"\{% macro (?P<name>\w+)\(.*?\{%-? endmacro %\}")


class _Macros:
    """The macros of ``sentences.j2``. Each is compiled when it is called first: a page needs a few of them."""

    def __init__(self) -> None:
        # Imported here, because most commands make no sentence.
        import jinja2  # noqa: PLC0415, TID251

        # The renderers escape.
        self._environment = jinja2.Environment(  # noqa: S701
            undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do"]
        )
        self._environment.filters |= FILTERS
        self._environment.tests |= TESTS
        # A line break of the template is a space, unless a tag with "-" removes it.
        source = _BREAK.sub(" ", FILE.read_text(encoding="utf-8"))
        self.sources = {m["name"]: m[0] for m in _MACRO.finditer(source)}
        self._compiled: dict[str, Any] = {}
        self._environment.globals |= GLOBALS | {
            name: partial(self.call, name) for name in self.sources
        }

    def call(self, name: str, /, *values: object, **more: object) -> str:
        """Return what a macro makes of some values."""
        if name not in self._compiled:
            module = self._environment.from_string(self.sources[name]).module
            self._compiled[name] = getattr(module, name)
        return str(self._compiled[name](*values, **more))


@cache
def _macros() -> _Macros:
    return _Macros()


FILTERS: Final = {
    "scope": names.scope_of,
    "heading": names.heading,
    "begin": names.begin,
    "noun": words.noun,
    "words": words.metric_words,
    "word": words.word,
    "phrase": phrase,
    "counted": counted,
    "every": every,
    "percent": numbers.format_percent,
    "percent_up": numbers.percent_up,
    "size": numbers.format_size,
    "duration": numbers.format_duration,
    "quantity": figures.quantity,
    "in_unit": figures.in_unit,
    "exponent": figures.exponent,
    "checked_by": answers.checked_by,
    "derived": figures.derived,
    "derived_figure": figures.derived_figure,
    "amount": differences.amount,
    "cost": differences.cost,
    "phase": differences.phase,
    "signed": differences.signed,
    "signed_bounds": differences.signed_bounds,
    "printed": differences.printed,
    "product": differences.product,
    "about": figures.about,
    "one_scale": differences.one_scale,
    "listed": names.listed,
    "comma_list": names.comma_list,
    "between": names.between,
    "capital": names.capital,
    "least": words.least,
    "input": names.input_of,
    "of_records": names.of_records,
    "rates": figures.rates,
    "rate": numbers.rate,
    "whole_percent": figures.whole_percent,
    "doubling": figures.doubling,
    "times_the": figures.times_the,
    "times": figures.times,
    "closed": figures.closed,
    "share": figures.share,
    "part": causes.part_name,
    "counter": causes.counter_text,
    "time_parts": causes.parts_text,
    "function_name": functions.name_of,
    "count_change": functions.count_change,
    "function_change": functions.function_change,
    "condition": builds.condition,
    "setting": builds.setting,
    "packages": builds.packages,
    "function_calls": functions.calls_of,
    "count_growth": functions.growth_of,
    "signed_percent": numbers.signed_percent,
    "percentage": figures.percentage,
    "crossover_size": figures.crossover_size,
    "published_figure": published.published_figure,
    "measured_figure": published.measured_figure,
}
"""Names of the filters of the template → functions that format a number or a name."""
EQUAL: Final = {"control": "comparison", "memory": "reference", "next_step": "takeaway"}
"""Kinds of claims → kinds with the same sentence."""
TESTS: Final = {
    "one_program": lambda c: c.reason == ONE_PROGRAM,
    "missing": lambda value: value is None,
    "declared": lambda metric: metric is not None and metric not in METRICS,
    "of_direction": published.is_direction,
    "with_reason": lambda c: c.reason is not None,
    "unstable": lambda test: test.reason == UNSTABLE and test.evidence.phases is not None,
}
"""Names of the tests of the template → conditions on a claim."""
GLOBALS: Final = {
    "WALL": WALL,
    "PEAK_RSS": PEAK_RSS,
    "Verdict": Verdict,
    "TIMES_FROM": numbers.TIMES_FROM,
    "AB_TIMES_FROM": numbers.AB_TIMES_FROM,
    "TENTHS": figures.TENTHS,
    "MOST_STATED": figures.MOST_STATED,
    "NEVER": math.inf,
    "needs_factors": published.needs_factors,
}


def render(name: str, *values: object, **more: object) -> str:
    """Return what a macro makes of some values, as a part of a sentence."""
    return _macros().call(name, *values, **more)


def numbered(claims: Iterable[Claim], first: int = 1, letter: str = "c") -> tuple[Claim, ...]:
    """Return claims with their sentences and ids: a letter and the number of the claim, from `first` on."""
    return tuple(replace(c, id=f"{letter}{n}", text=say(c)) for n, c in enumerate(claims, first))


def say(claim: Claim) -> str:
    """Return the sentence of a claim.

    It depends only on the fields of the claim, so anyone who has the claim can rebuild it.
    """
    return names.closed(clause(claim))


def clause(claim: Claim) -> str:
    """Return the sentence of a claim without a full stop, to be part of another one."""
    name = macro_of(claim)
    if claim.session is None:
        return render(name, claim, claim.fact)
    return render("in_session", claim, render(name, replace(claim, scope=()), claim.fact))


def without_names(claim: Claim) -> str:
    """Return the sentence of a comparison for a page that names both sides once."""
    fact = claim.fact
    assert isinstance(fact, Compared)
    return render("compared", claim, fact.costs, fact.counted, names=False)


def lead(claim: Claim) -> str:
    """Return the words in bold before a line of the summary, or nothing."""
    name = f"{macro_of(claim)}_lead"
    return render(name, claim, claim.fact) if name in _macros().sources else ""


def brief(claim: Claim, *, alone: bool = False) -> str:
    """Return the sentence of a claim in one line without intervals, for the first screen of a page.

    It begins with a capital letter unless words in bold precede it; `alone`: they are not printed.
    """
    name = f"{macro_of(claim)}_brief"
    if name not in _macros().sources:
        return say(claim)
    text = names.closed(render(name, claim, claim.fact))
    return text if lead(claim) and not alone else names.capital(text)


def macro_of(claim: Claim) -> str:
    """Return the name of the macro of a claim: the `form` of its fact if there is one, else its kind."""
    name = str(getattr(claim.fact, "form", claim.kind)).replace("-", "_")
    return EQUAL.get(name, name)
