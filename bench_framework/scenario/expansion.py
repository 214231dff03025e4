"""Variants, inputs and cells of a scenario, with placeholders replaced."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bench_framework.model import plan
from bench_framework.model.declarations import Experiment, Hypothesis, NamedCell
from bench_framework.scenario import axes, bundled, template
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.inputs import input_of
from bench_framework.scenario.matrix import Matrix
from bench_framework.scenario.schema.parts import ExperimentPart
from bench_framework.scenario.schema.worker import BUILTIN, Pgo, Setting

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class VariantParts:
    """A variant with the values and settings of its cells."""

    variant: plan.Variant
    values: Mapping[str, str]
    """Axis values and fixed keys, with the experiment's change."""
    settings: tuple[Setting, ...]
    change: tuple[str, str] | None
    """The experiment's change, as key and value."""


class Expansion:
    """The parts of a plan. The scenario's names and values are valid."""

    def __init__(self, scenario: Scenario, matrix: Matrix) -> None:
        self.scenario = scenario
        self.matrix = matrix
        self.axes = matrix.axes
        self._measured = set(matrix.measured)
        self.by_name = {axis.name: axis for axis in matrix.axes}
        self.command = bundled.command_of(scenario)
        self.bin = bin_name(scenario)
        first = scenario.spec.baseline[0] if scenario.spec.baseline else {}
        chosen = tuple((axes.baseline_values(self.axes, first) or {}).items())
        parts = unique([*(matrix.variant_part(values) for values in matrix.measured), chosen])
        self._first = dict(chosen)
        labels = axes.labels_of(parts, self.axes, scenario.spec, self._first)
        self.parts = {values: self._make(values, labels[values]) for values in parts}
        self.baseline = self.parts[chosen].variant
        self.further_baselines = [
            self.parts[values].variant
            for given in scenario.spec.baseline[1:]
            if (values := tuple((axes.baseline_values(self.axes, given) or {}).items()))
            in self.parts
        ]
        self.inputs = self._inputs()
        self.experiments: list[Experiment] = []
        self.experiment_parts: dict[str, VariantParts] = {}
        self.hypotheses: list[Hypothesis] = []
        for part in scenario.spec.experiments:
            self._add_experiment(part, set(labels.values()))
        self.anchor_parts = self._make_anchor(set(labels.values()))
        self.anchor = self.anchor_parts.variant if self.anchor_parts is not None else None

    def _make_anchor(self, taken: set[str]) -> VariantParts | None:
        """Return the anchor variant, which may be a variant of the matrix."""
        part = self.scenario.spec.anchor
        if part is None:
            return None
        values = axes.named_values(self.axes, self.scenario.spec.baseline, part.variant or {})
        label = f"anchor {part.rev}" if part.rev else "anchor"
        anchor = self._make(values, label if label not in taken else f"{label} (anchor)")
        if part.rev is None or anchor.variant.build is None:
            return self.parts.get(values, anchor)
        build = replace(anchor.variant.build, revision=part.rev)
        if build == self.baseline.build:
            return self.parts[self.baseline.values]
        variant = replace(anchor.variant, build=build, anchor=part.rev, describe="")
        return replace(anchor, variant=variant)

    def _make(
        self, values: plan.Values, label: str, experiment: ExperimentPart | None = None
    ) -> VariantParts:
        chosen = {
            **self.scenario.spec.fixed,
            **dict(values),
            **(experiment.change if experiment else {}),
        }
        settings = tuple(self.by_name[name].settings[value] for name, value in values)
        # A variant with one change needs only the description of that change.
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
            if experiment is None and part.text and axes.is_about(part, values)
        ]
        name = experiment.name if experiment else None
        variant = plan.Variant(label, values, self._build(settings), "; ".join(about), name)
        return VariantParts(
            variant, chosen, settings, next(iter(experiment.change.items())) if experiment else None
        )

    def _build(self, settings: Sequence[Setting]) -> plan.BuildSpec | None:
        worker = self.scenario.spec.worker
        allocators = [s.preload_allocator for s in settings if s.preload_allocator is not None]
        preload = allocators[-1] if allocators and allocators[-1] != "system" else ""
        preload = self.scenario.resolve(preload) if "/" in preload else preload
        if worker.command is not None:
            if not any(axis.changes(("command", "preload_allocator")) for axis in self.axes):
                return None
            words = next((s.command for s in settings if s.command), worker.command)
            return plan.BuildSpec(
                crate="", bin=self.scenario.resolve_program(words[0]), preload=preload
            )
        profile, keys = _profile("release", {}, worker.profile)
        default, toolchain, revision = worker.default_features, worker.toolchain, worker.rev
        features, flags, version = set(worker.features), list(worker.rustflags), worker.version
        dependencies: dict[str, str] = {}
        pgo: Pgo | None = None
        for setting in settings:
            profile, keys = _profile(profile, keys, setting.profile)
            default = default and not setting.no_default_features
            toolchain, revision = setting.toolchain or toolchain, setting.revision or revision
            version = setting.version or version
            pgo = setting.pgo if "pgo" in setting.model_fields_set else pgo
            features |= set(setting.features)
            dependencies |= setting.dependencies
            flags += setting.rustflags
            flags += [f"-Ctarget-cpu={setting.target_cpu}"] if setting.target_cpu else []
            flags += [f"-Clink-arg=-fuse-ld={setting.linker}"] if setting.linker else []
        crate = worker.crate or ""
        return plan.BuildSpec(
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
            registry=worker.registry or "",
            version=version or "",
            preload=preload,
            dependencies=tuple(sorted(dependencies.items())),
            patches=tuple(self.scenario.resolve(s.patch) for s in settings if s.patch),
            pgo=pgo is not None,
            train=template.fill_words((pgo and pgo.train) or (), {}),
        )

    def _inputs(self) -> dict[plan.Values, tuple[plan.Input, Mapping[str, str]]]:
        inputs: dict[plan.Values, tuple[plan.Input, Mapping[str, str]]] = {}
        of_variants = self.matrix.variant_axes
        parts = (tuple(v for v in m if v[0] not in of_variants) for m in self.matrix.measured)
        for values in unique(parts):
            inputs[values] = input_of(self.scenario, values, self.by_name)
        return inputs

    def _add_experiment(self, part: ExperimentPart, taken: set[str]) -> None:
        ((key, value),) = part.change.items()
        start = axes.named_values(self.axes, self.scenario.spec.baseline, part.at)
        changed = tuple((axis, value if axis == key else old) for axis, old in start)
        variant_id = ""
        if key in self.by_name and changed in self.parts:
            variant_id = self.parts[changed].variant.id
        elif not part.at:
            free = part.name not in taken and part.name != plan.CONTROL_LABEL
            label = part.name if free else f"{part.name} (experiment)"
            taken.add(label)
            self.experiment_parts[part.name] = self._make(changed, label, part)
            variant_id = self.experiment_parts[part.name].variant.id
        if not part.at:
            self.experiments.append(
                Experiment(part.name, variant_id, ((key, value),), part.why, part.decision)
            )
        if part.hypothesis:
            before = self.scenario.spec.fixed.get(key) or dict(start).get(key, "")
            reference_id = self.parts[start].variant.id if start in self.parts else ""
            self.hypotheses.append(
                Hypothesis(
                    part.hypothesis,
                    f"{key}: {before} → {value}",
                    variant_id,
                    reference_id,
                    part.expect,
                    part.metric or "",
                )
            )

    def pairs(self) -> list[tuple[plan.Variant, plan.Input]]:
        """Return the measured pairs by input: variants of the matrix, then experiments."""
        measured = self._measured
        pairs: list[tuple[plan.Variant, plan.Input]] = []
        for given_values, (given, _) in self.inputs.items():
            for values, parts in self.parts.items():
                if self._whole(values, given_values) in measured:
                    pairs.append((parts.variant, given))
            if self._whole(self.baseline.values, given_values) in measured:
                # An experiment is not in the matrix. It is measured on the baseline's inputs.
                pairs += [(parts.variant, given) for parts in self.experiment_parts.values()]
            if self.anchor is not None and (self.anchor, given) not in pairs:
                pairs.append((self.anchor, given))
        return pairs

    def _whole(self, variant: plan.Values, given: plan.Values) -> plan.Values:
        chosen = {**dict(variant), **dict(given)}
        return tuple((axis.name, chosen[axis.name]) for axis in self.axes)

    def values_of(self, variant: plan.Variant, given: plan.Input) -> plan.Values:
        """Return the combination of a cell, in the order of the axes."""
        return self._whole(variant.values, given.values)

    def parts_of(self, variant: plan.Variant) -> VariantParts:
        """Return the parts of a variant."""
        if self.anchor_parts is not None and variant == self.anchor:
            return self.anchor_parts
        if variant.experiment is None:
            return self.parts[variant.values]
        return self.experiment_parts[variant.experiment]

    def cells(self, pairs: Iterable[tuple[plan.Variant, plan.Input]]) -> Iterable[plan.Cell]:
        """Yield the cells. The A/A control is the last one on each input that has the baseline."""
        control: plan.Cell | None = None
        input_id = None
        for variant, given in pairs:
            if given.id != input_id:
                if control is not None:
                    yield control
                control, input_id = None, given.id
            role = self._role(variant, given)
            yield self.cell(variant, given, role, variant.label)
            if role is plan.Role.BASELINE and self.scenario.spec.measure.control:
                control = self.cell(variant, given, plan.Role.CONTROL, plan.CONTROL_LABEL)
        if control is not None:
            yield control

    def _role(self, variant: plan.Variant, given: plan.Input) -> plan.Role:
        if variant == self.anchor and (
            variant.anchor or self.values_of(variant, given) not in self._measured
        ):
            return plan.Role.ANCHOR
        if variant == self.baseline:
            return plan.Role.BASELINE
        values = dict(variant.values).items()
        bound = variant.experiment is None and any(
            given.items() <= values for given in self.scenario.spec.bounds
        )
        return plan.Role.BOUND if bound else plan.Role.CANDIDATE

    def named_cells(self) -> tuple[NamedCell, ...]:
        """Return the named variants of formulas."""
        spec = self.scenario.spec
        return tuple(
            NamedCell(name, self.parts[values].variant.id)
            for name, given in spec.cells.items()
            if (values := axes.named_values(self.axes, spec.baseline, given)) in self.parts
        )

    def cell(
        self, variant: plan.Variant, given: plan.Input, role: plan.Role, label: str
    ) -> plan.Cell:
        """Return one cell with its placeholders replaced."""
        spec = self.scenario.spec
        parts = self.parts_of(variant)
        values = {**self.inputs[given.values][1], **parts.values, **dict(given.values)}
        settings = (
            *parts.settings,
            *(self.by_name[name].settings[value] for name, value in given.values),
        )
        env = {name: template.fill_text(value, values) for name, value in spec.env.items()}
        cpus, cache = spec.measure.cpus, spec.measure.cache
        for setting in settings:
            env |= {name: template.fill_text(value, values) for name, value in setting.env.items()}
            cpus, cache = setting.cpus or cpus, setting.cache or cache
        return plan.Cell(
            id=plan.stable_id(
                "cell",
                sorted(variant.values),
                sorted(given.values),
                parts.change,
                role is plan.Role.CONTROL,
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
            prepare=tuple(template.fill_words(words, values) for words in spec.prepare),
            cleanup=tuple(template.fill_words(words, values) for words in spec.cleanup),
            cpus=cpus,
            cache=cache,
            shell=spec.shell,
        )

    def _command(
        self, values: Mapping[str, str], settings: Sequence[Setting]
    ) -> tuple[plan.Word, ...]:
        if self.scenario.spec.shell:
            return (template.fill(self.command[0], values, quote=shlex.quote),)
        added = [word for setting in settings for word in setting.args]
        command = self.command
        for setting in settings:
            command = ["{bin}", *setting.command[1:]] if setting.command else command
        words: list[str] = []
        for word in command:
            words += added if word == template.ARGS else [word]
        if template.ARGS not in command:
            words += added
        return template.fill_words(words, values)

    def _stdin(self, values: Mapping[str, str]) -> plan.Word | None:
        text = self.scenario.spec.stdin
        if text is None:
            return None
        word = template.fill(text, values)
        if all(isinstance(piece, str) for piece in word):
            return (self.scenario.resolve("".join(str(piece) for piece in word)),)
        return word


def bin_name(scenario: Scenario) -> str:
    """Return the given binary target or the crate's only one, empty without a crate."""
    worker = scenario.spec.worker
    if worker.registry is not None:
        return worker.bin or worker.registry
    if worker.bin is not None or worker.crate is None:
        return worker.bin or ""
    try:
        bins = read_crate(Path(scenario.resolve(worker.crate)), worker.package).bins
    except CrateMissing:
        return ""
    return bins[0] if len(bins) == 1 else ""


def unique(items: Iterable[_T]) -> tuple[_T, ...]:
    """Return the distinct items in order of first appearance."""
    return tuple(dict.fromkeys(items))


def _profile(
    name: str, keys: dict[str, str], change: str | dict[str, str] | list[str] | None
) -> tuple[str, dict[str, str]]:
    if isinstance(change, dict):
        return name, keys | change
    return (change, keys) if isinstance(change, str) else (name, keys)
