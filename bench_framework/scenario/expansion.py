"""Variants, inputs and cells of a scenario, with every word filled in."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bench_framework.model.plan import (
    CONTROL_LABEL,
    BuildSpec,
    Cell,
    Dataset,
    Experiment,
    Hypothesis,
    Input,
    NamedCell,
    Role,
    Values,
    Variant,
    Word,
    stable_id,
)
from bench_framework.scenario import bundled, template
from bench_framework.scenario.axes import baseline_values, is_about, labels_of, named_values
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.scenario.schema.worker import BUILTIN
from bench_framework.units import is_size, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.scenario.axes import AxisView
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.matrix import Matrix
    from bench_framework.scenario.schema.parts import ExperimentPart
    from bench_framework.scenario.schema.worker import Setting

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Made:
    """A variant with what its cells need."""

    variant: Variant
    values: Mapping[str, str]
    """Axis values and fixed keys, the experiment's change among them."""
    settings: tuple[Setting, ...]
    change: tuple[str, str] | None
    """The experiment's."""


class Expansion:
    """Everything that a plan is put together from. The scenario's names and values have been checked."""

    def __init__(self, scenario: Scenario, matrix: Matrix) -> None:
        self.scenario = scenario
        self.matrix = matrix
        self.axes = matrix.axes
        self._kept = set(matrix.kept)
        self.by_name = {axis.name: axis for axis in matrix.axes}
        self.command = bundled.command_of(scenario)
        self.bin = bin_name(scenario)
        first = scenario.spec.baseline[0] if scenario.spec.baseline else {}
        chosen = tuple((baseline_values(self.axes, first) or {}).items())
        parts = unique([*(matrix.variant_part(values) for values in matrix.kept), chosen])
        self._first = dict(chosen)
        labels = labels_of(parts, self.axes, scenario.spec, self._first)
        self.made = {values: self._make(values, labels[values]) for values in parts}
        self.baseline = self.made[chosen].variant
        self.further_baselines = [
            self.made[values].variant
            for given in scenario.spec.baseline[1:]
            if (values := tuple((baseline_values(self.axes, given) or {}).items())) in self.made
        ]
        self.inputs = self._inputs()
        self.experiments: list[Experiment] = []
        self.experiment_makes: dict[str, Made] = {}
        self.hypotheses: list[Hypothesis] = []
        for part in scenario.spec.experiments:
            self._add_experiment(part, set(labels.values()))
        self.anchor_made = self._make_anchor(set(labels.values()))
        self.anchor = self.anchor_made.variant if self.anchor_made is not None else None

    def _make_anchor(self, taken: set[str]) -> Made | None:
        """The variant that stays; one that the matrix measures anyway serves as it is."""
        part = self.scenario.spec.anchor
        if part is None:
            return None
        values = named_values(self.axes, self.scenario.spec.baseline, part.variant or {})
        label = f"anchor {part.rev}" if part.rev else "anchor"
        own = self._make(values, label if label not in taken else f"{label} (anchor)")
        if part.rev is None or own.variant.build is None:
            return self.made.get(values, own)
        build = replace(own.variant.build, revision=part.rev)
        if build == self.baseline.build:
            return self.made[self.baseline.values]
        return replace(own, variant=replace(own.variant, build=build, anchor=part.rev, describe=""))

    def _make(self, values: Values, label: str, experiment: ExperimentPart | None = None) -> Made:
        chosen = {
            **self.scenario.spec.fixed,
            **dict(values),
            **(experiment.change if experiment else {}),
        }
        settings = tuple(self.by_name[name].settings[value] for name, value in values)
        # What departs from the baseline in one thing is told by that thing: the rest stands beside the baseline.
        whole = experiment is None and (
            self.scenario.spec.design == "full" or dict(values) == self._first
        )
        about = [
            setting.about
            for (axis, value), setting in zip(values, settings, strict=True)
            if setting.about and (whole or self._first.get(axis) != value)
        ]
        about += [
            part.text
            for part in self.scenario.spec.describe
            if experiment is None and part.text and is_about(part, values)
        ]
        name = experiment.name if experiment else None
        variant = Variant(label, values, self._build(settings), "; ".join(about), name)
        return Made(
            variant, chosen, settings, next(iter(experiment.change.items())) if experiment else None
        )

    def _build(self, settings: Sequence[Setting]) -> BuildSpec | None:
        worker = self.scenario.spec.worker
        if worker.command is not None:
            return None
        profile, keys = _profile("release", {}, worker.profile)
        default, toolchain, revision = worker.default_features, worker.toolchain, worker.rev
        features, flags = set(worker.features), list(worker.rustflags)
        for setting in settings:
            profile, keys = _profile(profile, keys, setting.profile)
            default = default and not setting.no_default_features
            toolchain, revision = setting.toolchain or toolchain, setting.revision or revision
            features |= set(setting.features)
            flags += setting.rustflags
        crate = worker.crate or ""
        return BuildSpec(
            crate=crate if crate in {"", BUILTIN} else self.scenario.resolve(crate),
            bin=self.bin,
            git=worker.git,
            package=worker.package,
            features=tuple(sorted(features)),
            default_features=default,
            profile=profile,
            profile_keys=tuple(sorted(keys.items())),
            rustflags=tuple(flags),
            toolchain=toolchain,
            revision=revision,
        )

    def _inputs(self) -> dict[Values, tuple[Input, Mapping[str, str]]]:
        found: dict[Values, tuple[Input, Mapping[str, str]]] = {}
        for values in unique(self.matrix.input_part(values) for values in self.matrix.kept):
            made, texts = _input(self.scenario, values, self.by_name)
            found[values] = (made, texts)
        return found

    def _add_experiment(self, part: ExperimentPart, taken: set[str]) -> None:
        ((key, value),) = part.change.items()
        start = named_values(self.axes, self.scenario.spec.baseline, part.at)
        changed = tuple((axis, value if axis == key else old) for axis, old in start)
        variant_id = ""
        if key in self.by_name and changed in self.made:
            variant_id = self.made[changed].variant.id
        elif not part.at:
            free = part.name not in taken and part.name != CONTROL_LABEL
            label = part.name if free else f"{part.name} (experiment)"
            taken.add(label)
            self.experiment_makes[part.name] = self._make(changed, label, part)
            variant_id = self.experiment_makes[part.name].variant.id
        if not part.at:
            change = ((key, value),)
            self.experiments.append(
                Experiment(part.name, variant_id, change, part.why, part.decision)
            )
        if part.hypothesis:
            before = self.scenario.spec.fixed.get(key) or dict(start).get(key, "")
            reference_id = self.made[start].variant.id if start in self.made else ""
            change_text = f"{key}: {before} → {value}"
            self.hypotheses.append(
                Hypothesis(
                    part.hypothesis,
                    change_text,
                    variant_id,
                    reference_id,
                    part.expect,
                    part.metric or "",
                )
            )

    def pairs(self) -> list[tuple[Variant, Input]]:
        """What is measured, input by input: variants in the order of the matrix, then the experiments."""
        kept = self._kept
        found: list[tuple[Variant, Input]] = []
        for given_values, (given, _) in self.inputs.items():
            for values, made in self.made.items():
                if self._whole(values, given_values) in kept:
                    found.append((made.variant, given))
            if self._whole(self.baseline.values, given_values) in kept:
                # An experiment is no combination of the matrix: it is measured wherever the baseline is.
                found += [(made.variant, given) for made in self.experiment_makes.values()]
            if self.anchor is not None and (self.anchor, given) not in found:
                found.append((self.anchor, given))
        return found

    def _whole(self, variant: Values, given: Values) -> Values:
        chosen = {**dict(variant), **dict(given)}
        return tuple((axis.name, chosen[axis.name]) for axis in self.axes)

    def values_of(self, variant: Variant, given: Input) -> Values:
        """The combination of a cell, in the order of the axes."""
        return self._whole(variant.values, given.values)

    def made_of(self, variant: Variant) -> Made:
        """A variant with what its cells need."""
        if self.anchor_made is not None and variant == self.anchor:
            return self.anchor_made
        return (
            self.made[variant.values]
            if variant.experiment is None
            else self.experiment_makes[variant.experiment]
        )

    def cells(self, pairs: Iterable[tuple[Variant, Input]]) -> Iterable[Cell]:
        """The cells, the control arm last on each input that has the baseline."""
        control: Cell | None = None
        input_id = None
        for variant, given in pairs:
            if given.id != input_id:
                if control is not None:
                    yield control
                control, input_id = None, given.id
            role = self._role(variant, given)
            yield self.cell(variant, given, role, variant.label)
            if role is Role.BASELINE and self.scenario.spec.measure.control:
                control = self.cell(variant, given, Role.CONTROL, CONTROL_LABEL)
        if control is not None:
            yield control

    def _role(self, variant: Variant, given: Input) -> Role:
        if variant == self.anchor and (
            variant.anchor or self.values_of(variant, given) not in self._kept
        ):
            return Role.ANCHOR
        if variant == self.baseline:
            return Role.BASELINE
        own = dict(variant.values).items()
        bound = variant.experiment is None and any(
            given.items() <= own for given in self.scenario.spec.bounds
        )
        return Role.BOUND if bound else Role.CANDIDATE

    def named_cells(self) -> tuple[NamedCell, ...]:
        """The variants that formulas name."""
        spec = self.scenario.spec
        return tuple(
            NamedCell(name, self.made[values].variant.id)
            for name, given in spec.cells.items()
            if (values := named_values(self.axes, spec.baseline, given)) in self.made
        )

    def cell(self, variant: Variant, given: Input, role: Role, label: str) -> Cell:
        """One cell with its words filled in."""
        spec = self.scenario.spec
        made = self.made_of(variant)
        texts = self.inputs[given.values][1]
        values = {**texts, **made.values, **dict(given.values)}
        settings = (
            *made.settings,
            *(self.by_name[name].settings[value] for name, value in given.values),
        )
        env = {name: template.fill_text(value, values) for name, value in spec.env.items()}
        cpus, cache = spec.measure.cpus, spec.measure.cache
        for setting in settings:
            env |= {name: template.fill_text(value, values) for name, value in setting.env.items()}
            cpus, cache = setting.cpus or cpus, setting.cache or cache
        return Cell(
            id=stable_id(
                "cell",
                sorted(variant.values),
                sorted(given.values),
                made.change,
                role is Role.CONTROL,
                *((variant.anchor,) if variant.anchor else ()),
            ),
            variant_id=variant.id,
            input_id=given.id,
            label=label,
            role=role,
            command=self._command(values, settings),
            env=tuple(sorted(env.items())),
            cwd=self.scenario.resolve(template.fill_text(spec.cwd, values)) if spec.cwd else None,
            stdin=self._stdin(values),
            prepare=tuple(_words(words, values) for words in spec.prepare),
            cleanup=tuple(_words(words, values) for words in spec.cleanup),
            cpus=cpus,
            cache=cache,
            shell=spec.shell,
        )

    def _command(self, values: Mapping[str, str], settings: Sequence[Setting]) -> tuple[Word, ...]:
        if self.scenario.spec.shell:
            return (template.fill(self.command[0], values, quote=shlex.quote),)
        added = [word for setting in settings for word in setting.args]
        words: list[str] = []
        for word in self.command:
            words += added if word == template.ARGS else [word]
        if template.ARGS not in self.command:
            words += added
        return _words(words, values)

    def _stdin(self, values: Mapping[str, str]) -> Word | None:
        text = self.scenario.spec.stdin
        if text is None:
            return None
        word = template.fill(text, values)
        if all(isinstance(piece, str) for piece in word):
            return (self.scenario.resolve("".join(str(piece) for piece in word)),)
        return word


