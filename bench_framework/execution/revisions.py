"""Sources of a revision: a local repository's or a URL's, checked out once per commit into the cache.

The checkout is a clone of its own, so the user's working tree is never touched and build scripts that ask git
get an answer. Submodules are not fetched.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import BuildError, MachineError
from bench_framework.store.layout import writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.process import Launcher

CLONE_TIMEOUT_S: Final = 1800.0
HEAD: Final = "HEAD"


class Git:
    """git, by way of the launcher. It never asks for a password."""

    def __init__(self, launcher: Launcher, env: Mapping[str, str]) -> None:
        self._launcher = launcher
        self._env = {**env, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    def ask(self, *words: str, timeout_s: float = 60.0) -> str:
        """What git says. Raises `BuildError`, BX224, if it fails or is not installed."""
        try:
            said = self._launcher.capture(["git", *words], self._env, timeout_s=timeout_s)
        except MachineError as error:
            raise BuildError("git is needed and is not installed", code="BX224") from error
        if not said.ok:
            lines = said.stderr.strip().splitlines() or [said.finished.how]
            raise BuildError(
                f"git {words[0] if words[0] != '-C' else words[2]} failed",
                code="BX224",
                details=(("cause", lines[-1]),),
            )
        return said.stdout.strip()

    def try_ask(self, *words: str) -> str | None:
        """What git says; `None` if it fails."""
        try:
            return self.ask(*words)
        except BuildError:
            return None


def checkout(
    git: Git, cache: Path, *, crate: Path | None, url: str | None, revision: str | None
) -> tuple[Path, str]:
    """The folder of a crate at a revision, and the full commit id.

    Args:
        git: how to ask.
        cache: root of the cache.
        crate: a crate within a local repository, or `None`.
        url: of a repository, if there is no local crate.
        revision: branch, tag or commit; the remote's HEAD if `None`.

    Raises:
        BuildError: BX224, the repository or revision cannot be had; BX225, the crate lies in no repository.
    """
    if url is not None:
        repository, inner = _mirror(git, cache, url, revision), Path()
    else:
        assert crate is not None
        top = git.try_ask("-C", str(crate), "rev-parse", "--show-toplevel")
        if top is None:
            raise BuildError(
                f"{crate} is in no git repository, so it has no revision {revision}", code="BX225"
            )
        repository, inner = Path(top), crate.resolve().relative_to(Path(top).resolve())
    commit = git.ask(
        "-C", str(repository), "rev-parse", "--verify", f"{revision or HEAD}^{{commit}}"
    )
    folder = cache / "revisions" / _key(str(repository)) / commit
    if not folder.is_dir():
        _clone(git, repository, folder, commit)
    return folder / inner, commit


def commit_of(git: Git, cache: Path, *, crate: Path | None, url: str | None, revision: str) -> str:
    """The full id of the commit that a revision names.

    Args:
        git: how to ask.
        cache: root of the cache.
        crate: a crate within a local repository, or `None`.
        url: of a repository, if there is no local crate.
        revision: branch, tag or commit.

    Raises:
        BuildError: BX225, the crate lies in no repository, or that has no such revision; BX224, git failed.
    """
    repository = _repository(git, cache, crate, url, revision)
    found = git.try_ask("-C", str(repository), "rev-parse", "--verify", f"{revision}^{{commit}}")
    if found is None:
        raise BuildError(
            f"there is no revision {revision} in {url or repository}",
            code="BX225",
            effect="nothing was built or measured",
            help=_where_it_may_be(git, repository),
        )
    return found


def merge_base(git: Git, cache: Path, *, crate: Path, head: str, branches: Sequence[str]) -> str:
    """The commit at which `head` left the first of `branches` that exists.

    Raises:
        BuildError: BX225, no repository, none of these branches, or no commit in common.
    """
    repository = _repository(git, cache, crate, None, head)
    main = next((b for b in branches if _exists(git, repository, b)), None)
    if main is None:
        raise BuildError(
            f"there is no main branch in {repository}",
            code="BX225",
            details=(("tried", ", ".join(branches)),),
            effect="nothing was built or measured",
            help=f"--base names a revision; or {_where_it_may_be(git, repository)}",
        )
    found = git.try_ask("-C", str(repository), "merge-base", main, head)
    if found is None:
        raise BuildError(
            f"{main} and {head} have no commit in common in {repository}",
            code="BX225",
            effect="nothing was built or measured",
            help=_where_it_may_be(git, repository),
        )
    return found


def _exists(git: Git, repository: Path, revision: str) -> bool:
    return (
        git.try_ask("-C", str(repository), "rev-parse", "--verify", f"{revision}^{{commit}}")
        is not None
    )


def _repository(git: Git, cache: Path, crate: Path | None, url: str | None, revision: str) -> Path:
    if url is not None:
        return _mirror(git, cache, url, revision)
    assert crate is not None
    top = git.try_ask("-C", str(crate), "rev-parse", "--show-toplevel")
    if top is None:
        raise BuildError(
            f"{crate} is in no git repository, so it has no revision {revision}", code="BX225"
        )
    return Path(top)


def _where_it_may_be(git: Git, repository: Path) -> str:
    """What to do about a commit that is not there: a shallow clone holds the newest only."""
    if _is_shallow(git, repository):
        return (
            "this clone is shallow, it holds the newest commits only: `git fetch --unshallow`, "
            "or fetch-depth: 0 of actions/checkout"
        )
    return "`git fetch` brings what the remote has; --base and --head take a branch, tag or commit"


def _is_shallow(git: Git, repository: Path) -> bool:
    return git.try_ask("-C", str(repository), "rev-parse", "--is-shallow-repository") == "true"


def state_of(git: Git, crate: Path) -> tuple[str | None, bool | None]:
    """Commit id of a crate's repository, and whether its folder has uncommitted changes."""
    commit = git.try_ask("-C", str(crate), "rev-parse", "--verify", HEAD)
    if commit is None:
        return None, None
    status = git.try_ask("-C", str(crate), "status", "--porcelain", "--", ".")
    return commit, None if status is None else bool(status)


