"""Facts about a record: what was measured, how sure it is, and what the author states."""

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.fact import Fact
from bench_framework.model.formula import FormulaUnit
from bench_framework.model.record.profile import ProfileSize
from bench_framework.model.verdict import Share

AuthorTextKind = Literal["takeaway", "next-step"]
ProfileShareKind = Literal["profile-function", "profile-bucket"]
GrowthWord = Literal["linear", "sub-linear", "super-linear", "not resolved", "not classified"]
LINEAR: Final = (0.95, 1.05)
"""The scaling exponents of linear growth."""


class NoiseFloorFact(Fact, kind="noise-floor"):
    """The noise floor of an input and a metric, which is the estimate of the claim.

    Without an estimate, the control has too few rounds, or there is no control.
    """

    control_differs: bool = False
    """True if the A/A check failed."""


class ScalingFact(Fact, kind="scaling"):
    """The growth of a metric between two neighbouring sizes: the scaling exponent of the claim."""

    smaller: str
    """Label of the smaller input."""
    larger: str
    word: GrowthWord


class MemoryShare(Fact, kind="memory-share"):
    """The peak memory of a configuration: the estimate of the claim, in bytes."""

    family: str
    """Family of units of the scenario."""
    share: float | None = None
    """Quotient of memory and size of the input, `None` if the size is not known."""


class DerivedFact(Fact, kind="derived"):
    """A figure computed from named cells, with its formula."""

    formula: str
    unit: FormulaUnit
    family: str
    """Family of units of the scenario."""
    assuming: str = ""
    """Assumption of a figure that is projected and not measured."""
    smallest: float | None = None
    """The smallest rate of the input, which sets the unit of all of its rates."""


class Coverage(Fact, kind="coverage"):
    """The number of planned configurations by state."""

    planned: int
    measured: int = 0
    failed: int = 0
    other_output: int = 0
    not_comparable: int = 0
    not_started: int = 0
    not_selected: int = 0
    """Configurations that ``-k`` leaves out."""
    excluded: int = 0
    """Combinations that a rule of the scenario excludes. They are not among the planned ones."""


class NotMeasured(Fact, kind="not-measured"):
    """A combination or a configuration without measurements, for the reason of the claim."""


class RaceCost(Fact, kind="race"):
    """The runs of a race, and how many configurations stopped early."""

    runs: int
    fixed: int
    """Runs of all configurations in all rounds."""
    rounds: int
    dropped: int
    idle: int


class RaceDropped(Fact, kind="dropped"):
    """A configuration that a race dropped. The claim compares it with one that is better."""

    after: int
    """Rounds."""
    costs: tuple[Evidence, ...] = ()
    counted: bool = False


class RaceIdle(Fact, kind="idle"):
    """A configuration that finished early without being dropped."""

    after: int
    """Rounds."""


class SessionContents(Fact, kind="limits"):
    """The contents of a file of another harness, and its limits."""

    commands: int
    runs: tuple[int, ...]
    """The smallest and the largest number of runs of a command, one number if they are equal."""
    raw: bool
    """True if it has the time of every run."""
    memory: str
    """Which figures of memory the file has."""

    @property
    def single(self) -> bool:
        """True if each command has one run."""
        return self.runs == (1,)


class SessionsApart(Fact, kind="sessions"):
    """Several files, which are not compared."""


class ProfileShare(Fact):
    """The self share of a function or of a bucket of functions: the estimate of the claim."""

    kind: ProfileShareKind
    name: str
    samples: ProfileSize


class ProfileChange(Fact, kind="profile-before-after"):
    """The self share of a bucket in the baseline and in a variant, which is the estimate."""

    name: str
    before: Share
    before_samples: ProfileSize
    samples: ProfileSize


class ProfileTooSmall(Fact, kind="profile-few"):
    """A profile with too few samples to rank functions."""

    samples: ProfileSize
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestShares:
    """The largest self shares of a profile."""

    label: str
    unit: str
    by_group: bool
    """True if functions are grouped in buckets."""
    largest: tuple[tuple[str, Share], ...]
    rest: float = 0.0
    """Share of the other groups together."""
    unclassified: tuple[Share, ...] = ()


class ProfileSummary(Fact, kind="profile-summary"):
    """Where the time goes: the largest shares of each profile of an input."""

    profiles: tuple[LargestShares, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorFigure:
    """A measured figure in a text of the author: a comparison, or a derived value with its unit."""

    evidence: Evidence
    """Its reason states why there is no figure."""
    unit: FormulaUnit | None = None
    family: str = ""
    """Family of units of the scenario."""


class AuthorText(Fact):
    """A text of the author: parts of it, and the measured figures that it refers to."""

    kind: AuthorTextKind
    parts: tuple[str | tuple[AuthorFigure, ...], ...]
    """Text of the author and figures in turn, one figure for each input."""
