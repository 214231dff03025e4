"""The documents that `gate` prints with ``--json``, and writes into files.

They repeat fields of `Gating`, `SuitePage` and `SelfTest`, with labels and sentences in place of ids and reasons: a
published format does not change with a class.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from bench_framework.model.facts.builds import BuildChanges
from bench_framework.model.facts.causes import CauseEvidence
from bench_framework.model.facts.functions import FunctionChanges
from bench_framework.model.result.decision import Decision
from bench_framework.model.result.gate import BudgetState, PairState
from bench_framework.model.result.self_test import TestOutcome, Trial
from bench_framework.model.verdict import Verdict

_INFINITE: Final = {"ser_json_inf_nan": "strings", "use_attribute_docstrings": True}
"""Configuration of rows with intervals, whose infinite bounds are texts, as in `Interval`."""


@dataclass(frozen=True, slots=True)
class PairDocument:
    """A gated comparison."""

    variant: str
    """Label of the candidate; with two revisions, the head's."""
    input: str
    """Label of the input; `no input` if the program has none."""
    metric: str
    """Name of the metric, such as `wall`."""
    state: PairState
    """`worse` fails the gate. `accepted` is worse by an accepted change. `suspicious` is worse, but was not measured
    again."""
    why: str
    """Reasons for the state, in words; empty without one."""
    margin: float
    """Tolerated growth, as a fraction."""
    verdict: Verdict
    ratio: float | None
    """The candidate's value ÷ the baseline's; null without an estimate."""
    lo: float | None
    """Lower end of the confidence interval of the ratio, at `level`."""
    hi: float | None
    """Upper end."""
    mde: float | None
    """Smallest difference that could be detected, as a fraction."""
    text: str
    """The comparison in words; empty if a side has no value."""
    confirmation_verdict: Verdict | None
    """Verdict of the second measurement; null if it did not measure the pair."""
    confirmation_text: str | None
    """Its comparison in words."""
    level: float | None = None
    """Confidence level of the interval; 1 for an exact metric."""
    __pydantic_config__: ClassVar = _INFINITE


@dataclass(frozen=True, slots=True)
class BudgetDocument:
    """A configuration with an absolute limit."""

    variant: str
    """Label of the variant."""
    input: str
    """Label of the input; `no input` if the program has none."""
    metric: str
    """Name of the metric, such as `wall`."""
    state: BudgetState
    """`over`: the whole interval is above the limit. `kept`: none of it is."""
    max: float
    """The limit, in seconds, bytes or as a count."""
    value: float | None
    """Median, or the value of an exact metric; null if it is unknown."""
    lo: float | None
    """Lower end of the confidence interval of the value, at `level`."""
    hi: float | None
    """Upper end."""
    level: float
    """Confidence level of the interval; 1 for an exact metric."""
    text: str
    """The result in words."""
    __pydantic_config__: ClassVar = _INFINITE


@dataclass(frozen=True, slots=True)
class ExplanationDocument:
    """The differences of counted runs of a configuration that is worse and of its baseline."""

    variant: str
    input: str
    text: str
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
    """Largest accepted increase, such as `42%`."""


@dataclass(frozen=True, slots=True)
class GateDocument:
    """The result of a gate, also in `gate.json`."""

    schema_version: Literal[1]
    record_id: str
    """Id of the record: the time of its start."""
    confirmation: str | None
    """Id of the record of the second measurement."""
    hosts: tuple[str, ...]
    """Hosts of the first and the second measurement; empty without a fleet, or without a second one."""
    scenario: str
    """Name of the scenario."""
    exit_code: int
    """Exit code of the gate, also with `--decide`."""
    reasons: tuple[str, ...]
    """Reasons for the exit code, in words; empty for 0."""
    remarks: tuple[str, ...]
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
    """Id of the head's commit; null for the working tree, or without a base."""
    pairs: tuple[PairDocument, ...]
    """The gated comparisons."""
    budgets: tuple[BudgetDocument, ...]
    """Configurations with an absolute limit."""
    explanations: tuple[ExplanationDocument, ...]
    """Differences of each configuration that is worse and of its baseline."""
    accept: tuple[AcceptedEntry, ...]
    """For each pair that is worse, the entry that accepts it; `baseline accept` writes them."""


@dataclass(frozen=True, slots=True)
class SuiteMemberDocument:
    """A scenario of a suite."""

    scenario: str
    file: str
    record: str
    exit_code: int | None
    """Null if it was not measured yet."""
    error: str
    skipped: bool
    seconds: float
    budget_s: float | None
    level: float
    result: str
    text: str
    gate: GateDocument | None


@dataclass(frozen=True, slots=True)
class SuiteDocument:
    """The result of a suite, also in `suite.json`."""

    schema_version: Literal[1]
    suite_id: str
    started_at: str
    command: str
    exit_code: int
    answer: str
    decision: Decision | None
    """The word of `--decide`; null without a gate, or if nothing could be compared."""
    level: float
    comparisons: int
    scenarios: tuple[SuiteMemberDocument, ...]


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Gates of equal programs that failed, and a bound of their probability."""

    count: int
    gates: int
    at_most: float


@dataclass(frozen=True, slots=True)
class Detections:
    """Gates of a slower copy that failed, and a bound of their probability."""

    count: int
    gates: int
    at_least: float


@dataclass(frozen=True, slots=True)
class SelfTestDocument:
    """The result of `gate --self-test`, also in `self-test.json`."""

    schema_version: Literal[1]
    scenario: str
    scenario_sha256: str
    only: str
    """The filter of `-k`."""
    host_id: str
    """Id of the machine, as in `env.json`."""
    exit_code: int
    outcome: TestOutcome
    answer: str
    margin: float
    level: float
    slowdown: float
    """The slowdown that the gate must find, as a share of the program's own time."""
    confidence: float
    """Confidence of the bounds."""
    false_alarms: FalseAlarms
    detections: Detections
    smallest_found: float | None
    largest_missed: float | None
    seconds: float
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class SuiteSelfTestDocument:
    """The result of `gate --self-test` of a suite, also in `suite-self-test.json`."""

    schema_version: Literal[1]
    exit_code: int
    outcome: TestOutcome
    answer: str
    confidence: float
    """Confidence of the bound."""
    false_alarms: FalseAlarms
    """Counts of suites: the n-th gates of equal programs of all scenarios are one suite."""
    seconds: float
    self_tests: tuple[SelfTestDocument, ...]


AnyGate = GateDocument | SuiteDocument | SelfTestDocument | SuiteSelfTestDocument
