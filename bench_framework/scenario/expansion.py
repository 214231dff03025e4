"""Variants, inputs and cells of a scenario, with placeholders replaced."""

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan import plan
from bench_framework.model.plan.arguments import Slot, Word, filled
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.declarations import Experiment, Hypothesis, Mechanism
from bench_framework.model.plan.server import Server
from bench_framework.scenario import bundled, template
from bench_framework.scenario.crates import bin_name, build_of
from bench_framework.scenario.definition import AxisView, Scenario
from bench_framework.scenario.matrix import Matrix, combine
from bench_framework.scenario.schema.parts import INPUT_NAMES, InputPart
from bench_framework.scenario.schema.worker import Setting
from bench_framework.text.reasons import phrase_of
from bench_framework.units import parse_size

_T = TypeVar("_T")
EXPERIMENT: Final = "experiment"
"""The key that selects the variant of an experiment in place of axis values."""
_UNLABELLED: Final = "default"
_PLAIN: Final = re.compile(r"[-+]?[0-9.]+|true|false|yes|no|on|off", re.IGNORECASE)
"""Values that a label shows with their axis."""


class Expansion:
    """The parts of a plan. The scenario's names and values are valid."""

    def __init__(self, scenario: Scenario, matrix: Matrix | None = None) -> None:
        self.scenario = scenario
        self.matrix = matrix if matrix is not None else combine(scenario)
        self.axes = scenario.axes
        self._measured = set(self.matrix.measured)
        self.command = bundled.command_of(scenario)
        self._bin = bin_name(scenario)
        names = {axis.name for axis in scenario.variant_axes}
        chosen = tuple(scenario.baseline.items())
        measured = self.matrix.measured
        parts = unique([*(tuple(p for p in m if p[0] in names) for m in measured), chosen])
        labels = self._labels(parts)
        self._taken = {*labels.values(), plan.CONTROL_LABEL}
        self.variants = {values: self._variant(values, labels[values]) for values in parts}
        """The variants of the matrix and the baseline, by their values."""
        self.baseline = self.variants[chosen]
        further = (scenario.variant_values(given) for given in scenario.spec.baseline[1:])
        self.further_baselines = [self.variants[v] for v in further if v in self.variants]
        self.inputs = {
            values: self._input(values)
            for values in unique(tuple(p for p in m if p[0] not in names) for m in measured)
        }
        """Each input with the values of its placeholders, by its axis values."""
        self.experiments: list[Experiment] = []
        self.experiment_variants: dict[str, plan.Variant] = {}
        """The variants that are not in the matrix, by the name of their experiment."""
        self.hypotheses: list[Hypothesis] = []
        for part in scenario.spec.experiments:
            self._add_experiment(part)

    def _labels(self, parts: Iterable[plan.Values]) -> dict[plan.Values, str]:
        """Return a unique label for each variant: the scenario's label, or the varying axis values.

        For the designs `one-at-a-time` and `ladder`, a label has only the values that differ from
        the baseline, because a list of eight values would hide the one that differs.
        """
        spec, baseline = self.scenario.spec, self.scenario.baseline
        labels: dict[plan.Values, str] = {}
        taken = {plan.CONTROL_LABEL}
        for values in parts:
            varied = [(name, value) for name, value in values if len(self.axes[name].settings) > 1]
            departing = [(name, value) for name, value in varied if baseline.get(name) != value]
            short = bool(departing) and spec.design != "full"
            with_axis = short and spec.design == "one-at-a-time"
            texts = [
                label_of(self.axes[name], value, with_axis=with_axis)
                for name, value in (departing if short else varied)
            ]
            described = (d.label for d in spec.describe if d.label and _has(values, d.variant))
            label = next(described, "") or " + ".join(texts) or _UNLABELLED
            if label in taken:  # labels of the scenario may be equal
                label = " ".join(f"{name}={value}" for name, value in varied) or _UNLABELLED
            numbered = (f"{label} ({count})" for count in itertools.count(2))
            labels[values] = next(t for t in itertools.chain([label], numbered) if t not in taken)
            taken.add(labels[values])
        return labels

    def _variant(
        self, values: plan.Values, label: str, experiment: str | None = None
    ) -> plan.Variant:
        first, spec = self.scenario.baseline, self.scenario.spec
        # A variant with one change needs only the description of that change.
        whole = experiment is None and (spec.design == "full" or dict(values) == first)
        about = [
            text
            for axis, value in values
            if (text := self.axes[axis].settings[value].about)
            and (whole or first.get(axis) != value)
        ]
        if experiment is None:
            about += [d.text for d in spec.describe if d.text and _has(values, d.variant)]
        change = next((p.change for p in spec.experiments if p.name == experiment), ())
        texts = {**spec.fixed, **dict(values), **dict(change)}
        build = build_of(self.scenario, self._bin, self._settings(values), texts)
        return plan.Variant(label, values, build, "; ".join(about), experiment)

    def _settings(self, values: plan.Values) -> list[Setting]:
        return [self.axes[name].settings[value] for name, value in values]

    def _input(self, values: plan.Values) -> tuple[plan.Input, dict[str, str]]:
        """Return an input and the values of its placeholders."""
        label = ", ".join(label_of(self.axes[name], value) for name, value in values)
        part = self.scenario.spec.input
        if part is None:
            return plan.Input(label or phrase_of(PhraseCode.NO_INPUT), values, None), {}
        chosen = {**self.scenario.spec.fixed, **dict(values)}
        if part.value is not None:
            text = template.fill_text(part.value, chosen)
            return plan.Input(label or text, values, None), {"input": text}
        given = {key: getattr(part, key) for key in INPUT_NAMES}
        texts = {key: template.fill_text(t, chosen) for key, t in given.items() if t is not None}
        dataset, name = self._dataset(part, texts, chosen)
        if part.sha256:
            dataset = replace(dataset, sha256=template.fill_text(part.sha256, chosen).lower())
        return plan.Input(label or name, values, dataset), texts

    def _dataset(
        self, part: InputPart, texts: Mapping[str, str], values: Mapping[str, str]
    ) -> tuple[plan.Dataset, str]:
        """Return the dataset of an input and its label."""
        for kind in ("file", "folder"):
            if kind in texts:
                path = self.scenario.resolve(texts[kind])
                return plan.Dataset(kind, Path(path).name, path=path), Path(path).name
        start = str(self.scenario.folder)
        if part.files is not None:
            patterns = tuple(template.fill_text(text, values) for text in part.files)
            family = ", ".join(patterns)
            return plan.Dataset("files", family, path=start, patterns=patterns), family
        if part.command is not None:
            program = template.fill_text(part.command[0], values)
            program = self.scenario.resolve_program(program)
            words = ((program,), *template.fill_words(part.command[1:], values))
            most = parse_size(template.fill_text(part.max_size, values))
            family = Path(program).name
            dataset = plan.Dataset("command", family, path=start, command=words, max_bytes=most)
            return dataset, phrase_of(PhraseCode.OUTPUT_OF, family)
        family = "prose" if texts["dataset"] == "text" else texts["dataset"]
        size, seed = parse_size(texts["size"]), int(texts["seed"])
        # The first line of a report also has the number of sessions in which it was measured.
        form = "JSONL " if family.startswith("sessions") else ""
        return plan.Dataset("generated", family, size, seed), f"{form}{family} {texts['size']}"

    def _add_experiment(self, part: Experiment) -> None:
        ((key, value),) = part.change
        start = self.scenario.variant_values(part.at)
        changed = tuple((axis, value if axis == key else old) for axis, old in start)
        variant_id = ""
        if key in self.axes and changed in self.variants:
            variant_id = self.variants[changed].id
        elif not part.at:
            label = part.name if part.name not in self._taken else f"{part.name} (experiment)"
            self._taken.add(label)
            variant = self._variant(changed, label, part.name)
            self.experiment_variants[part.name] = variant
            variant_id = variant.id
        if not part.at:
            self.experiments.append(replace(part, variant_id=variant_id))
        if part.hypothesis:
            before = self.scenario.spec.fixed.get(key) or dict(start).get(key, "")
            reference_id = self.variants[start].id if start in self.variants else ""
            mechanism = Mechanism(part.phases, part.counters)
            pair = (f"{key}: {before} → {value}", variant_id, reference_id)
            self.hypotheses.append(
                Hypothesis(part.hypothesis, *pair, part.expect, part.metric, mechanism)
            )

    def selected(self, given: Mapping[str, str]) -> plan.Variant | None:
        """Return the variant that a side of a contrast selects, or `None` if it does not exist."""
        if EXPERIMENT in given:
            ids = [e.variant_id for e in self.experiments if e.name == given[EXPERIMENT]]
            variants = (*self.variants.values(), *self.experiment_variants.values())
            return next((variant for variant in variants if variant.id in ids), None)
        return self.variants.get(self.scenario.variant_values(given))

    def input_ids(self, selection: Mapping[str, str]) -> tuple[str, ...]:
        """Return the ids of the inputs that have these values of input axes."""
        return tuple(
            given.id for values, (given, _) in self.inputs.items() if _has(values, selection)
        )

    def pairs(self) -> list[tuple[plan.Variant, plan.Input]]:
        """Return the measured pairs by input: variants of the matrix, then experiments."""
        pairs: list[tuple[plan.Variant, plan.Input]] = []
        for given, _ in self.inputs.values():
            pairs += [(v, given) for v in self.variants.values() if self._is_measured(v, given)]
            if self._is_measured(self.baseline, given):
                # An experiment is not in the matrix. It is measured on the baseline's inputs.
                pairs += [(variant, given) for variant in self.experiment_variants.values()]
        return pairs

    def values_of(self, variant: plan.Variant, given: plan.Input) -> plan.Values:
        """Return the combination of a cell, in the order of the axes."""
        chosen = dict((*variant.values, *given.values))
        return tuple((name, chosen[name]) for name in self.axes)

    def _is_measured(self, variant: plan.Variant, given: plan.Input) -> bool:
        return self.values_of(variant, given) in self._measured

    def cells(self, pairs: Iterable[tuple[plan.Variant, plan.Input]]) -> Iterator[plan.Cell]:
        """Yield the cells. The A/A control is the last one on each input that has the baseline."""
        for _, of_input in itertools.groupby(pairs, key=lambda pair: pair[1].id):
            controls = []
            for variant, given in of_input:
                role = self._role(variant)
                yield self.cell(variant, given, role, variant.label)
                if role is plan.Role.BASELINE and self.scenario.spec.measure.control:
                    controls = [self.cell(variant, given, plan.Role.CONTROL, plan.CONTROL_LABEL)]
            yield from controls

    def _role(self, variant: plan.Variant) -> plan.Role:
        if variant == self.baseline:
            return plan.Role.BASELINE
        bounds = self.scenario.spec.bounds if variant.experiment is None else []
        bound = any(_has(variant.values, given) for given in bounds)
        return plan.Role.BOUND if bound else plan.Role.CANDIDATE

    def cell(
        self, variant: plan.Variant, given: plan.Input, role: plan.Role, label: str
    ) -> plan.Cell:
        """Return one cell with its placeholders replaced."""
        spec = self.scenario.spec
        changes = {part.name: part.change for part in spec.experiments}
        change = changes[variant.experiment] if variant.experiment is not None else ()
        values = {
            **self.inputs[given.values][1],
            **spec.fixed,
            **dict(variant.values),
            **dict(change),
            **dict(given.values),
        }
        settings = self._settings((*variant.values, *given.values))
        env = {name: template.fill_text(value, values) for name, value in spec.env.items()}
        cpus, cache = spec.measure.cpus, spec.measure.cache
        for setting in settings:
            env |= {name: template.fill_text(value, values) for name, value in setting.env.items()}
            cpus, cache = setting.cpus or cpus, setting.cache or cache
        parts = (sorted(variant.values), sorted(given.values), next(iter(change), None))
        return plan.Cell(
            id=stable_id("cell", *parts, role is plan.Role.CONTROL),
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
            server=self._server(values, settings),
            calls=unique(name for setting in settings for name in setting.calls),
        )

    def _command(self, values: Mapping[str, str], settings: Sequence[Setting]) -> tuple[Word, ...]:
        if self.scenario.spec.shell:
            return (template.fill(self.command[0], values, quote=shlex.quote),)
        if self.scenario.spec.server is not None:  # the settings of axis values are the server's
            return template.fill_words(self.command, values)
        return _with_settings(self.command, values, settings)

    def _server(self, values: Mapping[str, str], settings: Sequence[Setting]) -> Server | None:
        part = self.scenario.spec.server
        if part is None:
            return None
        awaited, by_line = part.ready.awaited, part.ready.kind == "line"
        stop = part.stop if isinstance(part.stop, list) else []
        return Server(
            _with_settings(self.scenario.server_command, values, settings),
            part.ready.kind,
            (awaited,) if by_line else template.fill(awaited, values),
            part.ready.within,
            part.stop if isinstance(part.stop, str) else "",
            template.fill_words(stop, values),
            part.restart,
            part.cpus,
        )

    def _stdin(self, values: Mapping[str, str]) -> Word | None:
        text = self.scenario.spec.stdin
        if text is None:
            return None
        word = template.fill(text, values)
        if any(isinstance(piece, Slot) for piece in word):
            return word
        return (self.scenario.resolve(filled(word)),)


