"""Inputs of a scenario, with placeholders replaced."""

from collections.abc import Mapping
from pathlib import Path

from bench_framework.model.plan import Dataset, Input, Values
from bench_framework.scenario import template
from bench_framework.scenario.axes import AxisView, label_of
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.schema.parts import INPUT_NAMES, InputPart
from bench_framework.units import parse_size


def input_of(
    scenario: Scenario, values: Values, axes: Mapping[str, AxisView]
) -> tuple[Input, dict[str, str]]:
    """Return an input and the values of its placeholders."""
    chosen = dict(values)
    label = ", ".join(label_of(axes[name], value) for name, value in values)
    part = scenario.spec.input
    if part is None:
        return Input(label or "no input", values, None), {}
    chosen = {**scenario.spec.fixed, **chosen}
    texts = {
        key: template.fill_text(text, chosen)
        for key in INPUT_NAMES
        if (text := getattr(part, key)) is not None
    }
    dataset, name = _dataset(scenario, part, texts, chosen)
    return Input(label or name, values, dataset), texts


def _dataset(
    scenario: Scenario, part: InputPart, texts: Mapping[str, str], values: Mapping[str, str]
) -> tuple[Dataset, str]:
    """Return the dataset of an input and its label."""
    sha256 = template.fill_text(part.sha256, values).lower() if part.sha256 else None
    for kind in ("file", "folder"):
        if kind in texts:
            path = scenario.resolve(texts[kind])
            dataset = Dataset(kind, Path(path).name, path=path, sha256=sha256)
            return dataset, dataset.family
    start = str(scenario.folder)
    if part.files is not None:
        patterns = tuple(template.fill_text(text, values) for text in part.files)
        family = ", ".join(patterns)
        return Dataset("files", family, path=start, patterns=patterns, sha256=sha256), family
    if part.command is not None:
        program = scenario.resolve_program(template.fill_text(part.command[0], values))
        words = ((program,), *template.fill_words(part.command[1:], values))
        most = parse_size(template.fill_text(part.max_size, values))
        family = Path(program).name
        dataset = Dataset(
            "command", family, path=start, command=words, max_bytes=most, sha256=sha256
        )
        return dataset, f"output of {family}"
    family = "prose" if texts["dataset"] == "text" else texts["dataset"]
    dataset = Dataset("generated", family, parse_size(texts["size"]), int(texts["seed"]))
    return dataset, f"{family} {texts['size']}"
