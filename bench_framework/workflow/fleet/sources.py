"""The files that a scenario needs on another host: those that it names, and the sources of its crates."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bench_framework import assets
from bench_framework.execution.build import revisions
from bench_framework.execution.build.configuration import lockfile_of, names_within
from bench_framework.execution.build.messages import MOST_MESSAGES
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher, scratch_folder
from bench_framework.foreign import matching_files
from bench_framework.model.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.workflow.fleet.bundle import Bundle, pack, unsent
from bench_framework.workflow.run_options import RunOptions
from bench_framework.workflow.scenarios.files import find_scenario

_ID: Final = re.compile("[0-9a-f]{4,40}")
_LONGEST: Final = 4096
"""Longest word of a command that can be a path, in characters (PATH_MAX)."""


@dataclass(frozen=True, slots=True)
class Package:
    """A scenario with its files.

    Attributes:
        scenario: name of a bundled scenario, or path of its file from `cwd`.
        cwd: path of the current folder in the bundle.
        root: folder that contains all files on this machine.
        places: all files, and the folders of all crates.
    """

    scenario: str
    bundle: Bundle = field(default_factory=Bundle)
    cwd: str = ""
    root: Path = Path("/")
    places: frozenset[Path] = frozenset()


def package(name: str, options: RunOptions, plan: Plan, launcher: Launcher) -> Package:
    """Return a scenario with the files that it names by relative paths.

    Absolute paths, and programs that are found on PATH, are those of the host.

    Raises:
        UsageError: BX134, the files cannot be sent.
        BuildError: BX224 or BX225, git failed or a revision is missing.
    """
    path, here = find_scenario(name), Path.cwd()
    if path in assets.shipped_scenarios().values():
        return Package(name)
    with scratch_folder() as scratch:
        collector = _Collector(path.absolute().parent, options, launcher, Path(scratch))
        collector.add(path.absolute())
        collector.add_named(path)
        collector.add_crates(plan)
        parents = {place.parent for place in map(_normal, collector.files)}
        root = Path(os.path.commonpath([*parents, *map(_normal, collector.folders), here]))

        def below(place: Path) -> str:
            return "" if place == root else place.relative_to(root).as_posix()

        files = {below(_normal(place)): source for place, source in collector.files.items()}
        folders = {below(place) for place in (*map(_normal, collector.folders), here)} - {""}
        bundle = pack(files, folders - files.keys())
    places = frozenset({*collector.files, *collector.crates})
    return Package(os.path.relpath(path.absolute(), here), bundle, below(here), root, places)


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))


@dataclass(slots=True)
class _Collector:
    """The files to send, by their places on this machine; a copy can be the source of a file."""

    folder: Path
    """Folder of the scenario."""
    options: RunOptions
    launcher: Launcher
    scratch: Path
    files: dict[Path, Path] = field(default_factory=dict)
    folders: set[Path] = field(default_factory=set)
    crates: dict[Path, set[str]] = field(default_factory=dict)
    """Revisions by the folder of a crate."""

    @property
    def mark(self) -> Path:
        """Return a link to the folder of the scenario, at which relative paths start here."""
        return self.scratch / "scenario"

    def add(self, path: Path) -> None:
        """Add a file that the scenario names, or the file that a link of this name leads to."""
        self.files[_normal(path)] = path.resolve()

    def add_named(self, path: Path) -> None:
        """Add what the scenario names by relative paths.

        The scenario is expanded as if it were in the folder `mark`. So each path that begins there is
        relative in its file.
        """
        self.mark.symlink_to(self.folder)
        scenario = load(path, overrides=self.options.overrides)
        plan = expand(replace(scenario, folder=self.mark), only=self.options.only)
        texts = {*_texts(astuple(plan))}
        for place in filter(None, map(self.real, texts)):
            if place.is_file():
                self.add(place)
            elif place.is_dir():
                self.folders.add(place)
        for dataset in (given.dataset for given in plan.inputs):
            if dataset is not None and dataset.kind == "folder":
                self._add_tree(self.real(dataset.path or ""))
            for pattern in dataset.patterns if dataset is not None else ():
                if not Path(pattern).expanduser().is_absolute():
                    for file in matching_files(self.folder, pattern):
                        self.add(Path(file))
        for spec in (*plan.builds, *(run.build for run in plan.training)):
            if (crate := self.real(spec.crate)) is not None:
                self.crates.setdefault(crate, set()).update(filter(None, (spec.revision,)))
        self._add_words(plan)

    def real(self, text: str) -> Path | None:
        """Return the place of a path that is relative in the scenario; `None` for any other text."""
        start = str(self.mark)
        if text != start and not text.startswith(f"{start}/"):
            return None
        return _normal(self.folder / text[len(start) :].lstrip("/"))

    def _add_words(self, plan: Plan) -> None:
        """Add the files that commands name relative to the folder in which they run."""
        bases = {Path.cwd(), self.folder}
        bases |= {place for cell in plan.cells if (place := self.real(cell.cwd or ""))}
        cells = [(c.command, c.prepare, c.cleanup) for c in plan.cells]
        inputs = [i.dataset.command for i in plan.inputs if i.dataset is not None]
        others = (plan.program, plan.tuning, plan.answer.filter, plan.answer.check)
        trained = [spec.train for spec in plan.builds]
        for word in {*_texts((cells, inputs, others, trained))}:
            for token in _tokens(word):
                for place in (base / token for base in bases if not Path(token).is_absolute()):
                    if place.is_file():
                        self.add(place)

    def add_crates(self, plan: Plan) -> None:
        """Add the sources of the crates, with the commits that the plan builds."""
        given = plan.revisions
        pair = {given.base, given.head} - {None} if given is not None else set()
        env = host.environment()
        git = revisions.Git(self.launcher, env)
        repositories: dict[Path, tuple[Path, set[str]]] = {}
        for crate, names in self.crates.items():
            output = git.try_run("-C", str(crate), "rev-parse", "--show-toplevel")
            if (lock := lockfile_of(crate)) is not None:
                self.add(lock)
            if output is None:
                self._add_tree(lock.parent if lock else crate)
                continue
            top = Path(output)
            repositories.setdefault(top, (crate, set()))[1].update(names, map(str, pair))
            for name in names_within(crate.resolve().relative_to(top.resolve())):
                if (top / name).is_file():
                    self.add(top / name)
        for number, (top, (crate, names)) in enumerate(repositories.items()):
            self._add_repository(git, top)
            self._add_commits(git, top, crate, names, self.scratch / str(number))

    def _add_tree(self, folder: Path | None) -> None:
        """Add all files of a folder, except what cargo built."""
        for parent, names, files in os.walk(folder or self.mark / "none"):
            names[:] = [n for n in names if not (n == "target" and "Cargo.toml" in files)]
            names[:] = [n for n in names if self._is_sent(Path(parent, n))]
            for name in (*files, *(n for n in names if Path(parent, n).is_symlink())):
                self.files.setdefault(_normal(Path(parent, name)), Path(parent, name))

    def _is_sent(self, path: Path) -> bool:
        """Return False for the records of this machine and for its cache."""
        left_out = (self.options.results, host.cache_root())
        return not any(path.resolve().is_relative_to(folder.resolve()) for folder in left_out)

    def _add_repository(self, git: revisions.Git, top: Path) -> None:
        """Add the files of a working tree that git tracks or does not ignore."""
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        argv = ["git", "-C", str(top), *words]
        listed = self.launcher.capture(argv, git.env, most=MOST_MESSAGES).stdout.split("\0")
        for name in filter(None, listed):
            path = top / name
            if path.is_dir() and not path.is_symlink():
                if name.endswith("/"):
                    continue  # another repository, which is not part of this one
                raise unsent(f"{path} is a submodule of git", "copy its files into the repository")
            if os.path.lexists(path) and self._is_sent(path):
                self.files.setdefault(_normal(path), path)

    def _add_commits(
        self, git: revisions.Git, top: Path, crate: Path, names: Iterable[str], copy: Path
    ) -> None:
        """Add a shallow repository with HEAD and the commits of other revisions."""
        if git.try_run("-C", str(crate), "rev-parse", "--verify", revisions.HEAD) is None:
            return
        cache = host.cache_root()
        commits = {
            name: revisions.commit_of(git, cache, crate=crate, url=None, revision=name)
            for name in (revisions.HEAD, *names)
        }
        words = ("-C", str(copy))
        git.run("init", "--quiet", "--template=", str(copy))
        ids = sorted({*commits.values()})
        git.run(*words, "fetch", "--quiet", "--no-tags", "--depth=1", f"file://{top}", *ids)
        for name, commit in commits.items():
            if name != revisions.HEAD and not _ID.fullmatch(name):
                git.run(*words, "update-ref", f"refs/heads/{name}", commit)
        head = commits[revisions.HEAD]
        git.run(*words, "update-ref", "--no-deref", revisions.HEAD, head)
        git.run(*words, "read-tree", revisions.HEAD)
        (copy / ".git" / "FETCH_HEAD").unlink(missing_ok=True)  # it names this machine's folder
        for path in (copy / ".git").rglob("*"):
            place = top / path.relative_to(copy)
            if path.is_dir():
                self.folders.add(place)  # git requires also empty ones
            else:
                self.files[place] = path


def _texts(values: Any) -> Iterator[str]:
    """Yield the texts in nested tuples and lists."""
    if isinstance(values, str):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from _texts(value)


def _tokens(word: str) -> list[str]:
    """Return the words of a text that can be a command for a shell."""
    try:
        tokens = shlex.split(word)
    except ValueError:
        tokens = [word]
    return [token for token in tokens if 0 < len(token) < _LONGEST and "\0" not in token]
