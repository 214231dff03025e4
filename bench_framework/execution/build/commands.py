"""Builds by commands of the user: make, go, zig, pip and any other build system.

The commands run in a copy of the repository: a clone of the commit, with the uncommitted changes if the
scenario names no revision. What git ignores is not copied, so that no object file of another build is
linked. Each build starts from such a copy, and all copies of a repository have one path, because
programs contain it: equal sources give equal bytes.

A program is built once for equal sources, commands, variables, tools and packages (`_key`). It is
copied into the store of binaries. A program that uses other files of its copy (`CommandBuild.runtime`)
stays there, and each has a path of its own.
"""

import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.build import binaries, revisions, runtime_files, sources, tools
from bench_framework.execution.machine import host
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.progress import BuildStep, Observer
from bench_framework.foreign import sha256_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.record.run import Build
from bench_framework.store.layout import read_note, write_note, writing
from bench_framework.text.reasons import phrase_of

FORMAT: Final = 1
"""Number in each key. It changes if builds of an earlier benchctl are not those of this one."""
FOLDER: Final = "trees"
"""Folder of the cache with one folder for each repository."""
MOST_LOG: Final = 64 << 20
"""Bytes of output at which a build is ended."""
SHOWN_LINES: Final = 20
MOST_WRITTEN: Final = 5
"""Files that the message about a missing program names."""
_WORK: Final = "work"


