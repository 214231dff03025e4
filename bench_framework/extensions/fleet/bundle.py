"""The files that a scenario needs on another host: those that it names, and the sources of its crates.

Whoever can reach the scheduler can run programs on a host, so the contents are trusted. Paths and links are
checked: a damaged bundle must not change files outside of its folder.
"""

import contextlib
import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench_framework import assets
from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.build import revisions
from bench_framework.execution.build.binaries import EXECUTABLE
from bench_framework.execution.build.configuration import lockfile_of, names_within
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher, scratch_folder
from bench_framework.foreign import expanded_home, is_below, matching_files, read_regular
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store.layout import writing
from bench_framework.text.numbers import format_size
from bench_framework.workflow.run_options import RunOptions, find_scenario

MOST_BYTES: Final = 256 << 20
MOST_FILES: Final = 50_000
_MOST_NAMED: Final = 3
REPLACEMENT: Final = "\ufffd"
"""Character in place of bytes that are not UTF-8, in the output of a command."""
_LONGEST: Final = 4096
"""Longest word of a command that can be a path, in characters (PATH_MAX)."""


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """A file of a bundle with its content, or a symbolic link with its target."""

    content: bytes = b""
    executable: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files by their paths from the root, with slashes; `folders` exist even if they contain no file."""

    files: Mapping[str, BundleEntry] = field(default_factory=dict)
    folders: tuple[str, ...] = ()


def pack(files: Mapping[str, Path], folders: Iterable[str] = ()) -> Bundle:
    """Return the bundle of files. The keys are their paths in it.

    Raises `UsageError` (BX134): a file cannot be read, the files are too large, or a link leaves them.
    """
    entries: dict[str, BundleEntry] = {}
    contents: dict[bytes, bytes] = {}  # pickle stores an object once
    try:
        _require_small({path: source.lstat().st_size for path, source in files.items()})
        for path, source in sorted(files.items()):
            if source.is_symlink():
                link = str(source.readlink())
                if not _is_inside(path, link):
                    raise UsageError("BX134.symbolic-link", source=source, link=link)
                entries[path] = BundleEntry(link=link)
            else:
                content = read_regular(source, MOST_BYTES)
                executable = bool(source.stat().st_mode & stat.S_IXUSR)
                entries[path] = BundleEntry(contents.setdefault(content, content), executable)
    except OSError as error:
        raise UsageError(
            "BX134.not-readable", filename=error.filename, strerror=error.strerror or error
        ) from error
    return Bundle(entries, tuple(sorted({*folders})))


def _require_small(sizes: Mapping[str, int]) -> None:
    total = sum(sizes.values())
    if total <= MOST_BYTES and len(sizes) <= MOST_FILES:
        return
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:_MOST_NAMED]
    raise UsageError(
        "BX134.too-large",
        details=tuple(("file", f"{path} ({format_size(size)})") for path, size in largest),
        sizes=len(sizes),
        total=format_size(total),
        most_files=MOST_FILES,
        most_bytes=format_size(MOST_BYTES),
    )


def unpack(bundle: Bundle, root: Path) -> None:
    """Make the files below a folder equal to those of a bundle.

    Unchanged files keep their times, so cargo compiles what changed only. Nothing is written outside
    of the folder.

    Raises `MachineError`: BX264, a path or a link leaves the folder, or two paths contradict each other;
    BX235, writing failed.
    """
    _require_inside(bundle)
    files = bundle.files
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        for folder, names, others in os.walk(root, topdown=False):
            for path in (Path(folder, name) for name in (*names, *others)):
                if path.is_symlink() or not path.is_dir():
                    if not _is_same(path, files.get(path.relative_to(root).as_posix())):
                        path.unlink()
                else:
                    with contextlib.suppress(OSError):  # it has files of the bundle
                        path.rmdir()
        for name in bundle.folders:
            (root / name).mkdir(parents=True, exist_ok=True)
        for name, entry in files.items():
            path = root / name
            if path.is_symlink() or path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.link:
                path.symlink_to(entry.link)
            else:
                path.write_bytes(entry.content)
            if entry.executable:
                path.chmod(EXECUTABLE)


def _require_inside(bundle: Bundle) -> None:
    links = {name: entry.link for name, entry in bundle.files.items() if entry.link}
    files = bundle.files.keys() - links.keys()
    for name in (*bundle.files, *bundle.folders):
        link = links.get(name, "")
        if not _is_inside(name, link):
            raise damaged(Phrase(ExtensionCode.LEAVES_FOLDER, repr(name)))
        # A link below a link starts at another folder than its path, so it can leave.
        not_above = files | links.keys() if link else files
        if not not_above.isdisjoint(map(str, Path(name).parents)):
            raise damaged(Phrase(ExtensionCode.BELOW_FILE, repr(name)))
    if both := sorted(bundle.files.keys() & {*bundle.folders}):
        raise damaged(Phrase(ExtensionCode.FOLDER_AND_FILE, repr(both[0])))


def _is_same(path: Path, entry: BundleEntry | None) -> bool:
    if entry is None or path.is_symlink() or entry.link:
        return path.is_symlink() and entry is not None and str(path.readlink()) == entry.link
    executable = bool(path.stat().st_mode & stat.S_IXUSR)
    return path.is_file() and executable == entry.executable and path.read_bytes() == entry.content


def _is_inside(path: str, link: str = "") -> bool:
    """Return whether a path stays in the folder where it starts, and the link at this path does, too.

    ``..`` is accepted at the start of a link only: after a name, which may be a link, it can lead anywhere.
    """
    up, parts = 0, link.split("/")
    while parts[:1] == [".."]:
        up, parts = up + 1, parts[1:]
    is_valid = is_below("/".join((path, *(parts if link else ())))) and "\0" not in path + link
    return is_valid and up <= path.count("/")


def damaged(cause: Phrase | str, what: Phrase | str = "") -> MachineError:
    """Return the error BX264: what the client sent, or something else, arrived damaged."""
    return MachineError("BX264", what=what or Phrase(ExtensionCode.SENT_FILES), cause=cause)


@dataclass(frozen=True, slots=True)
class Upload:
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


def package(name: str, options: RunOptions, plan: Plan, launcher: Launcher) -> Upload:
    """Return a scenario with the files that it names by relative paths.

    Absolute paths, and programs that are found on PATH, are those of the host.

    Raises:
        UsageError: BX134, the files cannot be sent.
        BuildError: BX224 or BX225, git failed or a revision is missing.
    """
    path, here = find_scenario(name), Path.cwd()
    if path in assets.shipped_scenarios().values():
        return Upload(name)
    with scratch_folder() as scratch:
        collector = _Collector(path.absolute().parent, options, launcher, Path(scratch))
        collector.add(path.absolute())
        collector.add_named(path)
        collector.add_crates(plan)
        given = {_normal(place): source for place, source in collector.files.items()}
        places = {*map(_normal, collector.folders), here}
        root = Path(os.path.commonpath([*places, *(place.parent for place in given)]))

        def below(place: Path) -> str:
            return "" if place == root else place.relative_to(root).as_posix()

        files = {below(place): source for place, source in given.items()}
        bundle = pack(files, {*map(below, places)} - {"", *files})
    places_sent = frozenset({*collector.files, *collector.crates})
    return Upload(os.path.relpath(path, here), bundle, below(here), root, places_sent)


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
    mark: Path = field(init=False)
    """A link to the folder of the scenario, at which relative paths start here."""

    def __post_init__(self) -> None:
        self.mark = self.scratch / "scenario"
        self.mark.symlink_to(self.folder)

    def add(self, path: Path) -> None:
        """Add a file that the scenario names, or the file that a link of this name leads to."""
        self.files[_normal(path)] = path.resolve()

    def add_named(self, path: Path) -> None:
        """Add what the scenario names by relative paths.

        The scenario is expanded as if it were in the folder `mark`. So each path that begins there is
        relative in its file.
        """
        scenario = load(path, overrides=self.options.overrides)
        plan = expand(replace(scenario, folder=self.mark), only=self.options.only)
        for place in filter(None, map(self.real, {*_texts(astuple(plan))})):
            if place.is_file():
                self.add(place)
            elif place.is_dir():
                self.folders.add(place)
        for dataset in filter(None, (given.dataset for given in plan.inputs)):
            if dataset.kind == "folder":
                self._add_tree(self.real(dataset.path or ""))
            for pattern in dataset.patterns:
                if not expanded_home(pattern).is_absolute():
                    for file in matching_files(self.folder, pattern):
                        self.add(Path(file))
        for spec in (*plan.builds, *(run.build for run in plan.training)):
            if (crate := self.real(spec.crate)) is not None:
                self.crates.setdefault(crate, set()).update(filter(None, (spec.revision,)))
        self._add_words(plan)

    def real(self, text: str) -> Path | None:
        """Return the place of a path that is relative in the scenario; `None` for any other text."""
        path = Path(text)
        if not path.is_relative_to(self.mark):
            return None
        return _normal(self.folder / path.relative_to(self.mark))

    def _add_words(self, plan: Plan) -> None:
        """Add the files that commands name relative to the folder in which they run."""
        bases = {Path.cwd(), self.folder}
        bases |= {place for cell in plan.cells if (place := self.real(cell.cwd or ""))}
        servers = [(c.server.command, c.server.stop) for c in plan.cells if c.server is not None]
        cells = [(c.command, c.prepare, c.cleanup) for c in plan.cells]
        inputs = [i.dataset.command for i in plan.inputs if i.dataset is not None]
        others = (plan.program, plan.tuning, plan.answer.filter, plan.answer.check)
        trained = [spec.train for spec in plan.builds]
        for word in {*_texts((cells, servers, inputs, others, trained))}:
            for token in _tokens(word):
                for place in (base / token for base in bases if not Path(token).is_absolute()):
                    if place.is_file():
                        self.add(place)

    def add_crates(self, plan: Plan) -> None:
        """Add the sources of the crates, with the commits that the plan builds."""
        given = plan.revisions
        pair = {given.base, given.head} - {None} if given is not None else set()
        git = revisions.Git(self.launcher, host.environment())
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
        left_out = (self.options.results, host.cache_root())
        return not any(path.resolve().is_relative_to(folder.resolve()) for folder in left_out)

    def _add_repository(self, git: revisions.Git, top: Path) -> None:
        """Add the files of a working tree that git tracks or does not ignore."""
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, git.output("-C", str(top), *words).split("\0")):
            path = top / name
            if path.is_dir() and not path.is_symlink():
                if name.endswith("/"):
                    continue  # another repository, which is not part of this one
                raise UsageError("BX134.submodule", path=path)
            there = os.path.lexists(path)  # or it was removed
            if (there or REPLACEMENT in name) and self._is_sent(path):
                if not there:
                    raise UsageError("BX134.name-not-utf-8", path=path)
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
        git.run("init", "--quiet", "--template=", str(copy))
        run, ids = partial(git.run, "-C", str(copy)), sorted({*commits.values()})
        attempt = partial(git.try_run, "-C", str(copy))
        run("fetch", "--quiet", "--no-tags", "--depth=1", f"file://{top}", *ids)
        run("update-ref", "--no-deref", revisions.HEAD, commits[revisions.HEAD])
        for name, commit in commits.items():
            verify = ("rev-parse", "--verify", f"{name}^{{commit}}")
            if attempt(*verify) != commit:
                attempt("update-ref", f"refs/heads/{name}", commit)
                if attempt(*verify) != commit:
                    raise UsageError("BX134.revision", revision=name)
        run("read-tree", revisions.HEAD)
        (copy / ".git" / "FETCH_HEAD").unlink(missing_ok=True)  # it names this machine's folder
        for path in (copy / ".git").rglob("*"):
            place = top / path.relative_to(copy)
            if path.is_dir():
                self.folders.add(place)  # git requires also empty ones
            else:
                self.files[place] = path


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from _texts(value)


def _tokens(word: str) -> list[str]:
    try:
        tokens = shlex.split(word)
    except ValueError:
        tokens = [word]
    return [token for token in tokens if 0 < len(token) < _LONGEST and "\0" not in token]
