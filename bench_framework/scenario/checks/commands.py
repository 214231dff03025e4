"""Checks of commands: placeholders, unused axes, values of bundled workers."""

from collections.abc import Iterator

from bench_framework.errors import Position, Problem
from bench_framework.scenario import bundled, template
from bench_framework.scenario.axes import PROGRAM_KEYS, RUN_KEYS, AxisView, axes_of
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path, suggest
from bench_framework.scenario.scalars import MAX_LISTED, did_you_mean
from bench_framework.scenario.schema.parts import INPUT_NAMES
from bench_framework.scenario.schema.worker import BUILTIN

_SLOTS = ("bin", "input", "tuning")
_TRAIN = ("pgo", "train")


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of every text that may contain ``{placeholders}``."""
    for path, text, slots in templated(scenario):
        yield from _placeholders(scenario, path, text, slots=slots)
    yield from _nameless(scenario)
    yield from _never_run(scenario)
    spec = scenario.spec
    axes = [axis for axis in axes_of(scenario) if axis.changes(("command",))]
    reason = ""
    if spec.worker.command is None or spec.worker.contract or spec.shell:
        reason = "needs `worker: {command: […]}` without `contract` and `shell`"
    elif len(axes) > 1 or any(axis.kind == "input" for axis in axes):
        reason = "is possible for one axis only, which is not an input axis"
    for axis in axes if reason else ():
        yield scenario.key_problem(("axes", axis.name), "BC108", f"`command` of a value {reason}")
    yield from _unused(scenario)
    yield from _bundled(scenario)
    yield from _tuning(scenario)


def templated(scenario: Scenario) -> Iterator[tuple[Path, str, bool]]:
    """Yield every text with placeholders: path, text, and whether ``{bin}`` is allowed in it."""
    spec = scenario.spec
    where: Path = (
        ("worker", "command")
        if spec.command is None and spec.worker.command is not None
        else ("command",)
    )
    yield from (
        ((*where, index), word, True) for index, word in enumerate(bundled.command_of(scenario))
    )
    if spec.stdin is not None:
        yield ("stdin",), spec.stdin, True
    yield from ((("tuning", index), word, True) for index, word in enumerate(spec.tuning or ()))
    for key, commands in (("prepare", spec.prepare), ("cleanup", spec.cleanup)):
        for row, words in enumerate(commands):
            yield from (
                (scenario.row(key, row, column), word, True) for column, word in enumerate(words)
            )
    yield from ((("env", name), text, False) for name, text in spec.env.items())
    if spec.cwd is not None:
        yield ("cwd",), spec.cwd, False
    for axis in axes_of(scenario):
        for value, setting in axis.settings.items():
            path: Path = ("axes", axis.name, "values", value)
            # The first word is the program, as in `worker.command`.
            yield from (
                ((*path, "command", index), word, True)
                for index, word in enumerate(setting.command or ())
                if index
            )
            yield from (
                ((*path, "args", index), word, True) for index, word in enumerate(setting.args)
            )
            yield from (
                ((*path, "pgo", "train", index), word, True)
                for index, word in enumerate((setting.pgo and setting.pgo.train) or ())
            )
            yield from (((*path, "env", name), text, False) for name, text in setting.env.items())
    if spec.input is not None:
        yield from ((("input", *key), text, False) for key, text in spec.input.texts())


def known_names(scenario: Scenario, path: Path) -> list[str]:
    """Return the placeholders that are allowed at `path`, except ``{bin}`` and other slots."""
    if path[:1] == ("tuning",):  # `tuning` runs once for all variants and inputs
        return list(scenario.spec.fixed)
    if path[-3:-1] == _TRAIN:  # one training serves all configurations that share the build
        return []
    names = [*scenario.spec.axes, *scenario.spec.fixed]
    part = scenario.spec.input
    if part is not None and path[:1] != ("input",):
        names += [key for key in INPUT_NAMES if getattr(part, key) is not None]
    if path[:2] == ("input", "command"):
        names.append("output")
    return list(dict.fromkeys(names))


def _placeholders(scenario: Scenario, path: Path, text: str, *, slots: bool) -> Iterator[Problem]:
    if text == template.ARGS and path[-2:-1] == ("command",):
        return
    names = known_names(scenario, path)
    if slots:
        names = [*_slots_at(scenario, path), *names]
    for item in template.placeholders(text):
        if item.name in names or item.name in scenario.lost:
            continue
        written = text[item.start : item.end]
        place = scenario.document.place.at(path)
        at = _inside(place.value, text, item)
        if item.name is None:
            advice = "write `{{` and `}}` for literal braces"
            message = f"`{written}` is not a placeholder"
            yield Problem("BC109", message, place.file, at, fix=advice)
        elif item.name in _SLOTS:
            reason = (
                _unavailable_slot(str(item.name), path)
                if slots
                else "it is available only in commands"
            )
            yield Problem("BC109", f"`{written}` cannot be used here: {reason}", place.file, at)
        else:
            near = suggest(item.name, names)
            suggestion = f"did you mean `{{{near}}}`?  " if near else ""
            listed = ", ".join(f"{{{name}}}" for name in names) or "none"
            advice = suggestion + (f"available: {listed}" if len(names) <= MAX_LISTED else "")
            message = f"unknown placeholder `{written}`"
            yield Problem("BC109", message, place.file, at, fix=advice)


def _slots_at(scenario: Scenario, path: Path) -> Iterator[str]:
    yield "bin"
    if path[:1] != ("tuning",):
        yield from ["input"] * (scenario.spec.input is not None)
        yield from ["tuning"] * (scenario.spec.tuning is not None and path[-3:-1] != _TRAIN)


def _unavailable_slot(slot: str, path: Path) -> str:
    if path[:1] == ("tuning",):
        return "`tuning` runs once, before all inputs"
    if slot == "tuning" and path[-3:-1] == _TRAIN:
        return "`tuning` runs after all builds"
    return f"this scenario has no `{slot}`"


def _tuning(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `tuning`: its output is unused, or there is no program to run."""
    spec, place = scenario.spec, ("tuning",)
    if spec.tuning is None:
        return
    if spec.worker.command is not None:
        message = "`tuning` has no effect on a program that is not built"
        advice = "write `worker: {crate: …}`, or remove `tuning`"
        yield scenario.key_problem(place, "BC108", message, advice)
    users = [
        path
        for path, text, _ in templated(scenario)
        if path[:1] != place and "tuning" in template.names(text)
    ]
    if not users:
        advice = "use `{tuning}` in `command`, or remove the key"
        yield scenario.key_problem(place, "BC205", "`tuning` is never used", advice)
    for axis in axes_of(scenario) if users else ():
        for value, setting in axis.settings.items():
            if setting.pgo is not None and setting.pgo.train is None:
                message = "the command cannot be the training: it has `{tuning}`, which runs later"
                advice = 'write pgo: {train: ["{bin}", …]}'
                path = ("axes", axis.name, "values", value, "pgo")
                yield scenario.key_problem(path, "BC108", message, advice)


