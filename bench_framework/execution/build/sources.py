"""Sources in the cache: released crates, and private copies with patches or other dependencies.

cargo fetches a released crate from its registry once per version. As for ``cargo install``, cargo's
configuration is that of the user (``$CARGO_HOME``): the project of the scenario does not change where a
crate comes from.

The user's files and the checkouts of revisions are never changed. A copy is made once for each
state of the sources. It is a clone, so that build scripts can call git and that the copies of one
repository share the builds of their dependencies.
"""

import hashlib
import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench_framework.errors import BuildError, MeasureError
from bench_framework.execution.build import configuration, revisions
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.process import Launcher
from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.store.layout import is_record_id, read_note, whole, write_note
from bench_framework.text.reasons import phrase_of

FETCH_TIMEOUT_S: Final = 1800.0
_MANIFEST: Final = """[package]
name = "benchctl-fetch"
version = "0.0.0"
edition = "2021"

[dependencies.{name}]
version = "{requirement}"
default-features = false

[workspace]
"""


@dataclass(frozen=True, slots=True)
class Released:
    """The unpacked sources of a crate, its place in a registry, and the checksum of its archive."""

    folder: Path
    source: str
    checksum: str


def note_of(root: Path, name: str, version: str) -> Path:
    """Return the file that describes fetched sources, and exists before they do."""
    return root / name / f"{version}.json"


def newest(launcher: Launcher, env: Mapping[str, str], name: str, requirement: str = "*") -> str:
    """Return the newest version of a crate that meets a requirement, such as ``<14.1.0``.

    cargo leaves out yanked versions, and earlier ones than a release, such as ``15.0.0-beta.1``.

    Raises `BuildError` (BX226): cargo finds none.
    """
    with TemporaryDirectory() as package:
        manifest = _depend(Path(package), name, requirement)
        argv = ["cargo", "generate-lockfile", "--manifest-path", str(manifest)]
        output = launcher.capture(argv, env, cwd=package, timeout_s=FETCH_TIMEOUT_S)
        versions = versions_in(manifest.with_name("Cargo.lock"), [name]) if output.ok else ()
    if not versions:
        details = (("cargo", failure_text(output.stderr) or output.finished.how),)
        raise BuildError("BX226.no-version", details=details, name=name)
    # The crate may itself depend on an earlier version.
    numbers = {
        v: [int(n) for n in v.partition("+")[0].split("-")[0].split(".")] for _, v in versions
    }
    return max(numbers, key=numbers.__getitem__)


def _depend(folder: Path, name: str, requirement: str) -> Path:
    """Write a package that depends on a crate. Return its manifest."""
    manifest = folder / "Cargo.toml"
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").touch()
    text = _MANIFEST.format(name=name, requirement=requirement)
    manifest.write_text(text, encoding="utf-8")
    return manifest


def fetch(
    launcher: Launcher, env: Mapping[str, str], root: Path, name: str, version: str
) -> Released:
    """Return the sources of a crate's version in ``root/NAME/VERSION``, and fetch missing ones.

    A package that depends on this version is given to ``cargo vendor``, which copies the sources. In
    contrast to ``cargo metadata``, it accepts a dependency without a library.

    Raises `BuildError` (BX226): cargo cannot fetch it, for example because there is no such version.
    """
    folder, note = root / name / version, note_of(root, name, version)
    stored = read_note(note, "source", "checksum")
    if folder.is_dir() and stored:
        return Released(folder, **stored)
    prefix = ".fetch-"
    with whole(folder) as sources, TemporaryDirectory(dir=folder.parent, prefix=prefix) as package:
        part = Path(package)
        manifest, vendored = _depend(part, name, f"={version}"), part / "vendor"
        argv = ["cargo", "vendor", "--respect-source-config", "--versioned-dirs", "--manifest-path"]
        argv += [str(manifest), str(vendored)]
        output = launcher.capture(argv, env, cwd=package, timeout_s=FETCH_TIMEOUT_S)
        if not output.ok:
            raise _fetch_failed(name, version, failure_text(output.stderr) or output.finished.how)
        try:
            lock = tomllib.loads((part / "Cargo.lock").read_text(encoding="utf-8"))
            both = (name, version)
            locked = next(p for p in lock["package"] if (p["name"], p["version"]) == both)
            stored = {"source": str(locked["source"]), "checksum": str(locked["checksum"])}
        except (OSError, ValueError, LookupError, TypeError, StopIteration) as error:
            cause = phrase_of(FaultCode.LOCK_FILE_UNREADABLE, repr(error))
            raise _fetch_failed(name, version, cause) from error
        (vendored / f"{name}-{version}").replace(sources)
        (sources / ".cargo-checksum.json").unlink(missing_ok=True)
        write_note(note, stored)
    return Released(folder, **stored)


