"""The parts of a scenario that declare: input, experiments, rules, contrasts, notes and claims."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any, Final, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.declarations import DerivedRow, Experiment, Takeaway
from bench_framework.model.plan.policies import HostPolicy
from bench_framework.model.plan.published import PublishedClaim, TestKind
from bench_framework.scenario import scalars
from bench_framework.scenario.schema.types import (
    CHECKS,
    SCALAR,
    SCALARS,
    Arguments,
    Part,
    PlanPart,
    Several,
    Text,
    ValueName,
    alone,
    keys,
    need,
    read_by,
    refuse,
    refuse_unused,
)

DATASETS: Final = (
    *("prose", "text", "cjk", "no-spaces", "crlf", "long-line"),
    *("sessions", "sessions-small", "sessions-large", "sessions-short-lines"),
    *("sessions-long-lines", "sessions-cache-tokens"),
)
INPUT_KINDS: Final = ("dataset", "file", "folder", "files", "command", "value")
"""Keys of `input` of which exactly one is given."""
INPUT_NAMES: Final = ("dataset", "size", "seed", "file", "folder")
"""Keys of `input` that are also placeholders."""


class InputPart(Part):
    """Input of the program. Every key may contain `{axis}`, which makes that axis an input axis."""

    dataset: Text | None = None
    """Generated dataset. Texts: prose (or text), cjk, no-spaces, crlf, long-line. Folders of JSONL
    sessions: sessions, sessions-small, sessions-large, sessions-short-lines,
    sessions-long-lines, sessions-cache-tokens."""
    size: Text | None = None
    """Size of the generated dataset, with its unit: `10MiB`, `200MB`."""
    seed: Text = "42"
    """Seed of the generator: a whole number."""
    file: ValueName | None = None
    """Your own input file, relative to this file."""
    folder: ValueName | None = None
    """Your own folder of files, relative to this file. `{input}` is its path."""
    files: Annotated[list[ValueName], Field(min_length=1)] | None = None
    """Your own files: paths and patterns such as `src/**/*.rs`, relative to this file. The argument
    `{input}` becomes one argument per file."""
    command: Arguments | None = None
    """Command that generates the input: it prints it, or writes the file `{output}`. The result is
    kept until the command, its program, or a file among its arguments changes."""
    value: Text | None = None
    """An argument in place of data, such as the number of elements that the program generates. `{input}` is this
    text."""
    max_size: Text = Field(default="16GiB", alias="max-size")
    """Largest size of the result of `command`; a larger one is an error."""
    sha256: Text | None = None
    """Expected SHA-256 of the input, 64 hex digits. Another one is an error before measuring."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [key for key in INPUT_KINDS if getattr(self, key)]
        kinds = "`, `".join(INPUT_KINDS[:-1]) + f"` or `{INPUT_KINDS[-1]}"
        need(given, "BC107.input-without-kind", kinds=kinds)
        refuse(len(given) > 1, "BC108.several-inputs", *given[1:2], given="` and `".join(given[:2]))
        need(not self.dataset or self.size, "BC107.dataset-without-size")
        needs = {"size": "dataset", "seed": "dataset", "max_size": "command"}
        for key, kind in needs.items():
            unused = key in self.model_fields_set and given[0] != kind
            refuse_unused(unused, key.replace("_", "-"), FaultCode.NO_EFFECT_WITH, given[0])
        pinned = self.sha256 is not None and self.dataset
        refuse_unused(pinned, "sha256", FaultCode.NO_EFFECT_OF_SEED)
        without_data = self.sha256 is not None and self.value is not None
        refuse_unused(without_data, "sha256", FaultCode.NO_EFFECT_WITH, "value")
        return self

    def texts(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield every text that may contain placeholders, with its path within `input`."""
        for key, (name, _) in keys(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, list):
                yield from (((key, index), text) for index, text in enumerate(value))
            elif value is not None:
                yield (key,), value


def _one_change(part: Experiment, given: Collection[str]) -> Experiment:
    count = len(part.change)
    refuse(count > 1, "BC108.several-changes", "change", name=part.name, count=count)
    for key in ("at", "expect", "metric", "phases", "counters"):
        unused = key in given and not part.hypothesis
        refuse(unused, "BC108.key-without-hypothesis", key, key=key)
    decided = part.at and part.decision != "open"
    refuse(decided, "BC108.decision-without-change", "decision")
    return part


Derived: TypeAlias = Annotated[DerivedRow, PlanPart(also=SCALAR), alone("formula")]
TakeawayPart: TypeAlias = Annotated[Takeaway, PlanPart(also=SCALAR), alone("text")]


def _one_kind_of_hosts(policy: HostPolicy) -> None:
    given = [key for key, (name, _) in keys(HostPolicy).items() if getattr(policy, name)]
    need(given or policy.everyone, "BC107.hosts-without-key")
    both = "` and `".join(given[:2])
    refuse(len(given) > 1, "BC108.several-kinds-of-hosts", *given[1:2], keys=both)


Hosts: TypeAlias = Annotated[
    HostPolicy, PlanPart(_one_kind_of_hosts, also={"const": "all"}), read_by(scalars.hosts)
]


class DescribePart(Part):
    """A description of the variants that have these axis values."""

    variant: dict[Text, Text]
    """Axis values. The entry describes every variant that has all of them."""
    label: Text | None = None
    """Label of the variant in reports, instead of the names of its values. A line of a figure has
    room for 22 characters."""
    text: Text = ""
    """Description of the variant."""


def _rows(value: Any) -> Any:
    """Return one command, or a list of commands, as a list of commands."""
    if isinstance(value, list) and not any(isinstance(item, list) for item in value) and value:
        return [value]
    return value


BECAUSE: Final = "because"
"""Key of an `exclude` rule for its reason. It cannot be the name of an axis."""
_RULE = {"type": "object", "additionalProperties": SCALARS, "minProperties": 1}
Rules: TypeAlias = Annotated[
    list[Annotated[dict[Text, Several], Field(min_length=1)]],
    read_by(scalars.mappings),
    WithJsonSchema({"anyOf": [_RULE, {"type": "array", "items": _RULE}]}),
]
_LISTS = WithJsonSchema({"type": "array", "items": SCALARS})
Commands: TypeAlias = Annotated[list[Arguments], BeforeValidator(_rows), _LISTS]
NameLists: TypeAlias = Annotated[
    list[Annotated[list[Text], Field(min_length=2)]], BeforeValidator(_rows), _LISTS
]
_VALUES = {"type": "object", "additionalProperties": SCALAR}
Baselines: TypeAlias = Annotated[
    list[dict[Text, Text]],
    read_by(scalars.mappings),
    WithJsonSchema({"anyOf": [_VALUES, {"type": "array", "items": _VALUES, "minItems": 1}]}),
]

TESTS: Final[tuple[TestKind, ...]] = get_args(TestKind)
"""Keys of which each claim has one."""


def _one_test(claim: PublishedClaim, given: Collection[str]) -> PublishedClaim:
    tests = [key for key in TESTS if getattr(claim, key.replace("-", "_")) is not None]
    need(tests, "BC107.claim-without-test", keys=", ".join(f"`{key}`" for key in TESTS))
    last = tests[-1]
    refuse(len(tests) > 1, "BC108.several-tests", last, first=tests[0], last=last)
    need(claim.figure or claim.not_testable is not None, "BC107.claim-without-figure")
    users = {"input": ("contrast", "variant", "derived"), "metric": ("variant", "scaling")}
    for key, takes in users.items():
        unused = key in given and tests[0] not in takes
        refuse_unused(unused, key, FaultCode.NO_EFFECT_WITH, tests[0])
    name = claim.contrast or claim.derived or claim.not_testable or ""
    return replace(claim, test=tests[0], name=name)


CHECKS.update({Experiment: _one_change, PublishedClaim: _one_test})