def _with_settings(
    command: list[str], values: Mapping[str, str], settings: Sequence[Setting]
) -> tuple[Word, ...]:
    """Return the command of the program with the `command` and the `args` of axis values."""
    added = [word for setting in settings for word in setting.args]
    for setting in settings:
        command = ["{bin}", *setting.command[1:]] if setting.command else command
    if template.ARGS not in command:
        command = [*command, template.ARGS]
    words = [w for word in command for w in (added if word == template.ARGS else [word])]
    return template.fill_words(words, values)


def label_of(axis: AxisView, value: str, *, with_axis: bool = False) -> str:
    """Return the label of a value, with its axis if a value is a number or a yes or no.

    Such a value of an axis of commands is the name of a program.
    """
    commands = any(setting.command for setting in axis.settings.values())
    bare = not with_axis and (commands or not any(map(_PLAIN.fullmatch, axis.settings)))
    return axis.settings[value].label or (value if bare else f"{axis.name}={value}")


def unique(items: Iterable[_T]) -> tuple[_T, ...]:
    """Return the distinct items in order of first appearance."""
    return tuple(dict.fromkeys(items))


def _has(values: plan.Values, selection: Mapping[str, str]) -> bool:
    """Return whether axis values include all of a selection."""
    return selection.items() <= dict(values).items()