def has_changes(git: Git, crate: Path) -> bool:
    """Whether anything in a crate's repository differs from its HEAD: a workspace's other members count too."""
    top = git.ask("-C", str(crate), "rev-parse", "--show-toplevel")
    return bool(git.ask("-C", top, "status", "--porcelain"))


def _mirror(git: Git, cache: Path, url: str, revision: str | None) -> Path:
    folder = cache / "repositories" / _key(url)
    if not folder.is_dir():
        part = _fresh(folder)
        git.ask("clone", "--quiet", "--mirror", "--", url, str(part), timeout_s=CLONE_TIMEOUT_S)
        part.replace(folder)
        return folder
    known = git.try_ask(
        "-C", str(folder), "rev-parse", "--verify", f"{revision or HEAD}^{{commit}}"
    )
    # A commit id stays what it is; a branch or tag may have moved.
    if known is None or known != revision:
        git.ask("-C", str(folder), "fetch", "--quiet", "--prune", timeout_s=CLONE_TIMEOUT_S)
    return folder


def _clone(git: Git, repository: Path, folder: Path, commit: str) -> None:
    part = _fresh(folder)
    if _is_shallow(git, repository):
        # A clone of a shallow repository would only get what a branch or tag of it names.
        _borrow(git, repository, part)
    else:
        git.ask("clone", "--quiet", "--shared", "--no-checkout", "--", str(repository), str(part))
    git.ask("-C", str(part), "checkout", "--quiet", "--detach", commit, timeout_s=CLONE_TIMEOUT_S)
    part.replace(folder)


def _borrow(git: Git, repository: Path, part: Path) -> None:
    """An empty repository that reads the commits of a shallow one, and knows where these end."""
    common = git.ask(
        "-C", str(repository), "rev-parse", "--path-format=absolute", "--git-common-dir"
    )
    git.ask("init", "--quiet", str(part))
    with writing(part):
        (part / ".git" / "objects" / "info" / "alternates").write_text(
            f"{common}/objects\n", encoding="utf-8"
        )
        shutil.copyfile(Path(common) / "shallow", part / ".git" / "shallow")


def _fresh(folder: Path) -> Path:
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    return part


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
