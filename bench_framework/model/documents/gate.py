"""The documents that `gate` prints with ``--json``, and writes into files.

They repeat fields of `Gating`, `SuitePage` and `SelfTest`, with labels and sentences in place of ids and reasons: a
published format does not change with a class.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench_framework.model.documents.comparison import ComparisonDocument
from bench_framework.model.documents.plan import DocumentVersion
from bench_framework.model.facts.builds import BuildChanges
from bench_framework.model.facts.causes import CauseEvidence
from bench_framework.model.facts.functions import FunctionChanges
from bench_framework.model.reasons import Reason
from bench_framework.model.result.decision import Decision
from bench_framework.model.result.gate import BudgetState, PairState
from bench_framework.model.result.self_test import TestOutcome, Trial
from bench_framework.model.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDocument(ComparisonDocument):
    """A gated comparison."""

    state: PairState
    """`worse` fails the gate. `accepted` is worse by an accepted change. `same-instructions` is a
    benchmark that takes longer with the same instructions, and passes. `suspicious` is worse, but was not measured
    again."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Value of each axis, without that of the revisions; empty in a file that an older version wrote."""
    text: str
    """The comparison in words; empty if a side has no value."""
    confirmation_verdict: Verdict | None
    """Verdict of the second measurement; null if it did not measure the pair."""
    confirmation_text: str | None
    """Its comparison in words."""


@dataclass(frozen=True, slots=True)
class BudgetDocument:
    """A configuration with an absolute limit."""

    variant: str
    """Label of the variant."""
    input: str
    """Label of the input; empty if the program has none."""
    metric: str
    """Name of the metric, such as `wall`."""
    state: BudgetState
    """`over`: the whole interval is above the limit. `kept`: none of it is."""
    max: float
    """The limit, in seconds, bytes or as a count."""
    value: float | None
    """Median, or the value of an exact metric; null if it is unknown."""
    lo: float | None
    """Lower end of the confidence interval of the value, at `level`; null if the rounds permit no interval."""
    hi: float | None
    """Upper end."""
    level: float
    """Confidence level of the interval; 1 for an exact metric."""
    text: str
    """The result in words."""


@dataclass(frozen=True, slots=True)
class ExplanationDocument:
    """The differences of counted runs of a configuration that is worse and of its baseline."""

    variant: str
    """Label of the variant."""
    input: str
    """Label of the input; empty if the program has none."""
    text: str
    """The differences in a sentence, or why none are known."""
    changes: FunctionChanges | None
    """Null if nothing was counted; `text` says why."""
    build: BuildChanges | None
    """Differences of the two builds. Null if their settings and packages are equal, or not known."""
    place: CauseEvidence | None
    """Parts of the difference of the time, if most of it is waiting or system time."""


@dataclass(frozen=True, slots=True)
class AcceptedEntry:
    """An entry for the file of accepted changes."""

    cell: str
    """Selection of the configuration, in the syntax of `-k`."""
    metric: str
    """Name of the metric, such as `wall`."""
    level: str
    """Largest accepted increase, such as `42%`: the upper end of the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDocument:
    """The result of a gate, also in `gate.json`."""

    schema_version: DocumentVersion
    record_id: str
    """Id of the record: the time of its start."""
    confirmation: str | None
    """Id of the record of the second measurement."""
    hosts: tuple[str, ...]
    """Hosts of the first and the second measurement; empty without a fleet, or without a second one."""
    scenario: str
    """Name of the scenario."""
    result: str = ""
    """The result in words, as in the heading of the comment and in the first line of the report; empty in a file that
    an older version wrote."""
    exit_code: int
    """Exit code of the gate, also with `--decide`."""
    reasons: tuple[Reason, ...]
    """Reasons for the exit code; empty for 0."""
    remarks: tuple[Reason, ...]
    """Remarks that do not change the exit code, such as an accepted change that has expired."""
    level: float
    """Error rate of the first measurement, such as 0.01: the largest probability that a pair of equal programs is
    judged worse. In a suite, the scenario's share of it."""
    family: int
    """Number of comparisons that share the error rate."""
    looks: int
    """Largest number of interim analyses, which share it as well."""
    rounds: int
    """Rounds of the first measurement, the largest number of any input."""
    decision: Decision | None
    """The word of `--decide`; null if nothing could be compared."""
    base: str | None
    """Id of the base's commit; null if variants are compared with the scenario's baseline."""
    head: str | None
    """Id of the head's commit; null for a working tree with uncommitted changes, or without a base."""
    pairs: tuple[PairDocument, ...]
    """The gated comparisons."""
    budgets: tuple[BudgetDocument, ...]
    """Configurations with an absolute limit."""
    explanations: tuple[ExplanationDocument, ...]
    """Differences of each configuration that is worse and of its baseline."""
    accept: tuple[AcceptedEntry, ...]
    """For each pair that is worse, the entry that accepts it; `baseline accept` writes them."""


