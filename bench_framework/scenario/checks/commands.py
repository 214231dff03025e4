"""Checks of commands: placeholders, unused axes, values of bundled workers."""

from collections.abc import Iterator, Sequence

from bench_framework.errors import Position, Problem
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.build_spec import BUILTIN
from bench_framework.scenario import bundled, template
from bench_framework.scenario.definition import PROGRAM_KEYS, RUN_KEYS, Scenario
from bench_framework.scenario.document import Path, suggest
from bench_framework.scenario.scalars import list_names
from bench_framework.scenario.schema.parts import INPUT_NAMES

_TRAIN = ("pgo", "train")


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of every text that may contain ``{placeholders}``."""
    for path, text, slots in templated(scenario):
        yield from _placeholders(scenario, path, text, slots=slots)
    yield from _nameless(scenario)
    yield from _replaced(scenario)
    yield from _never_run(scenario)
    spec = scenario.spec
    axes = [axis for axis in scenario.axes.values() if axis.changes(("command",))]
    reason = None
    if spec.worker.command is None or spec.worker.contract or spec.shell:
        reason = FaultCode.NEEDS_PLAIN_COMMAND
    elif len(axes) > 1 or any(axis.kind == "input" for axis in axes):
        reason = FaultCode.ONE_AXIS_ONLY
    for axis in axes if reason else ():
        yield scenario.key_problem(
            ("axes", axis.name), "BC108.command-value", reason=reason and Phrase(reason)
        )
    yield from _unused(scenario)
    yield from _bundled(scenario)
    yield from _tuning(scenario)


def templated(scenario: Scenario) -> Iterator[tuple[Path, str, bool]]:
    """Yield every text with placeholders: path, text, and whether ``{bin}`` is allowed in it."""
    spec = scenario.spec
    of_worker = spec.command is None and spec.worker.command is not None and spec.server is None
    command: Path = ("worker", "command") if of_worker else ("command",)
    lists: list[tuple[Path, Sequence[str]]] = [
        (command, bundled.command_of(scenario)),
        (("tuning",), spec.tuning or ()),
    ]
    if spec.server is not None:
        default = spec.server.command is None and spec.worker.command is not None
        server: Path = ("worker" if default else "server", "command")
        stop = spec.server.stop if isinstance(spec.server.stop, list) else []
        lists += [(server, scenario.server_command), (("server", "stop"), stop)]
        ready = spec.server.ready
        if ready.kind != "line":
            yield ("server", "ready", ready.kind), ready.awaited, True
    for key, commands in (("prepare", spec.prepare), ("cleanup", spec.cleanup)):
        lists += [(scenario.row(key, row), words) for row, words in enumerate(commands)]
    texts: list[tuple[Path, str]] = [(("env", name), text) for name, text in spec.env.items()]
    texts += [(("cwd",), spec.cwd)] if spec.cwd is not None else []
    for path, setting in scenario.settings:
        # The first word is the program, as in `worker.command`.
        arguments = ["", *setting.command[1:]] if setting.command else []
        train = (setting.pgo and setting.pgo.train) or []
        lists += [((*path, "command"), arguments), ((*path, "args"), setting.args)]
        lists.append(((*path, *_TRAIN), train))
        texts += [((*path, "env", name), text) for name, text in setting.env.items()]
    if spec.stdin is not None:
        yield ("stdin",), spec.stdin, True
    for path, words in lists:
        yield from (((*path, index), word, True) for index, word in enumerate(words))
    texts += scenario.build_texts()
    if spec.input is not None:
        texts += [(("input", *key), text) for key, text in spec.input.texts()]
    yield from ((path, text, False) for path, text in texts)


def _known_names(scenario: Scenario, path: Path, *, slots: bool) -> list[str]:
    """Return the placeholders that are allowed at `path`."""
    spec = scenario.spec
    names = ["bin"] if slots else []
    if path[:1] == ("tuning",):  # `tuning` runs once for all variants and inputs
        return [*names, *spec.fixed]
    names += ["input"] * (slots and spec.input is not None)
    if path[-3:-1] == _TRAIN:  # one training serves all configurations that share the build
        return names
    names += ["tuning"] * (slots and spec.tuning is not None)
    names += ["port"] * (slots and spec.server is not None)
    if _is_of_build(path):
        return [*(axis.name for axis in scenario.variant_axes), *spec.fixed]
    names += [*spec.axes, *spec.fixed]
    if spec.input is not None and path[:1] != ("input",):
        names += [key for key in INPUT_NAMES if getattr(spec.input, key) is not None]
    if path[:2] == ("input", "command"):
        names.append("output")
    return list(dict.fromkeys(names))


def _is_of_build(path: Path) -> bool:
    return path[:1] == ("worker",) and path[:2] != ("worker", "command")


def _placeholders(scenario: Scenario, path: Path, text: str, *, slots: bool) -> Iterator[Problem]:
    if text == template.ARGS and path[-2:-1] == ("command",):
        return
    names = _known_names(scenario, path, slots=slots)
    for item in template.placeholders(text):
        if item.name in names or item.name in scenario.lost:
            continue
        written, file = text[item.start : item.end], scenario.document.place.at(path).file
        at = _inside(scenario.document.place.at(path).value, text, item)
        if item.name is None:
            yield Problem.create("BC109.not-a-placeholder", file, at, written=written)
        elif item.name in template.SLOTS or (item.name in scenario.axes and _is_of_build(path)):
            reason = Phrase(FaultCode.LACKS_KEY, "server" if item.name == "port" else item.name)
            if item.name in scenario.axes:
                reason = Phrase(FaultCode.AXIS_OF_INPUT)
            elif item.name == "output":
                reason = Phrase(FaultCode.ONLY_INPUT_COMMAND)
            elif not slots:
                reason = Phrase(FaultCode.ONLY_COMMANDS)
            elif path[:1] == ("tuning",):
                reason = Phrase(FaultCode.BEFORE_INPUTS)
            elif item.name == "tuning" and path[-3:-1] == _TRAIN:
                reason = Phrase(FaultCode.AFTER_BUILDS)
            key = "BC109.placeholder-not-here"
            yield Problem.create(key, file, at, written=written, reason=reason)
        else:
            available = list_names([f"{{{name}}}" for name in names]) or ("" if names else "none")
            key, near = "BC109.unknown-placeholder", suggest(item.name, names)
            yield Problem.create(key, file, at, written=written, near=near, available=available)


def _tuning(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `tuning`: its output is unused, or there is no program to run."""
    spec, place = scenario.spec, ("tuning",)
    if spec.tuning is None:
        return
    if spec.worker.command is not None:
        yield scenario.key_problem(place, "BC108.tuning-of-program")
    users = [
        path
        for path, text, _ in templated(scenario)
        if path[:1] != place and "tuning" in template.names(text)
    ]
    if not users:
        yield scenario.key_problem(place, "BC205.tuning")
    for path, setting in scenario.settings if users else ():
        if setting.pgo is not None and setting.pgo.train is None:
            yield scenario.key_problem((*path, "pgo"), "BC108.training-with-tuning")


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
            yield scenario.value_problem(key, "BC102.no-program", key=".".join(key))


