"""Statements of a report: one frozen dataclass per kind of statement, with typed fields and no words.

A `Claim` is a fact with its evidence. ``text/sentences.j2`` has one macro per fact.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench_framework.model.facts.answers import (
    Growth,
    HeadlineAnswer,
    LadderTotal,
    LimitReached,
    RevisionsAnswer,
    SingleChanges,
)
from bench_framework.model.facts.axes import (
    AxisEffect,
    Contributions,
    Crossover,
    Interaction,
    ParetoFront,
)
from bench_framework.model.facts.causes import TwoDifferences
from bench_framework.model.facts.comparisons import (
    AnchorChange,
    BeforeAfter,
    Compared,
    Conditions,
    Contrast,
    ExactChange,
    Finding,
    GapClosed,
    Grouped,
    HypothesisResult,
    OneProgram,
    RecordChange,
    SignChange,
)
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.functions import FunctionChanges
from bench_framework.model.facts.parts import BestParts
from bench_framework.model.facts.published import (
    PublishedCounts,
    PublishedResult,
)
from bench_framework.model.facts.records import (
    AuthorText,
    Coverage,
    DerivedFact,
    MemoryShare,
    NoiseFloorFact,
    NotMeasured,
    ProfileChange,
    ProfileShare,
    ProfileSummary,
    ProfileTooSmall,
    RaceCost,
    RaceDropped,
    RaceIdle,
    ScalingFact,
    SessionContents,
    SessionsApart,
)
from bench_framework.model.facts.summary import (
    Best,
    BestByInput,
    BestEverywhere,
    Confidence,
    GateNote,
    MeanEffects,
    Nothing,
    Overlaps,
    Recommendation,
    Rejected,
    ResourceChanges,
    Resources,
    UnstableRatios,
)

__all__ = [
    "AnchorChange",
    "AuthorText",
    "AxisEffect",
    "BeforeAfter",
    "Best",
    "BestByInput",
    "BestEverywhere",
    "BestParts",
    "Claim",
    "Compared",
    "Conditions",
    "Confidence",
    "Contrast",
    "Contributions",
    "Coverage",
    "Crossover",
    "DerivedFact",
    "Evidence",
    "ExactChange",
    "Fact",
    "Finding",
    "FunctionChanges",
    "GapClosed",
    "GateNote",
    "Grouped",
    "Growth",
    "HeadlineAnswer",
    "HypothesisResult",
    "Interaction",
    "LadderTotal",
    "LimitReached",
    "MeanEffects",
    "MemoryShare",
    "NoiseFloorFact",
    "NotMeasured",
    "Nothing",
    "OneProgram",
    "Overlaps",
    "ParetoFront",
    "ProfileChange",
    "ProfileShare",
    "ProfileSummary",
    "ProfileTooSmall",
    "PublishedCounts",
    "PublishedResult",
    "RaceCost",
    "RaceDropped",
    "RaceIdle",
    "Recommendation",
    "RecordChange",
    "Rejected",
    "ResourceChanges",
    "Resources",
    "RevisionsAnswer",
    "ScalingFact",
    "SessionContents",
    "SessionsApart",
    "SignChange",
    "SingleChanges",
    "TwoDifferences",
    "UnstableRatios",
]

Fact = (
    AxisEffect
    | Interaction
    | Contributions
    | Crossover
    | ParetoFront
    | Compared
    | Contrast
    | Grouped
    | Finding
    | SignChange
    | OneProgram
    | BeforeAfter
    | HypothesisResult
    | TwoDifferences
    | FunctionChanges
    | BestParts
    | GapClosed
    | Conditions
    | AnchorChange
    | RecordChange
    | ExactChange
    | NoiseFloorFact
    | ScalingFact
    | MemoryShare
    | DerivedFact
    | Coverage
    | NotMeasured
    | RaceCost
    | RaceDropped
    | RaceIdle
    | SessionContents
    | SessionsApart
    | ProfileShare
    | ProfileChange
    | ProfileTooSmall
    | ProfileSummary
    | PublishedResult
    | PublishedCounts
    | AuthorText
    | Best
    | Nothing
    | Recommendation
    | RevisionsAnswer
    | LimitReached
    | HeadlineAnswer
    | LadderTotal
    | SingleChanges
    | Growth
    | GateNote
    | UnstableRatios
    | ResourceChanges
    | Resources
    | Overlaps
    | BestByInput
    | BestEverywhere
    | MeanEffects
    | Rejected
    | Confidence
)
"""Every kind of statement. The fields `kind` and `form` distinguish them in ``claims.json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Evidence):
    """One statement with its evidence. Every output prints its results as claims."""

    fact: Fact
    id: str = ""
    """``c1``, ``c2``, … in the order of creation. Equal records have equal ids."""
    text: str = ""
    """The sentence, which `text.write` makes from the other fields only."""

    @property
    def kind(self) -> str:
        """The kind of the statement, such as ``main``, ``answer``, ``comparison`` or ``trust``."""
        return self.fact.kind