def _fetch_failed(name: str, version: str, cause: str) -> BuildError:
    return BuildError("BX226", details=(("cargo", cause),), name=name, version=version)


def derive(
    spec: BuildSpec, crate: Path, cache: Path, launcher: Launcher, env: Mapping[str, str]
) -> Path:
    """Return the folder of a crate's copy with the patches and dependencies of a build.

    Without a repository, the folder of the lock file is copied, or that of the crate.

    Raises `BuildError`: BX243, a patch does not apply; BX244, a version cannot be used.
    """
    git, lock = revisions.Git(launcher, env), configuration.lockfile_of(crate)
    top = commit = None
    if spec.registry:
        # Any repository or workspace above the cache is another project.
        lock = lock if lock and lock.parent == crate else None
    else:
        top = git.try_run("-C", str(crate), "rev-parse", "--show-toplevel")
        commit = git.try_run("-C", str(crate), "rev-parse", "--verify", revisions.HEAD)
    root = (Path(top) if top and commit else lock.parent if lock else crate).resolve()
    inner = crate.resolve().relative_to(root)
    changed = list(changed_files(git, root, inner, lock) if commit else _all_files(root))
    digest = hashlib.sha256(repr((str(root), commit, spec.dependencies)).encode())
    for patch in spec.patches:
        digest.update(Path(patch).read_bytes())
    for path in changed:
        state = os.lstat(path) if os.path.lexists(path) else None
        digest.update(repr((str(path), state and (state.st_size, state.st_mtime_ns))).encode())
    checkouts = cache / "revisions"
    checked_out = root.parent.parent == checkouts.resolve()
    home = root.parent if checked_out else checkouts / revisions.key_of(str(root))
    if not checked_out:
        configuration.bring_above(root, home, env)
    folder = home / f"derived-{digest.hexdigest()[:32]}"
    if folder.is_dir():
        return folder / inner
    with whole(folder) as part:
        if commit:
            revisions.clone(git, root, part, commit)
        for path in changed:
            copy_file(path.relative_to(root), root, part)
        for file in map(Path, spec.patches):
            apply(git, part, file)
        toolchain = {"RUSTUP_TOOLCHAIN": spec.toolchain} if spec.toolchain else {}
        quiet = {**env, "CARGO_TERM_COLOR": "never", **toolchain}
        below = lock.resolve().parent.relative_to(root) if lock else inner
        for name, version in spec.dependencies:
            _select(name, version, part / inner, part / below, launcher, quiet)
    return folder / inner