@dataclass(frozen=True, slots=True)
class Means:
    """Launcher, environment, cache and limits of builds, with the versions of tools that they share."""

    launcher: Launcher
    env: Mapping[str, str]
    observer: Observer
    cache: Path
    timeout_s: float
    """Time limit of all commands of a build."""
    versions: dict[object, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Version lines by the folder and the variables of the builds."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of a repository, or the sources of one that need not be made.

    `inner` is the folder of the sources in it. `changed` are names of changed files in the order in which
    they were changed, by which make decides.
    """

    repository: Path
    inner: Path
    commit: str
    tree: str
    changed: tuple[str, ...] = ()


def note_of(spec: BuildSpec, cache: Path) -> Path:
    """Return the file that describes the newest program of a build."""
    return cache / "builds" / f"{spec.program.id}.json"


def latest(spec: BuildSpec, cache: Path) -> Path | None:
    """Return the newest program of a build; `None` before the first build."""
    note = read_note(note_of(spec, cache), "path")
    path = Path(note["path"]) if note else None
    return path if path is not None and path.is_file() else None


def build(spec: BuildSpec, place: str, label: str, means: Means) -> Build:
    """Run the commands of build `place`, such as ``1/3``, unless its program exists.

    Raises `MeasureError`: BX249, a command failed or left no usable program; BX224 or BX225, the sources
    cannot be copied; BX243, a patch does not apply.
    """
    given, folder = spec.by_commands, Path(spec.crate)
    assert given is not None
    git = revisions.Git(means.launcher, means.env)
    repository, commit, tree = revisions.tree_of(git, means.cache, folder, spec.revision)
    inner = folder.resolve().relative_to(repository.resolve())
    home = means.cache / FOLDER / revisions.key_of(str(repository))
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)
    env, variables = tools.environment(revisions.without_hooks(means.env), given.env)
    if (place_of_tools := (folder, given.env)) not in means.versions:
        means.versions[place_of_tools] = tools.versions(means.launcher, env, folder)
    used = means.versions[place_of_tools]
    copy = _Copy(repository, inner, commit, tree)
    with MachineLock(
        phrase_of(PhraseCode.BUILD_OF, label), means.observer, path=home / "build.lock"
    ):
        work = home / _WORK
        try:
            changed = [] if spec.revision else sources.uncommitted(git, repository)
            if changed or spec.patches:
                copy = _copied(git, copy, work, changed, spec.patches)
            key = _key(spec, copy, variables, used)
            note = home / "programs" / f"{key}.json"
            if (known := _known(spec, home / key, inner, note, means.cache)) is None:
                if not work.is_dir():
                    copy = _copied(git, copy, work, [], ())
                at = work
                if given.runtime:
                    _remove(home / key)
                    at = work.rename(home / key)
                try:
                    known = _run_all(spec, place, at, copy, env, means)
                except BaseException:
                    _remove(at)
                    raise
                write_note(note, known)
        finally:
            _remove(work)
    write_note(note_of(spec, means.cache), {"path": known["path"]})
    return _build(spec, known, copy, used, means)


def _copied(
    git: revisions.Git, given: _Copy, work: Path, changed: Sequence[Path], patches: Sequence[str]
) -> _Copy:
    """Copy a commit into the folder `work`, with changes and patches.

    Changed files are newer than all others and in the order of the originals, for make.
    """
    _remove(work)
    revisions.clone(git, given.repository, work, given.commit)
    if not (work / given.inner).is_dir() and not changed:
        raise BuildError("BX225.no-folder", inner=given.inner, revision=given.commit)
    ordered = sorted(changed, key=lambda p: p.lstat().st_mtime_ns if os.path.lexists(p) else 0)
    with writing(work):
        newest = 0
        for path in ordered:
            target = work / (name := path.relative_to(given.repository))
            if sources.copy_file(name, given.repository, work):
                os.utime(target, follow_symlinks=False)
                newest = max(newest + 1000, target.lstat().st_mtime_ns)
                os.utime(target, ns=(newest, newest), follow_symlinks=False)
    for patch in patches:
        sources.apply(git, work, Path(patch))
    git.run("-C", str(work), "add", "--all", "--force")
    tree = git.run("-C", str(work), "write-tree")
    names = tuple(str(path.relative_to(given.repository)) for path in ordered)
    return _Copy(given.repository, given.inner, given.commit, tree, names)


def _key(
    spec: BuildSpec, copy: _Copy, env: Mapping[str, str], versions: Sequence[tuple[str, str]]
) -> str:
    """Return the name of what determines a program: docs/build.md lists it."""
    given = spec.by_commands
    assert given is not None
    cpu = (os.uname().machine, host.cpu_model(), host.cpu_features())
    parts = (
        FORMAT,
        copy.tree,
        copy.changed,
        str(copy.inner),
        spec.bin,
        given.commands,
        given.runtime,
        sorted(env.items()),
        versions,
        tools.state(given.commands, env),
        cpu,
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _known(
    spec: BuildSpec, folder: Path, inner: Path, note: Path, cache: Path
) -> dict[str, Any] | None:
    """Return the description of a program that exists, unchanged; `None` if it must be built."""
    given, known = spec.by_commands, read_note(note, "path", "sha256", "tree", "files_sha256")
    if not known or given is None:
        return None
    try:
        if given.runtime:
            at = folder / inner
            digest = runtime_files.digest_of(at, spec.bin, given.runtime, known["tree"])
            return known | {"cached": True} if digest == known["files_sha256"] else None
        name = Path(spec.bin).name
        source = cache / "binaries" / known["sha256"] / name
        if sha256_of(source) != known["sha256"]:
            return None
        binaries.store(cache / "binaries", source, name)  # a lost copy for the control
    except (OSError, BuildError):
        return None
    return known | {"cached": True}


def _run_all(
    spec: BuildSpec, place: str, folder: Path, copy: _Copy, env: Mapping[str, str], means: Means
) -> dict[str, Any]:
    """Run the commands in a copy, and return the description of the program that they wrote."""
    given, at = spec.by_commands, folder / copy.inner
    assert given is not None
    log = means.cache / "builds" / f"{spec.id}.log"
    with writing(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
    start = host.seconds()

    def notify(step: str) -> None:
        means.observer.notify(BuildStep(0, host.seconds() - start, place, step=step))

    for number, words in enumerate(given.commands, start=1):
        command, total = shlex.join(words), len(given.commands)
        step = phrase_of(PhraseCode.OF_COMMANDS, command, number, total)
        left_s = max(1.0, means.timeout_s - (host.seconds() - start))
        _run(words, at, env, log, means.launcher, left_s, partial(notify, step))
    taken = host.seconds() - start
    program = at / spec.bin
    if not program.is_file():
        git = revisions.Git(means.launcher, means.env)
        raise BuildError(
            "BX249.no-program",
            details=(*_written(git, at), ("log", str(log))),
            program=spec.bin,
            folder=program.is_dir(),
        )
    files = None
    if given.runtime:
        files = runtime_files.digest_of(at, spec.bin, given.runtime, copy.tree)
        digest, size = sha256_of(program), program.stat().st_size
        stored = binaries.Stored(digest, program, program, size)
    else:
        runtime_files.require_alone(program, folder)
        stored = binaries.store(means.cache / "binaries", program, program.name)
    return {
        "tree": copy.tree,
        "build_s": taken,
        "log": str(log),
        "path": str(stored.path),
        "control": str(stored.control),
        "sha256": stored.sha256,
        "size": stored.size_bytes,
        "files_sha256": files,
    }


def _run(
    words: tuple[str, ...],
    folder: Path,
    env: Mapping[str, str],
    log: Path,
    launcher: Launcher,
    timeout_s: float,
    notify: Callable[[], None],
) -> None:
    command, output = shlex.join(words), ("log", str(log))
    if "/" not in words[0] and shutil.which(words[0], path=env.get("PATH")) is None:
        cause = ("cause", phrase_of(PhraseCode.NOT_IN_PATH, words[0]))
        raise BuildError("BX249.not-started", details=(cause,), command=command)
    with writing(log), log.open("a", encoding="utf-8") as file:
        file.write(f"$ {command}\n")
    before = log.stat().st_size
    request = Command(
        words,
        env,
        str(folder),
        stdout=str(log),
        stderr=str(log),
        timeout_s=timeout_s,
        most_stderr=None,
        limited=(str(log), MOST_LOG),
    )
    try:
        finished = launcher.run(request, notify)
    except MachineError as error:
        if not error.details:
            raise
        raise BuildError(
            "BX249.not-started", details=(error.details[0],), command=command
        ) from error
    notify()
    if not finished.ok:
        with log.open("rb") as file:
            file.seek(before)
            lines = file.read().decode(errors="replace").splitlines()
        last = "\n".join(lines[-SHOWN_LINES:])
        details = (("output", last), output) if last else (output,)
        raise BuildError("BX249.failed", details=details, command=command, how=finished.how)


def _written(git: revisions.Git, folder: Path) -> tuple[tuple[str, str], ...]:
    """Return a line with the programs that the commands wrote, newest first; empty without any."""
    text = git.try_run("-C", str(folder), "ls-files", "--others", "-z", "--", ".") or ""
    paths = [folder / name for name in text.split("\0") if name]
    programs = [p for p in paths if p.is_file() and os.access(p, os.X_OK)]
    newest = sorted(programs, key=lambda p: -p.stat().st_mtime_ns)[:MOST_WRITTEN]
    names = ", ".join(str(path.relative_to(folder)) for path in newest)
    return (("written", names),) if names else ()


def _build(
    spec: BuildSpec,
    known: Mapping[str, Any],
    copy: _Copy,
    used: tuple[tuple[str, str], ...],
    means: Means,
) -> Build:
    files, cached = known.get("files_sha256"), bool(known.get("cached"))
    build = Build(
        spec.id,
        ok=True,
        sha256=known["sha256"],
        path=known["path"],
        control_path=known["control"],
        size_bytes=int(known["size"]),
        code_sha256=files,
        files_sha256=files,
        build_s=None if cached else known["build_s"],
        cached=cached,
        log=known["log"],
        revision=copy.commit,
        dirty=bool(copy.changed),
        tree=copy.tree,
        tools=used,
        patches_sha256=tuple(sha256_of(Path(patch)) for patch in spec.patches),
    )
    return build if files else binaries.examined(build, means.launcher, means.env)


def _remove(folder: Path) -> None:
    """Remove a copy, also folders that a build made read-only. Raises `MachineError` (BX235)."""
    if not folder.is_dir():
        return
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o755)
    with writing(folder):
        shutil.rmtree(folder)
