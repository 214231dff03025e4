"""The program under test, and the settings of axis values."""

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
    """The program under test: a local crate, a crate in git, or an existing program."""

    crate: Text | None = None
    """`builtin` for the bundled workers, or the folder of a crate, relative to this file."""
    git: Text | None = None
    """URL of the crate's git repository."""
    rev: Text | None = None
    """Tag, branch or commit of `git`."""
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    """Existing program that is not built. Its first word is `{bin}`, and the whole list is the
    default `command`."""
    bin: Text | None = None
    """Binary target of the crate. Default: the only one."""
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
    """Compiler flags: a list, or one string that is split at spaces."""
    contract: Flag | None = None
    """`true`: the worker follows the worker protocol. Default: `true` for bundled workers only."""

    @model_validator(mode="after")
    def _one_kind(self) -> Worker:
        given = [key for key in ("crate", "git", "command") if getattr(self, key) is not None]
        advice = "use crate: FOLDER (or builtin), git: URL with rev, or command: [PROGRAM]"
        self.demand(
            given, "BC107", "`worker` needs one of `crate`, `git` or `command`", advice=advice
        )
        message = f"`worker` takes one of `crate`, `git` or `command`, got {' and '.join(given)}"
        self.demand(len(given) == 1, "BC108", message, *given[1:2], advice="keep one of them")
        self.demand(
            self.git or self.rev is None,
            "BC108",
            "`rev` needs `git`",
            "rev",
            advice="for a local crate, set `revision:` in an axis value",
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
                    False,  # noqa: FBT003 -- an unconditional error
                    "BC108",
                    f"`{name}` has no effect on a program that is not built",
                    name,
                    advice=f"remove `{name}`",
                )
        return self


def _or_nothing(schema: dict[str, Any]) -> None:
    whole = dict(schema)
    schema.clear()
    schema.update(anyOf=[{"const": None}, whole], description=whole.pop("description"))


class Setting(Part):
    """Settings of one axis value, in addition to replacing `{axis}` in the command."""

    model_config = ConfigDict(json_schema_extra=_or_nothing)

    features: list[Text] = []
    """Cargo features added to the worker's."""
    no_default_features: Flag | None = Field(default=None, alias="no-default-features")
    """`true` builds without the default features."""
    profile: Profile | None = None
    """Cargo profile instead of the worker's, or profile keys set on top of it."""
    rustflags: Words = []
    """Compiler flags added to the worker's."""
    toolchain: Text | None = None
    """Rust toolchain instead of the worker's."""
    revision: Text | None = None
    """Revision of the crate: tag, branch or commit."""
    args: list[Text] = []
    """Arguments inserted at `{args}` in the command, or at its end."""
    env: dict[Variable, Text] = {}
    """Environment variables added to the scenario's."""
    cpus: CpuList | None = None
    """CPUs that the program may run on, such as `0-3`."""
    cache: CacheName | None = None
    """State of the page cache before a run: `warm`, `cold` or `unknown`."""
    label: Text | None = None
    """Label of the value in reports, instead of its name."""
    about: Text = ""
    """One-line description of the value, shown as a note."""


def _nothing_is_empty(value: Any) -> Any:
    """Read a value without settings, such as ``jemalloc:``, as empty settings."""
    return {} if isinstance(value, Scalar) and value.is_null else value


Settings: TypeAlias = dict[ValueName, Annotated[Setting, BeforeValidator(_nothing_is_empty)]]


class AxisTable(Part):
    """An axis with a label or a note."""

    values: Annotated[
        Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
        | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
        | Annotated[NotList, Tag("<scalar>")],
        Discriminator(shape),
    ]
    """Values: a list of names, or a mapping from each name to its settings."""
    label: Text = ""
    """Label of the axis in reports, instead of its name."""
    note: Text = ""
    """One-line description of the axis, shown under its tables."""


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
    """Return the settings by value name, the label and the note of an axis in any form."""
    label, note = (axis.label, axis.note) if isinstance(axis, AxisTable) else ("", "")
    values = axis.values if isinstance(axis, AxisTable) else axis
    plain = Setting()
    return (values if isinstance(values, dict) else dict.fromkeys(values, plain)), label, note
