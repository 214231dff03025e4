"""The program under test, and what a value of an axis changes about it."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from bench_framework.scenario.document import Scalar
from bench_framework.scenario.schema.types import (
    CacheName,
    CpuList,
    Flag,
    NotList,
    Part,
    Profile,
    Text,
    ValueName,
    Variable,
    Words,
    shape,
)

BUILTIN: Final = "builtin"


class Worker(Part):
    """The program under test: a crate that is built, one in a git repository, or a program that exists."""

    crate: Text | None = None
    """`builtin` for the bundled workers, or the folder of a crate, relative to this file."""
    git: Text | None = None
    """Repository of the crate."""
    rev: Text | None = None
    """Tag, branch or commit of `git`."""
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    """A program that is not built: `{bin}` is its first word, and the whole list is the default `command`."""
    bin: Text | None = None
    """Binary target of the crate. Default: its only one."""
    package: Text | None = None
    """Package within a workspace."""
    features: list[Text] = []
    """Cargo features of every variant."""
    default_features: Flag = Field(default=True, alias="default-features")
    """`false` builds without the default features."""
    profile: Profile = "release"
    """Cargo profile, or a mapping of profile keys set on top of `release`."""
    toolchain: Text | None = None
    """Rust toolchain, such as `1.88.0` or `nightly`."""
    rustflags: Words = []
    """Compiler flags: a list, or one text split at blanks."""
    contract: Flag | None = None
    """Whether the worker speaks the worker protocol. Default: only the bundled ones."""

    @model_validator(mode="after")
    def _one_kind(self) -> Worker:
        given = [key for key in ("crate", "git", "command") if getattr(self, key) is not None]
        advice = "crate: a folder or builtin; git: a URL, with rev; command: a program that exists"
        self.demand(
            given, "BC107", "`worker` needs one of `crate`, `git` and `command`", advice=advice
        )
        message = f"`worker` takes one of `crate`, `git` and `command`, got {' and '.join(given)}"
        self.demand(len(given) == 1, "BC108", message, *given[1:2])
        self.demand(
            self.git or self.rev is None,
            "BC108",
            "`rev` needs `git`",
            "rev",
            advice="a revision of a local crate is `revision:` of an axis value",
        )
        self.demand(
            self.crate != BUILTIN or self.bin,
            "BC107",
            "`crate: builtin` needs `bin`",
            advice="bin: tally",
        )
        if self.command is not None:
            for key in sorted(self.model_fields_set - {"command", "contract"}):
                name = key.replace("_", "-")
                self.demand(
                    False,  # noqa: FBT003 -- the condition never holds here
                    "BC108",
                    f"`{name}` has no effect on a program that is not built",
                    name,
                )
        return self


def _or_nothing(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[{"const": None}, whole], description=whole.pop("description"))


class Setting(Part):
    """What one value of an axis changes, beside standing in the command as `{axis}`."""

    model_config = ConfigDict(json_schema_extra=_or_nothing)

    features: list[Text] = []
    """Cargo features added to the worker's."""
    no_default_features: Flag | None = Field(default=None, alias="no-default-features")
    """`true` builds without the default features."""
    profile: Profile | None = None
    """Cargo profile in place of the worker's, or profile keys set on top of it."""
    rustflags: Words = []
    """Compiler flags added to the worker's."""
    toolchain: Text | None = None
    """Rust toolchain in place of the worker's."""
    revision: Text | None = None
    """Revision of the crate: tag, branch or commit."""
    args: list[Text] = []
    """Arguments added at the end of the command, or where it says `{args}`."""
    env: dict[Variable, Text] = {}
    """Environment variables added to the scenario's."""
    cpus: CpuList | None = None
    """CPUs the program may run on, such as `0-3`."""
    cache: CacheName | None = None
    """The input's pages before a run: `warm`, `cold` or `unknown`."""
    label: Text | None = None
    """What readers are shown in place of the value's name."""
    about: Text = ""
    """One line about this value, shown as a note."""


def _nothing_is_empty(value: Any) -> Any:
    """``jemalloc:`` with nothing behind it is a value that changes nothing."""
    return {} if isinstance(value, Scalar) and value.is_null else value


Settings: TypeAlias = dict[
    ValueName,
    Annotated[Setting, BeforeValidator(_nothing_is_empty)],
]


class AxisTable(Part):
    """An axis with a label or a note of its own."""

    values: Annotated[
        Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
        | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
        | Annotated[NotList, Tag("<scalar>")],
        Discriminator(shape),
    ]
    """The values: a list of names, or a mapping from name to what it changes."""
    label: Text = ""
    """What readers are shown in place of the axis' name."""
    note: Text = ""
    """One line about the axis, shown under its tables."""


def _axis_form(value: Any) -> str:
    if isinstance(value, dict):
        return "<AxisTable>" if "values" in value else "<mapping>"
    return "<list>"


AxisForm: TypeAlias = Annotated[
    Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
    | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
    | Annotated[AxisTable, Tag("<AxisTable>")],
    Discriminator(_axis_form),
]


def settings_of(axis: Any) -> tuple[dict[str, Setting], str, str]:
    """Value name to what it changes, the axis' label and its note, whichever form the axis has."""
    label, note = (axis.label, axis.note) if isinstance(axis, AxisTable) else ("", "")
    values = axis.values if isinstance(axis, AxisTable) else axis
    plain = Setting()
    return (values if isinstance(values, dict) else dict.fromkeys(values, plain)), label, note
