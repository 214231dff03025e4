"""The parts of a scenario that measure and judge: rounds, gate, answers, profile and metrics."""

from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import Field, WithJsonSchema, model_validator

from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import MetricDirection
from bench_framework.model.plan.declared_metrics import UNITS, InstructionPolicy
from bench_framework.model.plan.policies import AnswerKind, GatePolicy
from bench_framework.model.plan.profile import MOST_HZ, OTHER, ProfilePolicy
from bench_framework.model.plan.written import CountingTool, OnDifference, StdoutTarget, Strategy
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    MAX_ROUNDS,
    MAX_SESSIONS,
    ONE_OF,
    ByShape,
    CacheName,
    CpuList,
    Duration,
    Flag,
    Level,
    Natural,
    Part,
    PlanPart,
    RoundCount,
    SessionCount,
    Several,
    Text,
    ValueName,
    WarmupCount,
    Words,
    also_as,
    need,
    read_by,
    refuse,
    refuse_unused,
)


class _Range(Part):
    """A smallest and a largest number, or one number for both."""

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: Any) -> Any:
        return {"min": value, "max": value} if isinstance(value, Scalar) else value


class Rounds(_Range):
    """Smallest and largest number of rounds, or one number for exactly so many."""

    model_config = also_as(type="integer", minimum=1, maximum=MAX_ROUNDS)

    min: RoundCount | None = None
    """Rounds before the first interim analysis. Default 12."""
    max: RoundCount | None = None
    """Rounds after which measuring stops in any case. Default: as many as the budget allows."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        crossed = self.min is not None and self.max is not None and self.min > self.max
        refuse(crossed, "BC108.min-above-max", "min", min=self.min, max=self.max)
        return self


class Sessions(_Range):
    """Smallest and largest number of sessions, or one number for exactly so many."""

    model_config = also_as(type="integer", minimum=1, maximum=MAX_SESSIONS)

    min: SessionCount = 2
    """Sessions before the first interim analysis, at least 2."""
    max: SessionCount
    """Sessions after which measuring stops in any case."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        crossed = self.min > self.max
        refuse(crossed, "BC108.sessions-min-above-max", "min", min=self.min, max=self.max)
        refuse(self.min == 1 < self.max, "BC108.one-session-of-several", "min", max=self.max)
        return self


class Precision(Part):
    """Stopping rule: stop when all confidence intervals are narrow enough."""

    precision: Level
    """Half-width of every confidence interval of the headline, such as `1%`."""


class Measure(Part):
    """Number of rounds, order, and when measuring stops (docs/method.md)."""

    rounds: Rounds = Field(default_factory=Rounds)
    """Passes over all configurations: `{min: 12, max: 40}`, or one number for exactly so many.
    Without `max`, the budget is the limit. With `sessions`, the rounds of each session, by default 12
    to 18."""
    until: Annotated[Annotated[Literal["conclusive", "rounds"], ONE_OF] | Precision, ByShape()] = (
        "conclusive"
    )
    """`conclusive`: until every comparison is conclusive. `rounds`: exactly `max` rounds.
    `{precision: 1%}`: until the half-width of every confidence interval is at most 1 %."""
    budget: Duration | None = None
    """Wall-clock time after which no further round starts. Default: `5m` without `rounds.max`,
    otherwise none."""
    sessions: Sessions = Field(default_factory=lambda: Sessions.model_construct(min=1, max=1))
    """Number of sessions. Each one has fresh copies of programs and generated inputs and its own warm-up.
    Intervals then include the variation between sessions. `3` is the smallest useful number. With a
    range such as `{min: 2, max: 6}`, measuring ends when every comparison is conclusive."""
    every: Duration | None = None
    """Least time between the starts of two sessions, such as `30m`. Default: no pause."""
    warmup: WarmupCount = 2
    """Rounds at the start, with `sessions` of each session, that are recorded but not analysed."""
    cache: CacheName = "warm"
    """State of the page cache before a run. `warm`: the input is in memory. `cold`: it is dropped
    from memory. `unknown`: the cache is left as it is."""
    cpus: CpuList | None = None
    """CPUs that every program may run on, such as `0-3`, unless an axis value sets others."""
    timeout: Duration = 600.0
    """Timeout of one run."""
    seed: Natural | None = None
    """Seed of the random order within rounds. Default: derived from the scenario's content."""
    control: Flag = True
    """`true`: the baseline is measured a second time as an A/A control."""
    strategy: Annotated[Strategy, ONE_OF] = "fixed"
    """`fixed`: a configuration runs until its comparisons are conclusive. `race`: a variant that is
    significantly worse than another one on every input is dropped."""

    @model_validator(mode="after")
    def _looks(self) -> Self:
        fixed = self.until == "rounds"
        refuse(fixed and self.strategy == "race", "BC108.race-without-interim-analyses", "strategy")
        refuse(fixed and self.rounds.max is None, "BC108.until-without-rounds", "until")
        if self.sessions.max > 1:
            refuse(self.strategy == "race", "BC108.sessions-of-race", "sessions")
            precise = isinstance(self.until, Precision)
            refuse(precise, "BC108.sessions-until-precision", "sessions")
            refuse(self.rounds.max == 1, "BC108.session-too-short", "rounds")
            several = self.sessions.min < self.sessions.max
            refuse(fixed and several, "BC108.sessions-until-rounds", "sessions")
        alone = self.every is not None and "sessions" not in self.model_fields_set
        refuse_unused(alone, "every", FaultCode.NO_EFFECT_ALONE, "sessions")
        return self