def _inside(at: Position, text: str, item: template.Placeholder) -> Position:
    """Return the position of the placeholder, or of the text if it is on several lines."""
    quotes = at.length - len(text)
    if quotes not in {0, 2} or "\n" in text:
        return at
    return Position(at.line, at.column + quotes // 2 + item.start, item.end - item.start)


def _nameless(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for each command whose first word, the program, is empty."""
    spec = scenario.spec
    for key, words in (
        (("worker", "command"), spec.worker.command),
        (("input", "command"), spec.input and spec.input.command),
        (("answer", "filter"), spec.answer.filter),
        (("answer", "check"), spec.answer.check),
    ):
        if words and not words[0].strip():
            message = f"the first word of `{'.'.join(key)}` is empty"
            advice = "write the program first, such as [jq, .rows]"
            yield scenario.value_problem(key, "BC102", message, advice)


def _never_run(scenario: Scenario) -> Iterator[Problem]:
    worker = scenario.spec.worker
    if (
        scenario.spec.command is None
        and worker.crate == BUILTIN
        and worker.bin in bundled.NEEDS_COMMAND
    ):
        message = f"worker `{worker.bin}` has no default command"
        advice = f"add command: {bundled.NEEDS_COMMAND[worker.bin]}"
        yield scenario.value_problem(("worker", "bin"), "BC109", message, advice)
    if worker.command is not None or scenario.spec.command is None:
        return
    if not any("bin" in template.names(word) for word in bundled.command_of(scenario)):
        message = "the command does not run the built program: it has no `{bin}`"
        advice = 'start it with "{bin}", or use an existing program with worker: {command: […]}'
        yield scenario.value_problem(("command",), "BC109", message, advice)


def _unused(scenario: Scenario) -> Iterator[Problem]:
    used = set().union(*(template.names(text) for _, text, _ in templated(scenario)))
    for axis in axes_of(scenario):
        if axis.name not in used and not axis.changes(PROGRAM_KEYS + RUN_KEYS):
            message = f"axis `{axis.name}` is never used"
            advice = (
                f"use `{{{axis.name}}}` in `command`, `env` or `input`, "
                "add settings to its values, or remove the axis"
            )
            yield scenario.key_problem(("axes", axis.name), "BC205", message, advice)
    for name in scenario.spec.fixed:
        if name not in used:
            advice = f"use `{{{name}}}` in `command`, `env` or `input`, or remove it"
            yield scenario.key_problem(
                ("fixed", name), "BC205", f"fixed key `{name}` is never used", advice
            )


def _bundled(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for each value that a flag of the bundled worker does not accept."""
    described = bundled.description(scenario)
    if not described:
        return
    axes = {axis.name: axis for axis in axes_of(scenario)}
    for index, theirs, given in bundled.flag_uses(scenario, bundled.command_of(scenario)):
        known = described["axes"][theirs]
        announced = [*known, *described.get("unavailable", {}).get(theirs, {})]
        for name, value in _given(scenario, given, axes):
            if value in announced:
                continue
            if name in axes:
                file, at = scenario.value_at(str(name), value)
            else:
                place = scenario.document.place.at(("fixed", name) if name else ("command", index))
                file, at = place.file, place.value
            message = f"worker `{scenario.spec.worker.bin}` has no value `{value}` for `{theirs}`"
            label = f"not one of: {', '.join(known)}"
            advice = did_you_mean(value, known)
            yield Problem("BC103", message, file=file, at=at, label=label, fix=advice or None)


def _given(
    scenario: Scenario, word: str, axes: dict[str, AxisView]
) -> Iterator[tuple[str | None, str]]:
    """Yield the values of a flag, each with the axis or fixed key that it comes from, if any."""
    name = template.sole_name(word)
    if not any(template.placeholders(word)):
        yield None, word
    elif name in axes:
        yield from ((name, value) for value in axes[name].values)
    elif name in scenario.spec.fixed:
        yield name, scenario.spec.fixed[name]
        for experiment in scenario.spec.experiments:
            yield from ((name, value) for key, value in experiment.change.items() if key == name)
