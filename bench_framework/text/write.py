"""Sentences from claims: each kind of fact has one macro in ``sentences.j2``, and only this module calls it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.text import figures, names, numbers
from bench_framework.text.reasons import phrase
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.model.facts import Claim

FILE: Final = Path(__file__).with_name("sentences.j2")
_BREAK: Final = re.compile(r"\n\s*")


@cache
def _macros() -> Any:
    """Return the macros of ``sentences.j2``, compiled once."""
    # Imported here, because most commands make no sentence.
    import jinja2  # noqa: PLC0415, TID251

    # The renderers escape.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701
    environment.filters |= FILTERS
    # A line break of the template is a space, unless a tag with "-" removes it.
    source = _BREAK.sub(" ", FILE.read_text(encoding="utf-8"))
    return environment.from_string(source).module


FILTERS: Final = {
    "scope": names.scope_of,
    "noun": names.noun,
    "phrase": phrase,
    "counted": counted,
    "percent": numbers.format_percent,
    "percent_up": numbers.percent_up,
    "size": numbers.show_size,
    "exponent": figures.exponent,
    "per_doubling": figures.per_doubling,
    "derived": figures.derived,
    "case": figures.case,
}
"""Names of the filters of the template → functions that format a number or a name."""


def render(name: str, *values: object) -> str:
    """Return what a macro makes of some values, as a part of a sentence."""
    return str(getattr(_macros(), name)(*values))


def say(claim: Claim) -> str:
    """Return the sentence of a claim, without a full stop.

    It depends only on the fields of the claim, so anyone who has the claim can rebuild it.
    """
    assert claim.fact is not None
    return render(claim.fact.kind.replace("-", "_"), claim, claim.fact)
