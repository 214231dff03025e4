"""The scenario that ``benchctl init`` writes for a crate: what it contains, and what was guessed."""

import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Final

from bench_framework import assets
from bench_framework.errors import UsageError
from bench_framework.execution.build.configuration import TOOLCHAIN
from bench_framework.execution.build.messages import Package, read_packages
from bench_framework.foreign import fault_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.invocation import CrateSelection
from bench_framework.scenario import feature_groups
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.scenario.document import suggest
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.scenarios.crate_axes import FAST, axes_of, lines_of
from bench_framework.workflow.scenarios.release import Release, fetch_release
from bench_framework.workflow.scenarios.request import escaped, flow, split_command, unfit

Ask = Callable[[str, Sequence[str], str], str]
"""Asks the user: what is asked for, the allowed answers (all if empty), and the default."""
BENCHES: Final = "benches"
"""Subject of a guess about benchmarks."""
_NOUNS: Final = {
    "package": (PhraseCode.PACKAGE, PhraseCode.PACKAGES),
    "bin": (PhraseCode.BINARY, PhraseCode.BINARIES),
}
_PATH: Final = re.compile(r"(?!-)[^{}]*(?:/|\.[A-Za-z]\w*$)")
"""An argument that looks like the name of a file: it has a slash or a suffix, and no braces."""


@dataclass(frozen=True, kw_only=True)
class CrateOptions(CrateSelection):
    """The options of ``benchctl init``. `words` are the words after ``--``, if it was given.

    `registry` is a released crate in place of `crate`, such as ``ripgrep`` or ``ripgrep@14.1.0``.
    """

    folder: Path
    input: Path | None = None
    words: Sequence[str] | None = None
    registry: str | None = None


@dataclass(slots=True)
class Draft:
    """A scenario for a crate: its name, its text, and the guesses, each with its subject."""

    name: str = ""
    text: str = ""
    guesses: list[tuple[str, str]] = field(default_factory=list)
    commands: tuple[str, ...] = ("try", "run")
    """The commands of benchctl that follow."""


def crate_above() -> Path | None:
    """Return the folder of the crate that contains the current folder, if there is one."""
    folder = Path.cwd()
    return next((p for p in (folder, *folder.parents) if (p / "Cargo.toml").is_file()), None)


def crate_folder(given: Path | None = None) -> Path:
    """Return the folder of a crate, by default of that which contains the current folder.

    Raises `UsageError` (BX124): it is not a crate.
    """
    crate = (given or crate_above() or Path.cwd()).resolve()
    if not (crate / "Cargo.toml").is_file():
        raise unfit("BX124.not-a-crate", crate=crate)
    return crate


def draft_scenario(options: CrateOptions, ask: Ask | None) -> Draft:
    """Return a scenario for a binary of a crate. `ask` is called for what is missing.

    Raises:
        UsageError: BX124, something is missing or unknown, or cargo cannot read the crate.
        BuildError: BX226, cargo cannot fetch a released crate.
        MachineError: cargo cannot be started.
    """
    draft = Draft()
    release: Release | None = None
    if options.registry is not None:
        if options.crate is not None or options.package is not None:
            raise unfit("BX124.release-and-crate")
        release = fetch_release(options.registry)
        crate, owner = crate_folder(release.folder), f"{release.name} {release.version}"
        text = phrase_of(PhraseCode.OF_SOURCE, release.name, release.version, release.source)
        draft.guesses.append(("crate", text))
    else:
        crate = crate_folder(options.crate)
        owner = str(crate)
    package, note = choose_package(crate, owner, options.package, options.binary, ask)
    draft.guesses.append(("package", f"{package.name} {package.version}{note}"))
    binary, note = choose_binary(package, options.binary, ask)
    draft.guesses.append(("binary", f"{binary}{note}"))
    if options.registry is None and (benches := read_crate(package.folder).benches):
        text = phrase_of(PhraseCode.BENCHES_LEFT_OUT, ", ".join(benches))
        draft.guesses.append((BENCHES, text))
    words, path = _command(binary, options, ask)
    _add_text(draft, options, package, binary, words, path, release)
    return draft