def _replaced(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem if a command replaces that of the worker, whose arguments would be ignored.

    One of ``-S`` replaces it on purpose.
    """
    spec = scenario.spec
    key, command = ("command", spec.command)
    if spec.server is not None:
        key, command = ("server.command", spec.server.command)
    if command is None or not (spec.worker.command or [])[1:]:
        return
    place = scenario.document.place
    if place.at(tuple(key.split("."))).file == place.at(("worker", "command")).file:
        yield scenario.value_problem(("worker", "command", 1), "BC108.arguments-replaced", key=key)


def _never_run(scenario: Scenario) -> Iterator[Problem]:
    worker, server = scenario.spec.worker, scenario.spec.server
    if server is not None:
        if worker.command is None and "bin" not in template.names(*scenario.server_command):
            yield scenario.value_problem(("server", "command"), "BC109.server-without-bin")
    elif scenario.spec.command is None:
        if worker.crate == BUILTIN and worker.bin in bundled.NEEDS_COMMAND:
            place, example = ("worker", "bin"), bundled.NEEDS_COMMAND[worker.bin]
            key = "BC109.no-default-command"
            yield scenario.value_problem(place, key, bin=worker.bin, needs_command=example)
    elif worker.command is None and "bin" not in template.names(*bundled.command_of(scenario)):
        yield scenario.value_problem(("command",), "BC109.command-without-bin")


def _unused(scenario: Scenario) -> Iterator[Problem]:
    used = template.names(*(text for _, text, _ in templated(scenario)))
    for axis in scenario.axes.values():
        if axis.name not in used and not axis.changes(PROGRAM_KEYS + RUN_KEYS):
            yield scenario.key_problem(("axes", axis.name), "BC205.axis", name=axis.name)
    for name in scenario.spec.fixed:
        if name not in used:
            yield scenario.key_problem(("fixed", name), "BC205.fixed-key", name=name)


def _bundled(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for each value that a flag of the bundled worker does not accept."""
    described = bundled.description(scenario)
    for index, theirs, given in bundled.flag_uses(scenario, bundled.command_of(scenario)):
        known = described["axes"][theirs]
        for name, value in _given(scenario, given):
            if value in known:
                continue
            if name in scenario.axes:
                file, at = scenario.value_at(name, value)
            else:
                place = scenario.document.place.at(("fixed", name) if name else ("command", index))
                file, at = place.file, place.value
            yield Problem.create(
                "BC103.no-worker-value",
                file,
                at,
                bin=scenario.spec.worker.bin,
                value=value,
                theirs=theirs,
                near=suggest(value, known),
                known=", ".join(known),
            )


def _given(scenario: Scenario, word: str) -> Iterator[tuple[str, str]]:
    """Yield the values of a flag, each with the axis or fixed key that it comes from, if any."""
    name = template.sole_name(word)
    if not any(template.placeholders(word)):
        yield "", word
    elif name in scenario.axes:
        yield from ((name, value) for value in scenario.axes[name].values)
    elif name in scenario.spec.fixed:
        yield name, scenario.spec.fixed[name]
        changes = (part.change for part in scenario.spec.experiments)
        yield from (change for (change,) in changes if change[0] == name)
