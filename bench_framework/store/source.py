"""The data of a record from which its tables are derived, and the columns that depend on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench_framework.model.metrics import column_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Cell, Input, Plan, Variant
from bench_framework.model.record.description import announced_metrics
from bench_framework.model.record.run import Build, PreparedInput, Receipt
from bench_framework.store.columns import CsvColumn
from bench_framework.store.journal import Contents
from bench_framework.store.kinds import RunCounts
from bench_framework.text.reasons import phrase_of

if TYPE_CHECKING:
    from bench_framework.model.result.judgement import CellState, Judgement


@dataclass(frozen=True)
class Source:
    """The data from which the tables are derived."""

    plan: Plan
    contents: Contents
    judgement: Judgement | None = None

    @cached_property
    def cells(self) -> dict[str, Configuration]:
        """Each cell by id, in plan order."""
        builds = self.contents.builds_by_id
        prepared = {item.input_id: item for item in self.contents.inputs}
        states = {s.cell_id: s for s in self.judgement.states} if self.judgement else {}
        figures = self.contents.figures
        sizes = {(a.name, v.name): v.size_bytes for a in self.plan.axes for v in a.values}
        cells = {}
        for cell in self.plan.cells:
            variant, item = self.plan.variant(cell.variant_id), self.plan.input(cell.input_id)
            build = builds.get(self.plan.build_id(cell))
            values = dict((*variant.values, *item.values))
            cells[cell.id] = Configuration(
                self,
                cell,
                variant,
                item,
                _binary(variant.build, build),
                prepared.get(item.id),
                states.get(cell.id),
                figures.counts(cell.id) if figures else None,
                announced_columns(build, self.plan.metrics),
                values,
                {axis: sizes.get((axis, value)) for axis, value in values.items()},
            )
        return cells

    @property
    def builds(self) -> list[dict[str, Any]]:
        """Each build, successful or failed."""
        specs = {spec.id: spec for spec in self.plan.builds}
        labels: dict[str, list[str]] = {}
        for variant in self.plan.variants:
            for spec in self.plan.programs(variant.build) if variant.build is not None else ():
                labels.setdefault(spec.id, []).append(variant.label)
        users = {b.id: ";".join(labels.get(b.id, ())) for b in self.contents.builds}
        return [
            {**_binary(specs.get(b.id), b), "source": self, "variants": users[b.id]}
            for b in self.contents.builds
        ]

    @property
    def receipts(self) -> Iterable[Receipt]:
        """The reports of the workers."""
        return (receipt for block in self.contents.blocks for receipt in block.receipts)

    @property
    def axis_columns(self) -> Iterable[CsvColumn]:
        """``axis_NAME`` columns. Sizes are in bytes, with the text in ``axis_NAME_label``."""
        for axis in self.plan.axes:
            name, about, path = (
                f"axis_{axis.name}",
                phrase_of(PhraseCode.OF_AXIS, axis.name),
                ("values", axis.name),
            )
            if axis.values and all(value.size_bytes is not None for value in axis.values):
                size = ("at", "sizes", axis.name)
                yield CsvColumn(
                    name, "integer", phrase_of(PhraseCode.IN_BYTES, about), size, unit="bytes"
                )
                name, about = f"{name}_label", phrase_of(PhraseCode.AS_WRITTEN, about)
            yield CsvColumn(name, "string", about, ("at", *path))

    def effective_columns(self, *path: str) -> tuple[CsvColumn, ...]:
        """Return ``effective_NAME`` columns: axes in order, then other names of workers."""
        axes = [axis.name for axis in self.plan.axes]
        others = {name for receipt in self.receipts for name in receipt.effective}
        return effective_columns((*axes, *sorted(others.difference(axes))), *path)


def _binary(spec: BuildSpec | None, build: Build | None) -> dict[str, Any]:
    """Return the data of a build with its specification. Either may be missing."""
    description = (build and build.describe) or {}
    flags = spec.rustflags if spec else ()
    commands = spec.by_commands if spec else None
    cargo = spec if commands is None else None
    keys = (cargo.profile, *(f"{k}={v}" for k, v in cargo.profile_keys)) if cargo else ()
    return {
        "spec": spec,
        "build": build,
        "crate": spec and (spec.git or spec.registry or spec.crate),
        "features": ";".join(spec.features if spec else ()),
        "profile": ";".join(keys),
        "rustflags": ";".join(flags),
        "target_cpu": next((f.split("target-cpu=")[1] for f in flags if "target-cpu=" in f), None),
        "commands": " && ".join(commands.lines) if commands else None,
        "tools": "; ".join(line for _, line in build.tools) if build and build.tools else None,
        "worker": _name_version(description),
        "allocator": f"{build.preload}, preloaded"
        if build is not None and build.preload
        else _name_version(description.get("allocator")),
    }


def _name_version(description: Any) -> str | None:
    if not isinstance(description, dict) or "name" not in description:
        return None
    name, version = str(description["name"]), description.get("version")
    return f"{name} {version}" if version else name


@dataclass(frozen=True, slots=True)
class Configuration:
    """A cell with its variant, input and build. What is missing is `None`."""

    source: Source
    cell: Cell
    variant: Variant
    input: Input
    binary: dict[str, Any]
    prepared: PreparedInput | None
    state: CellState | None
    counts: RunCounts | None
    """Numbers of runs of a record without rounds."""
    announced: tuple[CsvColumn, ...]
    """Columns of the metrics that the worker announced."""
    values: dict[str, str]
    """Name of the value of each axis."""
    sizes: dict[str, int | None]
    """Size of the value of each axis in bytes, if the value is a size."""

    @property
    def label(self) -> str:
        """Label of the variant, or of the A/A control."""
        return self.cell.label if self.cell.role.value == "control" else self.variant.label

    @property
    def env_set(self) -> str:
        """Environment variables that the scenario sets, sorted, joined by semicolons."""
        return ";".join(sorted(f"{key}={value}" for key, value in self.cell.env))


def effective_columns(names: Iterable[str], *path: str) -> tuple[CsvColumn, ...]:
    """Return ``effective_NAME`` columns, the actual values that the worker reported."""
    paths = {name: (*path, name) for name in names}
    return tuple(
        CsvColumn(
            f"effective_{name}", "string", phrase_of(PhraseCode.ACTUAL_VALUE, name), place, place
        )
        for name, place in paths.items()
    )


def phase_columns(names: Iterable[str]) -> tuple[CsvColumn, ...]:
    """Return the column ``w_PHASE_s`` of each phase of the workers."""
    columns = []
    for name in names:
        column, path = f"w_{name}_s", ("receipt", "phases_s", name)
        about = phrase_of(PhraseCode.OF_PHASE, name)
        columns.append(CsvColumn(column, "number", about, ("worker", column), path, unit="s"))
    return tuple(columns)


def announced_columns(
    build: Build | None, declared: Iterable[DeclaredMetric]
) -> tuple[CsvColumn, ...]:
    """Return a column such as ``w_records`` of each undeclared metric that a worker announced."""
    names = {metric.name for metric in declared}
    columns = []
    for metric in announced_metrics(build):
        name, unit = str(metric["name"]), str(metric.get("unit", ""))
        if name not in names:
            column = column_of(name, unit)
            about = str(metric.get("about") or phrase_of(PhraseCode.OF_METRIC, name))
            path = ("receipt", "metrics", name)
            columns.append(CsvColumn(column, "number", about, ("worker", column), path, unit=unit))
    return tuple(columns)


def declared_columns(
    declared: Iterable[DeclaredMetric], *, median: bool = False
) -> tuple[CsvColumn, ...]:
    """Return the column ``w_NAME_UNIT`` of each declared metric: values of runs, or medians."""
    columns = []
    for metric in declared:
        name, about = metric.name, metric.about or phrase_of(PhraseCode.OF_METRIC, metric.name)
        path = ("receipt", "metrics", name) if metric.source == "worker" else ("printed", name)
        if median:
            path, about = ("summaries", name, "median"), phrase_of(PhraseCode.MEDIAN_OF, about)
        column = column_of(name, metric.unit)
        columns.append(CsvColumn(column, "number", about, path, path, unit=metric.unit))
    return tuple(columns)
