"""Statements of a report: one frozen dataclass per kind of statement, with typed fields and no words.

A `Claim` is a fact with its evidence. ``text/sentences.j2`` has one macro per fact.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Union

from bench_framework.model.facts.answers import *
from bench_framework.model.facts.axes import *
from bench_framework.model.facts.causes import *
from bench_framework.model.facts.comparisons import *
from bench_framework.model.facts.evidence import *
from bench_framework.model.facts.fact import *
from bench_framework.model.facts.functions import *
from bench_framework.model.facts.parts import *
from bench_framework.model.facts.published import *
from bench_framework.model.facts.records import *
from bench_framework.model.facts.summary import *

if TYPE_CHECKING:
    AnyFact: TypeAlias = Fact
else:
    AnyFact = Union[tuple(Fact.__subclasses__())]  # noqa: UP007 -- as many as there are
"""Every kind of statement. The fields `kind` and `form` distinguish them in ``claims.json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Evidence):
    """One statement with its evidence. Every output prints its results as claims."""

    fact: AnyFact
    id: str = ""
    """``c1``, ``c2``, … in the order of creation. Equal records have equal ids."""
    text: str = ""
    """The sentence, which `text.write` makes from the other fields only."""

    @property
    def kind(self) -> str:
        """The kind of the statement, such as ``main``, ``answer``, ``comparison`` or ``trust``."""
        return self.fact.kind