def _known_metrics(policy: GatePolicy) -> None:
    gated = [name for name, _ in policy.margins]
    for metric in policy.require:
        refuse(
            metric not in gated,
            "BC108.metric-not-gated",
            "require",
            metric=metric,
            **scalars.similar(metric, gated),
        )


Gate: TypeAlias = Annotated[GatePolicy, PlanPart(_known_metrics)]

_DIFFERS: Final = {"type": "string", "pattern": r"^(refuse|warn|<\s*[0-9]+(\.[0-9]+)?\s*%)$"}
EDITS: Final = ("compare", "filter", "extract", "ignore", "json", "tolerance", "differs")
"""Keys that have no effect together with `check`."""


class JsonPart(Part):
    """Outputs that are compared as JSON values."""

    ignore: Several
    """Keys that are removed from every object before comparing."""


class AnswerPart(Part):
    """How the output of runs is compared, to check that they did the same work.

    One word is the value of `compare`.
    """

    model_config = also_as(enum=[*get_args(AnswerKind)])

    compare: Annotated[AnswerKind, ONE_OF] = "exact"
    """`exact`: equal bytes. `sorted-lines`: equal lines in any order. `json`: equal JSON values.
    `none`: outputs are not compared."""
    filter: Words = []
    """Command that reads the output from stdin and prints what is compared, such as `[jq, .rows]`."""
    extract: ValueName | None = None
    """Regular expression. Only its matches are compared, or their groups if it has groups."""
    ignore: Several = []
    """Regular expressions. Their matches are removed before comparing."""
    json_part: JsonPart | None = Field(default=None, alias="json")
    """`{ignore: [KEY…]}`: compare JSON values without these keys."""
    tolerance: Annotated[
        float, read_by(scalars.tolerance), WithJsonSchema({"type": ["number", "string"]})
    ] = 0.0
    """Largest relative difference of two numbers that count as equal, such as `1e-6`. The text
    around the numbers must be equal."""
    differs: Annotated[OnDifference | float, read_by(scalars.differs), WithJsonSchema(_DIFFERS)] = (
        "refuse"
    )
    """Effect of another output than the baseline's. `refuse`: the variant is not compared. `warn`:
    it is compared, with a warning. `"<0.1%"`: it is compared, with a warning, if a smaller share of
    its lines differs."""
    check: Words = []
    """Command that reads the output from stdin and decides: exit code 0 means that it is right.
    Outputs are then not compared with each other."""
    file: ValueName | None = None
    """File with the output to compare, instead of stdout."""
    stdout: Annotated[StdoutTarget, ONE_OF] = "file"
    """Destination of the program's stdout during timed runs."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [key for key in (*EDITS, "check") if self.is_given(key)]
        for key in given:
            unused = key != "compare" and self.compare == "none"
            refuse_unused(unused, key, FaultCode.NO_EFFECT_WITH, "compare: none")
            unused = key != "check" and "check" in given
            refuse_unused(unused, key, FaultCode.NO_EFFECT_OF_CHECK)
            lost = key != "compare" and self.stdout != "file" and self.file is None
            refuse_unused(lost, key, FaultCode.NO_EFFECT_WITH, f"stdout: {self.stdout}")
        wrong = self.json_part is not None and "compare" in given and self.compare != "json"
        refuse(wrong, "BC108.json-contradicts-compare", "json", compare=self.compare)
        lines = isinstance(self.differs, float) and self.kind == "json"
        refuse(lines, "BC108.differs-counts-lines", "differs")
        return self

    def is_given(self, key: str) -> bool:
        """Return whether the scenario sets one of `EDITS` or `check`, to another value than none."""
        name = "json_part" if key == "json" else key
        return name in self.model_fields_set and getattr(self, name) not in ([], None, "refuse")

    @property
    def kind(self) -> AnswerKind:
        """Return the kind of comparison."""
        return "json" if self.json_part is not None else self.compare


def _reserved_bucket(policy: ProfilePolicy) -> None:
    hz = policy.frequency
    refuse(hz > MOST_HZ, "BC108.frequency-too-high", "frequency", hz=hz, most_hz=MOST_HZ)
    refuse(OTHER in policy.buckets, "BC108.reserved-bucket", "buckets", OTHER)


Profiling: TypeAlias = Annotated[ProfilePolicy, PlanPart(_reserved_bucket)]

_COUNTS: Final = InstructionPolicy()
COUNTER_KEYS: Final = ("runs", "timeout", "tool", "cache-sim")
"""Keys that only `instructions` takes."""
SOURCE_KEYS: Final = ("json", "regex", "unit", "direction", "about")
"""Keys that every other metric takes."""


class MetricPart(Part):
    """A number that the program prints or reports.

    The name `instructions` sets how instructions are counted.
    """

    source: Annotated[Literal["stdout", "answer", "worker"] | None, ONE_OF] = Field(
        default=None, alias="from"
    )
    """Source of the number. `stdout`: the program's stdout. `answer`: the file named by
    `answer.file`. `worker`: what a worker reports by the worker protocol."""
    json_path: Text | None = Field(default=None, alias="json")
    """Path of the number in JSON: `latency.p99`, `rows[0].value`. The whole output or its last line
    must be JSON."""
    regex: Text | None = None
    """Regular expression with one group that matches the number. If it matches several times, all
    matches must be equal."""
    unit: Annotated[
        str, read_by(scalars.choice(*UNITS)), Field(json_schema_extra={"enum": list(UNITS)})
    ] = "count"
    """Unit of the printed number. Tables convert it to seconds or bytes."""
    direction: Annotated[MetricDirection, ONE_OF] = "none"
    """Better direction. `none`: the metric is shown and gets no verdict."""
    about: Text = ""
    """Description of the metric in reports."""
    runs: Annotated[int, read_by(scalars.whole(2)), Field(ge=2)] = _COUNTS.runs
    """Only for `instructions`: counted runs of each configuration. Two or more show whether the
    count varies."""
    timeout: Duration = _COUNTS.timeout_s
    """Only for `instructions`: timeout of one counted run, which is 10 to 50 times slower."""
    tool: Annotated[CountingTool, ONE_OF] = _COUNTS.tool
    """Only for `instructions`. `valgrind` counts on every machine; `perf` needs access to the
    processor's counters."""
    cache_sim: Flag = Field(default=_COUNTS.cache_sim, alias="cache-sim")
    """Only for `instructions`: simulate the caches, too, which estimates their misses and the cycles.
    Judged or gated estimates switch it on. Counting then takes two to three times as long."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.source is None:
            return self
        for key in COUNTER_KEYS:
            unused = key.replace("-", "_") in self.model_fields_set
            refuse_unused(unused, key, FaultCode.EFFECT_ONLY_FOR, "instructions")
        both = self.json_path is not None and self.regex is not None
        refuse(both, "BC108.json-and-regex", "regex")
        located = self.json_path is not None or self.regex is not None or self.source == "worker"
        need(located, "BC107.metric-without-place")
        reported = self.source == "worker" and self.regex is not None
        refuse(reported, "BC108.regex-of-worker", "regex")
        return self