def versions_in(lock: Path | None, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the versions of packages in a lock file."""
    packages = tomllib.loads(lock.read_text(encoding="utf-8")).get("package", ()) if lock else ()
    selected = set(names)
    return tuple((p["name"], p["version"]) for p in packages if p["name"] in selected)


def changed_files(git: revisions.Git, root: Path, inner: Path, lock: Path | None) -> Iterator[Path]:
    """Yield the files of a repository that differ from its commit, or affect builds of a crate in it if ignored."""
    yield from uncommitted(git, root)
    if lock is not None and lock.resolve().is_relative_to(root):
        yield lock.resolve()
    for name in configuration.names_within(inner):
        if (root / name).is_file():
            yield root / name


def apply(git: revisions.Git, folder: Path, patch: Path) -> None:
    """Apply a patch from the top of a checkout. Raises `BuildError` (BX243): it does not apply."""
    try:
        git.run("-C", str(folder), "apply", "--whitespace=nowarn", str(patch))
    except MeasureError as error:
        raise BuildError("BX243", details=error.details, patch=patch) from error


def uncommitted(git: revisions.Git, root: Path) -> list[Path]:
    """Return the files of a repository that differ from its commit, also deleted and new ones.

    Files that git ignores are left out, and new ones in folders with records of benchctl.
    """
    differing, others, every = (
        [root / name for name in git.output("-C", str(root), *words).split("\0") if name]
        for words in (
            ("diff", "--no-renames", "--name-only", "-z", revisions.HEAD),
            ("ls-files", "--others", "--exclude-standard", "-z"),
            ("ls-files", "-z"),
        )
    )
    # Submodules and other repositories are left out. Any other folder has taken the place of a file.
    paths = [
        path
        for path in dict.fromkeys((*differing, *others))
        if path.is_symlink() or not (path / ".git").exists()
    ]
    tracked, results = set(every), set[Path]()
    for path in paths:
        parents = path.relative_to(root).parents
        records = (parent for parent in parents if is_record_id(parent.name.strip(".")))
        results |= {root / p.parent.parent for p in records if len(p.parts) > 2}  # noqa: PLR2004
    return [path for path in paths if path in tracked or results.isdisjoint(path.parents)]


def _all_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        left_out = {"target", ".git"} if Path(folder) == root else {".git"}
        folders[:] = sorted(set(folders) - left_out)
        yield from (Path(folder, name) for name in sorted(files))


def copy_file(name: Path, root: Path, copy: Path) -> bool:
    """Make a file or symbolic link of `copy` like that of `root`; remove it if `root` does not have it.

    Return whether it was copied. `name` is its path in both. A folder may have taken the place of a file, or the
    other way round, and the files of both come in any order. A link to a folder that `copy` does not have, because
    git ignores it, is like a folder.
    """
    source, target = root / name, copy / name
    inner = [parent for parent in name.parents if parent.name]
    linked = any((root / p).is_symlink() and (copy / p).is_symlink() for p in inner)
    exists = os.path.lexists(source) and not linked
    if exists and (source.is_symlink() or not source.is_dir()):
        for parent in reversed(inner):
            if (copy / parent).is_symlink() or (copy / parent).is_file():
                (copy / parent).unlink()
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        return True
    behind_link = any((copy / parent).is_symlink() for parent in inner)
    if not behind_link and (target.is_symlink() or not target.is_dir()):
        with suppress(FileNotFoundError, NotADirectoryError):
            target.unlink()
    return False


def _select(
    name: str,
    version: str,
    crate: Path,
    workspace: Path,
    launcher: Launcher,
    env: Mapping[str, str],
) -> None:
    """Set the version of a package in the lock file, without the network if cargo knows it."""
    argv = ["cargo", "update", "--manifest-path", str(crate / "Cargo.toml")]
    argv += ["--package", name, "--precise", version]
    output = launcher.capture([*argv, "--offline"], env, cwd=str(crate))
    if not output.ok:
        output = launcher.capture(argv, env, cwd=str(crate))
    locked = versions_in(workspace / "Cargo.lock", [name]) if output.ok else ()
    if (name, version) not in locked:
        versions = ", ".join(other for _, other in locked)
        cause = failure_text(output.stderr) or output.finished.how
        if locked:
            cause = phrase_of(FaultCode.OTHER_SELECTION, name, versions)
        details = (("cargo", cause),)
        raise BuildError("BX244", details=details, name=name, version=version)
