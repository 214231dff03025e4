"""A search for the commit that changed a configuration. Immutable, no I/O."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.extensions.bisect import Find
from bench_framework.model.plan.benches import Bench
from bench_framework.model.plan.policies import Metric
from bench_framework.model.plan.revisions import Commit
from bench_framework.model.reasons import Reason
from bench_framework.model.result.judgement import Comparison

StepKind = Literal["ends", "commit", "confirmation"]
"""``ends``: the whole range. ``commit``: a commit between two others. ``confirmation``: the two commits
that remain, in new rounds."""
Outcome = Literal["planned", "differs", "same", "good", "bad", "skipped", "inconclusive"]
"""``good`` and ``bad`` are the sides of a ``commit``, ``differs`` and ``same`` are for the other kinds."""
Status = Literal["found", "range", "unconfirmed", "unchanged", "inconclusive", "unfinished"]


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A measurement of the search. Commits are numbers of `Bisection.commits`."""

    kind: StepKind
    """`ends`: the whole range; `commit`: a commit between two others; `confirmation`: the last two again."""
    lo: int
    """The good end."""
    hi: int
    """The bad end."""
    candidate: int
    """The commit between them; `hi` if only the ends are measured."""
    level: float
    """Error rate of its claims, a share of the level of the search; 0 if it claims nothing from times."""
    attempt: int = 1
    """1, or more if it was inconclusive before."""
    outcome: Outcome = "planned"
    """`good` and `bad` are the sides of a `commit`; `differs` and `same` are for the other kinds."""
    record: str = ""
    """``SCENARIO/ID``, empty if nothing was measured."""
    comparisons: tuple[Comparison, ...] = ()
    """The bad end with the good one; for a ``commit``, the candidate with the good end, and the bad end with the
    candidate. Empty if nothing was compared."""
    text: str = ""
    """The comparison of two ends in words."""
    reason: Reason | None = None
    """Reason of the comparison, or for the outcome."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """A search: its question and the steps so far.

    Attributes:
        level: probability of one or more false claims in the whole search, at most.
        commits: from the good one to the bad one.
        cell_id: the configuration in the scenario's plan, empty until the ends have been compared.
        configuration: its name.
        bench: the benchmark of it that is searched, if the scenario measures benchmarks.
    """

    schema_version: Literal[1]
    scenario: str
    find: Find
    metric: Metric
    level: float
    commits: tuple[Commit, ...]
    cell_id: str = ""
    configuration: str = ""
    bench: Bench | None = None
    steps: tuple[SearchStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer of a search.

    Attributes:
        status: ``found``: `hi` is the commit, and its predecessor is `lo`. ``range``: it is one of the
            commits after `lo` up to `hi`. ``unconfirmed``: new rounds did not show the change of `hi`.
            ``unchanged``: the ends do not differ in this direction. ``inconclusive``: they are not shown
            to differ.
        evidence: the step that compared `lo` and `hi` directly, `None` without one.
    """

    status: Status
    lo: int
    hi: int
    evidence: SearchStep | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument:
    """A search with its answer, as `bisect` prints it."""

    scenario: str
    """Name of the scenario."""
    find: Find
    """Direction of the change that is searched for."""
    metric: Metric
    """Name of the metric."""
    level: float
    """Probability of one or more false claims in the whole search, at most."""
    cell_id: str
    """Id of the configuration, as in `cells.csv`."""
    configuration: str
    """Label of the configuration."""
    commits: tuple[str, ...]
    """Ids from the good commit to the bad one."""
    status: Status
    """Result of the search."""
    commit: Commit | None
    """The commit that made the change, if it was found."""
    range: tuple[Commit, ...]
    """The last good commit, and those one of which made the change."""
    text: str | None
    """The direct comparison of the ends of `range`."""
    record: str | None
    """Its record, as ``SCENARIO/ID``."""
    steps: tuple[SearchStep, ...]
    """The measurements in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectDocument(SearchDocument):
    """The result of `bisect`."""

    exit_code: int
    """Exit code of the command."""
    branch: SearchDocument | None
    """The search of a merged branch with `--into-merges`; null if it failed, as the exit code says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDocument(SearchStep):
    """The result of `bisect --step`."""

    exit_code: int
    """Exit code of the command."""


AnyBisect = BisectDocument | StepDocument