def choose_package(
    crate: Path, owner: str, given: str | None, binary: str | None, ask: Ask | None = None
) -> tuple[Package, str]:
    """Return the package to build of the crate or workspace in a folder, and why it was chosen.

    Raises `UsageError`, BX124: it has no such package, or several. `owner` begins the message: the
    folder, or a released crate.
    """
    usable = {package.name: package for package in read_packages(crate) if package.bins}
    with_bin = [name for name, package in usable.items() if binary in package.bins]
    names = sorted((given is None and with_bin) or usable)
    if not names:
        raise no_targets(crate, owner)
    default = [name for name in names if usable[name].default]
    given = given or next((n for n in names if usable[n].folder == crate), None)
    only = default[0] if len(default) == 1 else None
    name, note = _choose("package", owner, names, given, only, ask)
    return usable[name], note


def no_targets(crate: Path, owner: str, missing: PhraseCode = PhraseCode.PACKAGE) -> UsageError:
    """Return the error for a crate without a binary. `owner` is its folder, or a released crate."""
    released, one = owner != str(crate), phrase_of(missing)
    benches, package = not released and _has_benches(crate), ""
    if not released and not benches:
        member = next((name for name in _members(crate) if _has_benches(crate, name)), None)
        benches, package = member is not None, f" --package {member}" if member else ""
    return unfit(
        "BX124.no-targets",
        owner=owner,
        one=one,
        released=released,
        benches=benches,
        package=package,
        alone=not released and not benches,
    )


def _has_benches(crate: Path, package: str | None = None) -> bool:
    try:
        return bool(read_crate(crate, package).benches)
    except CrateMissing:
        return False


def _members(crate: Path) -> Sequence[str]:
    """Return the packages of a workspace whose root is not a package."""
    try:
        read_crate(crate)
    except CrateMissing as missing:
        return missing.known
    return ()


def choose_binary(package: Package, given: str | None, ask: Ask | None = None) -> tuple[str, str]:
    """Return the binary of a package, and why it was chosen. Raises `UsageError`, BX124."""
    default = package.default_run or (package.name if package.name in package.bins else None)
    return _choose("bin", package.name, sorted(package.bins), given, default, ask)


def _choose(
    option: str,
    owner: str,
    names: Sequence[str],
    given: str | None,
    default: str | None,
    ask: Ask | None,
) -> tuple[str, str]:
    """Return the name for ``--package`` or ``--bin``, and the reason. `owner` has them."""
    one, several = map(phrase_of, _NOUNS[option])
    known, package = ", ".join(names), option == "bin"
    if given is not None:
        if given not in names:
            raise unfit(
                "BX124.no-target",
                owner=owner,
                package=package,
                one=one,
                given=given,
                near=suggest(given, names),
                option=option,
                known=known,
            )
        return given, ""
    if len(names) == 1:
        return names[0], f", {phrase_of(PhraseCode.ONLY_ONE)}"
    if ask is not None:
        return ask(one, names, default or ""), ""
    if default is None:
        raise unfit(
            "BX124.several-targets",
            owner=owner,
            package=package,
            several=several,
            option=option,
            known=known,
        )
    return default, f", {phrase_of(PhraseCode.DEFAULT_OF, known)}"


def _command(binary: str, options: CrateOptions, ask: Ask | None) -> tuple[list[str], Path | None]:
    """Return the command of a run and its input.

    An argument that is the only file among them is the input. Without arguments, it is the input.
    If no word has ``{bin}``, the words are the arguments of the binary.
    """
    given, path = options.words, options.input
    if given is None and ask is not None:
        text = ask(phrase_of(PhraseCode.ARGUMENTS_OF, binary), (), "")
        given = split_command(text, "BX124.quote-not-closed")
    if given is None and path is None:
        raise unfit("BX124.no-arguments", binary=binary)
    words = ["{input}"] if given is None else list(given)
    if words[:1] == [binary]:
        words[0] = "{bin}"
    if not any("{bin}" in word for word in words):
        words.insert(0, "{bin}")
    if path is None and any("{input}" in word for word in words):
        if ask is None:
            raise unfit("BX124.no-input")
        path = Path(ask(phrase_of(PhraseCode.INPUT_FILE), (), ""))
    files = [word for word in words if not fault_of(Path(word))]
    if path is None and len(files) == 1:
        path = Path(files[0])
        words[words.index(files[0])] = "{input}"
    fault = fault_of(path) if path else ""
    if path and (fault or not os.access(path, os.R_OK)):
        raise unfit("BX124.input-file", path=path, fault=fault)
    return words, path