def bin_name(scenario: Scenario) -> str:
    """The binary target: the one that is named, or the crate's only one; empty where nothing is built."""
    worker = scenario.spec.worker
    if worker.bin is not None or worker.crate is None:
        return worker.bin or ""
    try:
        bins = read_crate(Path(scenario.resolve(worker.crate)), worker.package).bins
    except CrateMissing:
        return ""
    return bins[0] if len(bins) == 1 else ""


def size_texts(scenario: Scenario, axes: Iterable[AxisView]) -> list[str]:
    """Every size that the scenario writes down: of its input and of its size axes."""
    part = scenario.spec.input
    texts = [part.size] if part is not None and part.size is not None and is_size(part.size) else []
    return texts + [value for axis in axes if axis.is_size for value in axis.values]


def unique(items: Iterable[_T]) -> tuple[_T, ...]:
    """Without repetitions, in the order of the first appearance."""
    return tuple(dict.fromkeys(items))


def _words(words: Iterable[str], values: Mapping[str, str]) -> tuple[Word, ...]:
    return tuple(template.fill(word, values) for word in words)


def _profile(
    name: str, keys: dict[str, str], change: str | dict[str, str] | list[str] | None
) -> tuple[str, dict[str, str]]:
    if isinstance(change, dict):
        return name, keys | change
    return (change, keys) if isinstance(change, str) else (name, keys)


def _input(
    scenario: Scenario, values: Values, axes: Mapping[str, AxisView]
) -> tuple[Input, dict[str, str]]:
    """An input and the texts that its names stand for in a command."""
    chosen = dict(values)
    label = ", ".join(axes[name].settings[value].label or value for name, value in values)
    part = scenario.spec.input
    if part is None:
        return Input(label or "no input", values, None), {}
    texts = {
        key: template.fill_text(text, {**scenario.spec.fixed, **chosen})
        for key in ("dataset", "size", "seed", "file")
        if (text := getattr(part, key)) is not None
    }
    if "file" in texts:
        path = scenario.resolve(texts["file"])
        dataset = Dataset("file", Path(path).name, path=path)
        return Input(label or dataset.family, values, dataset), texts
    family = "prose" if texts["dataset"] == "text" else texts["dataset"]
    dataset = Dataset("generated", family, parse_size(texts["size"]), int(texts["seed"]))
    return Input(label or f"{family} {texts['size']}", values, dataset), texts