@dataclass(frozen=True, slots=True)
class SuiteMember:
    """A scenario of a suite, and how far it was measured."""

    scenario: str
    """Name of the scenario."""
    file: str
    """The scenario file, as it was given."""
    record: str
    """Id of the record; empty without one."""
    exit_code: int | None
    """Null if it was not measured yet."""
    error: str
    """Why it failed; empty if it did not."""
    skipped: bool
    """True if a change of the repository cannot affect it."""
    seconds: float
    """Time that the suite spent on it."""
    budget_s: float | None
    """Time for its rounds; null for that of the scenario."""
    level: float
    """Its share of the error rate; 0 if it is skipped."""


@dataclass(frozen=True, slots=True)
class SuiteMemberDocument(SuiteMember):
    """A scenario of a suite."""

    result: str
    """The result in a word, such as `passed`."""
    text: str
    """Its answer without a gate, or why it failed or was skipped."""
    gate: GateDocument | None
    """Content of its `gate.json`; null without a gate."""


@dataclass(frozen=True, slots=True)
class SuiteDocument:
    """The result of a suite, also in `suite.json`."""

    schema_version: DocumentVersion
    suite_id: str
    """Id of the suite: the time of its start."""
    started_at: str
    """Time, UTC, ISO 8601."""
    command: str
    """Command that repeats it."""
    exit_code: int
    """Exit code of the suite, also with `--decide`."""
    answer: str
    """The result in a sentence."""
    decision: Decision | None
    """The word of `--decide`; null without a gate, or if nothing could be compared."""
    level: float
    """Error rate of all scenarios together."""
    comparisons: int
    """Number of comparisons that share the error rate."""
    scenarios: tuple[SuiteMemberDocument, ...]
    """Result of each scenario."""


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Gates of equal programs that failed, and a bound of their probability."""

    count: int
    """Gates that failed."""
    gates: int
    """Gates with a result."""
    at_most: float
    """Bound of the probability, at `confidence`."""


@dataclass(frozen=True, slots=True)
class Detections:
    """Gates of a slower copy that failed, and a bound of their probability."""

    count: int
    """Gates that failed."""
    gates: int
    """Gates with a result."""
    at_least: float
    """Bound of the probability, at `confidence`."""


@dataclass(frozen=True, slots=True)
class SelfTestDocument:
    """The result of `gate --self-test`, also in `self-test.json`."""

    schema_version: DocumentVersion
    scenario: str
    """Name of the scenario."""
    scenario_sha256: str
    """Digest of the scenario file."""
    only: str
    """The filter of `-k`."""
    host_id: str
    """Id of the machine, as in `env.json`."""
    exit_code: int
    """0: the gate passed the test; 1: it did not; 3 or 4: it has no result."""
    outcome: TestOutcome
    """Result of the self-test; `missed`: a gate passed a slower copy."""
    answer: str
    """The result in a sentence."""
    margin: float
    """Tolerated growth of the main metric, as a fraction."""
    level: float
    """Error rate of a gate."""
    slowdown: float
    """The slowdown that the gate must find, as a share of the program's own time."""
    confidence: float
    """Confidence of the bounds."""
    false_alarms: FalseAlarms
    """Gates of equal programs."""
    detections: Detections
    """Gates of slower copies."""
    smallest_found: float | None
    """Smallest slowdown that a gate found, as a fraction; null without one."""
    largest_missed: float | None
    """Largest slowdown that a gate did not find; null without one."""
    seconds: float
    """Duration of the self-test."""
    trials: tuple[Trial, ...]
    """The gates, in their order."""


@dataclass(frozen=True, slots=True)
class SuiteSelfTestDocument:
    """The result of `gate --self-test` of a suite, also in `suite-self-test.json`."""

    schema_version: DocumentVersion
    exit_code: int
    """The same as for one scenario."""
    outcome: TestOutcome
    """The first outcome of its scenarios in the order `failed`, `missed`, `false-alarm`, `not-judged`,
    `passed`."""
    answer: str
    """The result in a sentence."""
    confidence: float
    """Confidence of the bound."""
    false_alarms: FalseAlarms
    """Counts of suites: the n-th gates of equal programs of all scenarios are one suite."""
    seconds: float
    """Duration of the self-test."""
    self_tests: tuple[SelfTestDocument, ...]
    """Self-test of each scenario."""


AnyGate = GateDocument | SuiteDocument | SelfTestDocument | SuiteSelfTestDocument