def _add_text(
    draft: Draft,
    options: CrateOptions,
    package: Package,
    binary: str,
    words: list[str],
    path: Path | None,
    release: Release | None,
) -> None:
    """Add the name, the text and the remaining guesses. Relative paths start at `options.folder`."""
    folder = options.folder.resolve()
    question, axes = axes_of(package, binary, release, draft.guesses)
    files = (place / name for place in (package.folder, package.root) for name in TOOLCHAIN)
    if toolchain := next((file for file in files if file.is_file()), None):
        text = phrase_of(PhraseCode.TOOLCHAIN_OF, os.path.relpath(toolchain))
        draft.guesses.append(("rust", text))
    elif package.rust_version:
        draft.guesses.append(("rust", phrase_of(PhraseCode.OR_NEWER, package.rust_version)))
    given = {"{bin}": binary, "{input}": str(path)}
    filled = [re.sub(r"\{bin\}|\{input\}", lambda m: given[m[0]], word) for word in words]
    draft.guesses.append(("command", shlex.join(filled)))
    input_lines = []
    if path is None:
        missing = (word for word in words if _PATH.match(word) and not Path(word).exists())
        several = any(not fault_of(Path(word)) for word in words)
        text = phrase_of(PhraseCode.SEVERAL_FILES if several else PhraseCode.NO_FILE)
        if (name := next(missing, None)) is not None:
            text = phrase_of(PhraseCode.FILE_MISSING, name)
        draft.guesses.append(("input", text))
    else:
        input_lines.append(f"input: {flow({'file': os.path.relpath(path.resolve(), folder)})}")
        if not any("{input}" in word for word in words):
            input_lines.append('stdin: "{input}"')
        text = phrase_of(PhraseCode.AS_STDIN, str(path)) if len(input_lines) > 1 else str(path)
        draft.guesses.append(("input", text))
    source = [f"crate: {flow(os.path.relpath(package.folder, folder))}"]
    if release is not None:
        source = [f"registry: {flow(package.name)}"]
        if not release.compared:
            source.append(f"version: {flow(package.version)}")
    worker = [*source, f"bin: {flow(binary)}"]
    default = feature_groups.closure(package.features, ["default"])
    if required := [item for item in package.bins[binary] if item not in default]:
        worker.append(f"features: {flow(required)}  # the binary requires them")
    (axis, values), *others = axes.items()
    if "fast-build" in axes["profile"] and axis != "profile":
        worker.append("# To explore, with shorter builds and other times:")
        worker.append(f"# profile: {flow(FAST)}")
    axis_lines = lines_of(axis, values)
    if others:
        axis_lines += [
            "# More axes. Every combination is built and measured. If you enable an axis, add its",
            "# first value to `baseline`.",
            *(f"# {line}" for other in others for line in lines_of(*other)),
        ]
    draft.name = binary.lstrip("-_") or "scenario"
    template = Template((assets.template_dir() / "crate.yaml").read_text(encoding="utf-8"))
    draft.text = template.substitute(
        package=f"{package.name} {package.version}",
        name=flow(draft.name),
        question=question,
        worker=indent("\n".join(worker), "  "),
        axes=indent("\n".join(axis_lines), "  "),
        baseline=flow({axis: next(iter(values))}),
        command=flow([escaped(word, "bin|input") for word in words]),
        cwd=flow(os.path.relpath(Path.cwd(), folder) + "/"),
        input="\n".join(input_lines)
        or '# input: {file: ../data.txt}  # {input} in `command`, or below: stdin: "{input}"',
    )
