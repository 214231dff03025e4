"""Facts of the answer to a question: revisions, limits, steps, single changes, growth."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.fact import Fact
from bench_framework.model.verdict import Share

Reply = Literal["", "yes", "no", "equal", "open"]
GrowthKind = Literal["answer", "summary"]


class RevisionsAnswer(Fact, kind="answer", form="revisions"):
    """Changes between two revisions. With a regression, the claim is about the largest one."""

    base: str
    head: str
    total: int
    worse: int
    better: int
    equal: int
    refused: int = 0
    """Comparisons of which a side failed or has another output. The rest of the total is inconclusive."""
    margin: float
    name: str = ""
    """The configuration of the largest regression, if there are several."""
    others: tuple[Evidence, ...] = ()
    """Comparisons in other metrics that are worse, and instructions that became more; the largest change first."""


class LimitReached(Fact, kind="answer", form="limit"):
    """The variant that comes closest to the limit that the scenario derives."""

    members: tuple[str, ...]
    share: Share
    rate: float
    """Bytes per second."""
    limit: float
    """Bytes per second."""
    family: str


class HeadlineAnswer(Fact, kind="answer", form="headline"):
    """The contrast that the scenario names as the answer to its question: the comparison of the claim."""

    says: Reply
    """``yes`` if the verdict is the one with which the answer is "yes"; ``open`` without a verdict; ``equal`` if
    two commands are equivalent. Empty if the question is not one of yes or no."""
    in_record: bool = False
    """True if another session may show no difference."""


class LadderTotal(Fact, kind="answer", form="ladder"):
    """The effect of all steps of a ladder together: the comparison of the claim."""

    steps: int


class SingleChanges(Fact, kind="answer", form="single_changes"):
    """The best of single changes to the baseline, or the only one, which is the claim's comparison, or none."""

    count: int
    base: str
    combined: int = 0
    """The number of further variants, with several of the changes."""
    members: tuple[str, ...] = ()
    """The best changes or combinations, which do not differ significantly. Empty if none is significantly faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubling:
    """A scaling exponent between two inputs."""

    smaller: str
    larger: str
    exponent: float
    lo: float
    hi: float

    @property
    def figures(self) -> tuple[float, float, float]:
        """The exponent, as the estimate of an `Evidence`, and its bounds."""
        return self.exponent, self.lo, self.hi


class Growth(Fact):
    """How a metric of variants grows with the size of the input."""

    kind: GrowthKind
    form: Literal["growth"] = "growth"
    variants: tuple[tuple[str, tuple[Doubling, ...]], ...]


class EqualSides(Fact, kind="equal-sides"):
    """The two variants of the answer are equivalent, and another one is recommended."""

    better: str = ""
    """The recommended variant, if it is significantly better than both."""


class Alternative(Fact, kind="alternative"):
    """The best variant without a value of the recommended one, in the axis of the answer.

    The claim compares it with the recommended variant.
    """

    members: tuple[str, ...]
    """The variants without the value that do not differ significantly, the best estimate first."""
    axis: str
    without: str
    """The label of the value, or the value with its axis."""
