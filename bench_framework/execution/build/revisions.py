"""Sources of a revision of a local repository or URL, checked out once per commit into the cache.

The checkout is a separate clone, so the user's working tree is not changed and build scripts can
call git. Submodules are not fetched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench_framework.errors import EXIT_USAGE, BuildError, MachineError, UsageError
from bench_framework.execution.build import configuration
from bench_framework.execution.machine.lock import locked
from bench_framework.execution.process import Launcher
from bench_framework.masking import without_userinfo
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.revisions import Commit
from bench_framework.scenario.document import suggest
from bench_framework.store.layout import whole, writing

_MOST_NAMED: Final = 5
"""Branches and tags that a message names."""
CLONE_TIMEOUT_S: Final = 1800.0
MOST_OUTPUT: Final = 1 << 30
"""Largest output of git in bytes: the names of a few million files or commits."""
HEAD: Final = "HEAD"
_SEPARATOR: Final = "\0"
_LOG: Final = "%H%x00%P%x00%an%x00%aI%x00%s%x00end"
"""No name or subject contains NUL. The last word keeps an empty subject, because spaces at the end of
the output are removed."""


_INERT: Final = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
"""Configuration with which git runs no program of a repository, except for its filters."""
_READ: Final = {
    "core.safecrlf": "false",
    "diff.ignoreSubmodules": "none",
    "i18n.logOutputEncoding": "UTF-8",
    "status.showUntrackedFiles": "normal",
}
"""Configuration in place of the user's, with which git hides no change and prints no other encoding."""


class Git:
    """Runner of git commands.

    git never asks for a password, writes no index that it only reads, and runs no hook and no file
    system monitor of a repository. It uses the user's configuration, such as addresses and ignored
    files, except for what would hide changes.
    """

    def __init__(self, launcher: Launcher, env: Mapping[str, str]) -> None:
        self._launcher = launcher
        fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        self.env = _configured(without_hooks({**env, **fixed}), _READ)

    def run(self, *words: str, timeout_s: float = 60.0) -> str:
        """Return the output of git without spaces at its ends. Raises as `output`."""
        return self.output(*words, timeout_s=timeout_s).strip()

    def output(self, *words: str, timeout_s: float = 60.0) -> str:
        """Return the whole output of git.

        Raises `BuildError` (BX224): it fails or is not installed; `MachineError`, BC410, this is not Linux.
        """
        try:
            output = self._launcher.capture(
                ["git", *words], self.env, timeout_s=timeout_s, most=MOST_OUTPUT
            )
        except MachineError as error:
            if error.code == "BC410":
                raise
            raise BuildError("BX224.not-installed") from error
        if not output.ok:
            lines = output.stderr.strip().splitlines() or [output.finished.how]
            text = words[2] if words[0] in {"-C", "--git-dir"} else words[0]
            raise BuildError("BX224.failed", details=(("cause", lines[-1]),), text=text)
        return output.stdout

    def with_login(self, url: str) -> Git:
        """Return a runner that logs in with user and password of a URL, which git does not store."""
        if without_userinfo(url) == url:
            return self
        login = {f"url.{url}.insteadOf": without_userinfo(url)}
        return Git(self._launcher, _configured(self.env, login))

    def try_run(self, *words: str) -> str | None:
        """Return the output of git; `None` if it fails."""
        try:
            return self.run(*words)
        except (BuildError, MachineError):
            return None


def without_hooks(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which git runs no hook and no file system monitor of a repository."""
    return _configured(env, _INERT)


def _configured(env: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with more configuration for git; unchanged if its number is invalid."""
    count = env.get("GIT_CONFIG_COUNT") or "0"
    if not count.isdecimal():
        return dict(env)  # git names the variable in its message
    added: dict[str, str] = {}
    first = int(count)
    for n, (key, value) in enumerate(values.items(), first):
        added |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return {**env, **added, "GIT_CONFIG_COUNT": str(first + len(values))}


def checkout(
    git: Git, cache: Path, *, crate: Path | None, url: str | None, revision: str | None
) -> tuple[Path, str]:
    """Check out a crate at a revision. Return its folder and the full commit id.

    The source is a crate in a local repository, or the URL of a repository. `revision` is a branch,
    tag or commit; the remote's HEAD if `None`. Configuration that git ignores is that of the local
    repository.

    Raises `BuildError` (BX224): the repository cannot be fetched; BX225, the crate is in no
    repository, or the revision does not exist.
    """
    repository = _repository(git, cache, crate, url, revision or HEAD)
    inner = Path() if crate is None else crate.resolve().relative_to(repository.resolve())
    commit = _resolve(git, repository, url, revision or HEAD)
    folder = cache / "revisions" / key_of(str(repository)) / commit
    if not folder.is_dir():
        with whole(folder) as part:
            clone(git, repository, part, commit)
    if not (folder / inner).is_dir():
        raise BuildError("BX225.no-folder", inner=inner, revision=revision or HEAD)
    if crate is not None:
        configuration.bring_ignored(git.run, repository, inner, folder)
        configuration.bring_above(repository, folder.parent, git.env)
    return folder / inner, commit


def commit_of(git: Git, cache: Path, *, crate: Path | None, url: str | None, revision: str) -> str:
    """Return the full commit id of a revision.

    The source is given as in `checkout`.

    Raises `BuildError` (BX225): the crate is in no repository, or the revision does not exist;
    BX224, git failed.
    """
    return _resolve(git, _repository(git, cache, crate, url, revision), url, revision)


def tree_of(git: Git, cache: Path, folder: Path, revision: str | None) -> tuple[Path, str, str]:
    """Return the repository of a folder, and the ids of a commit and of its tree; of HEAD if `None`.

    Raises `BuildError` (BX225): the folder is in no repository, or there is no such commit; BX224, git
    failed.
    """
    if revision is None and git.try_run("-C", str(folder), "rev-parse", "--verify", HEAD) is None:
        git.run("--version")  # another error if git is missing
        raise _missing("BX225.no-commit", folder=folder)
    repository = _repository(git, cache, folder, None, revision or HEAD)
    commit = _resolve(git, repository, None, revision or HEAD)
    return repository, commit, git.run("-C", str(repository), "rev-parse", f"{commit}^{{tree}}")


def _at(repository: Path) -> tuple[str, str]:
    """Return git's options for a repository: ``safe.bareRepository`` may forbid to find a mirror by ``-C``."""
    bare = all((repository / name).exists() for name in ("HEAD", "objects", "refs"))
    return ("--git-dir" if bare else "-C", str(repository))


def _commit(git: Git, repository: Path, revision: str) -> str | None:
    return git.try_run(*_at(repository), "rev-parse", "--verify", f"{revision}^{{commit}}")


def _resolve(git: Git, repository: Path, url: str | None, revision: str) -> str:
    commit = _commit(git, repository, revision)
    if commit is None:
        where = url or repository
        if revision[:1] == "@" and revision[1:2].isalnum():  # git has @, @~1 and @{1}
            name = revision[1:]
            raise _missing("BX225.name-of-a-record", revision=revision, url=where, name=name)
        advice = _advice(git, repository)
        raise _missing(
            "BX225.no-revision",
            revision=revision,
            url=where,
            near=suggest(revision, advice.known.split(", ")),
            shallow=advice.shallow,
            remote=advice.remote,
            known=advice.known,
        )
    return commit


class _Advice(NamedTuple):
    """The newest branches and tags of a repository, for an error about a missing one; none if it is shallow."""

    shallow: bool
    remote: bool
    known: str


def _advice(git: Git, repository: Path) -> _Advice:
    """Return what a repository has in place of a missing revision.

    Raises `BuildError` (BX225): the repository has no commits.
    """
    at = _at(repository)
    if not git.try_run(*at, "rev-list", "--all", "--max-count=1"):
        raise _missing("BX225.no-commits", repository=repository)
    if _is_shallow(git, repository):
        return _Advice(shallow=True, remote=False, known="")
    names = ("for-each-ref", "--sort=-creatordate", f"--count={_MOST_NAMED}")
    known = git.try_run(*at, *names, "--format=%(refname:short)", "refs/heads", "refs/tags") or ""
    remote = bool(git.try_run(*at, "remote"))
    return _Advice(shallow=False, remote=remote, known=", ".join(known.splitlines()))


def _missing(key: str, /, details: tuple[tuple[str, str], ...] = (), **values: Any) -> BuildError:
    return BuildError(key, details=details, exit_code=EXIT_USAGE, **values)


def commits_between(
    git: Git,
    cache: Path,
    *,
    crate: Path | None,
    url: str | None,
    ends: tuple[str, str],
    first_parent: bool = True,
) -> tuple[Commit, ...]:
    """Return the commits from one commit to a later one, oldest first, with both ends.

    The source is given as in `checkout`. If the first end is not an ancestor of the other one, their
    merge base replaces it. With `first_parent`, a merge is one commit and each commit is the first
    parent of the next one. If the first end is on a merged branch, the parent of the oldest commit
    that it does not contain replaces it.

    Raises `BuildError` (BX225): a commit is missing; BX224, git failed. `UsageError` (BX125): no commit
    is between them.
    """
    repository = _repository(git, cache, crate, url, ends[1])
    words = _at(repository)
    given, last = (_resolve(git, repository, url, revision) for revision in ends)
    first = git.try_run(*words, "merge-base", given, last)
    log = (*words, "log", "--no-show-signature", f"--format={_LOG}")
    order = "--first-parent" if first_parent else "--topo-order"
    text = git.run(*log, "--reverse", order, f"{first}..{last}") if first is not None else ""
    if text and first_parent:
        # A commit is the change from its own parent, which the given end need not be.
        first = next(iter(text.split(_SEPARATOR, 2)[1].split()), None)
    if first is None or not text:
        shallow = _is_shallow(git, repository)
        raise UsageError("BX125.no-commits", bad=ends[1], good=ends[0], shallow=shallow)
    lines = [git.run(*log, "-1", first), *text.split("\n")]
    return tuple(
        Commit(commit, tuple(parents.split()), author, date, subject)
        for commit, parents, author, date, subject, *_ in (s.split(_SEPARATOR) for s in lines)
    )


def merge_base(git: Git, cache: Path, *, crate: Path, head: str, branches: Sequence[str]) -> str:
    """Return the merge base of `head` and the first of `branches` that exists.

    Raises `BuildError` (BX225): there is no repository, no such branch, or no common commit.
    """
    repository = _repository(git, cache, crate, None, head)
    main = next((b for b in branches if _commit(git, repository, b)), None)
    if main and (commit := git.try_run("-C", str(repository), "merge-base", main, head)):
        return commit
    advice = _advice(git, repository)
    if main is None:
        tried = (("tried", ", ".join(branches)),)
        raise _missing(
            "BX225.no-main-branch",
            details=tried,
            repository=repository,
            shallow=advice.shallow,
            remote=advice.remote,
            known=advice.known,
        )
    raise _missing(
        "BX225.no-common-commit",
        main=main,
        head=head,
        repository=repository,
        shallow=advice.shallow,
        remote=advice.remote,
        known=advice.known,
    )


def former_path(git: Git, file: Path, revision: str) -> str | None:
    """Return the path in the repository that a file had in a revision, before it was renamed."""
    at = ("-C", str(file.parent))
    prefix = git.try_run(*at, "rev-parse", "--show-prefix") or ""
    renames = ("diff", "--no-relative", "--find-renames", "--diff-filter=R", "--name-status", "-z")
    parts = (git.try_run(*at, *renames, revision) or "").split("\0")
    return dict(zip(parts[2::3], parts[1::3], strict=False)).get(prefix + file.name)


def _repository(git: Git, cache: Path, crate: Path | None, url: str | None, revision: str) -> Path:
    if url is not None:
        return _mirror(git, cache, url, revision)
    assert crate is not None
    try:
        top = git.run("-C", str(crate), "rev-parse", "--show-toplevel")
    except BuildError as error:
        if not any("not a git repository" in text for _, text in error.details):
            raise  # git is missing, or refuses this one, such as that of another user
        raise _missing("BX225.no-repository", crate=crate, revision=revision) from error
    if cache.resolve().is_relative_to(Path(top).resolve()):
        # cargo and rustup would find the working tree's configuration above the other revision.
        raise _missing("BX225.cache-in-repository", cache=cache, top=top)
    return Path(top)


def _is_shallow(git: Git, repository: Path) -> bool:
    return git.try_run(*_at(repository), "rev-parse", "--is-shallow-repository") == "true"


def state_of(git: Git, crate: Path) -> tuple[str | None, bool | None]:
    """Return the commit of a crate's repository, and True if the crate or its workspace has uncommitted changes.

    New files elsewhere in the workspace do not count: they may be records of benchctl.
    """
    commit = git.try_run("-C", str(crate), "rev-parse", "--verify", HEAD)
    if commit is None:
        return None, None
    lock = configuration.lockfile_of(crate)
    tracked = ("--untracked-files=no",)
    folders = [(crate, ()), *([(lock.parent, tracked)] if lock and lock.parent != crate else [])]
    states = [
        git.try_run("-C", str(folder), "status", "--porcelain", *words, "--", ".")
        for folder, words in folders
    ]
    return commit, None if None in states else any(states)


def commits_of_head(git: Git, crate: Path) -> list[str]:
    """Return the commits of HEAD, each after its parents; empty without them, or in a shallow clone."""
    listed = git.try_run("-C", str(crate), "rev-list", "--reverse", "--topo-order", HEAD)
    return [] if listed is None or _is_shallow(git, crate) else listed.split()


def clean_commit(git: Git, crate: Path, records: Path) -> str:
    """Return the commit of a working tree; empty if it has changes, which new files next to the records are not."""
    top = Path(git.run("-C", str(crate), "rev-parse", "--show-toplevel"))
    status, folder = ("-C", str(top), "status", "--porcelain"), records.resolve()
    others = ("--", f":(exclude,literal){folder}") if top in folder.parents else ()
    changed = git.run(*status, "--untracked-files=no") or git.run(*status, *others)
    return "" if changed else state_of(git, crate)[0] or ""


def _mirror(git: Git, cache: Path, url: str, revision: str) -> Path:
    git, url = git.with_login(url), without_userinfo(url)
    folder = cache / "repositories" / key_of(url)
    if not folder.is_dir():
        words = ("clone", "--quiet", "--mirror", "--", url)
        with whole(folder) as part:
            git.run(*words, str(part), timeout_s=CLONE_TIMEOUT_S)
        return folder
    # A commit id is fixed; a branch or tag may have moved.
    if _commit(git, folder, revision) != revision:
        with locked(folder):  # git fails if two processes fetch the same references
            git.run(*_at(folder), "fetch", "--quiet", "--prune", timeout_s=CLONE_TIMEOUT_S)
    return folder


def clone(git: Git, repository: Path, part: Path, commit: str) -> None:
    """Check out a commit of a local repository into a new folder, which shares its objects.

    Raises `BuildError` (BX224): git failed, or the checkout is incomplete.
    """
    if _is_shallow(git, repository):
        # A clone of a shallow repository would contain only the commits of its branches and tags.
        words = ("rev-parse", "--path-format=absolute", "--git-common-dir")
        common = git.run("-C", str(repository), *words)
        git.run("init", "--quiet", str(part))
        with writing(part):
            alternates = part / ".git" / "objects" / "info" / "alternates"
            alternates.write_text(f"{common}/objects\n", encoding="utf-8")
            shutil.copyfile(Path(common) / "shallow", part / ".git" / "shallow")
    else:
        git.run("clone", "--quiet", "--shared", "--no-checkout", "--", str(repository), str(part))
    git.run("-C", str(part), "checkout", "--quiet", "--detach", commit, timeout_s=CLONE_TIMEOUT_S)
    missing = git.run("-C", str(part), "ls-files", "--deleted")
    if missing or git.run("-C", str(part), "rev-parse", "--verify", HEAD) != commit:
        first = missing.partition("\n")[0] or Phrase(FaultCode.OTHER_CHECKOUT)
        raise BuildError("BX224.incomplete", commit=commit, cause=first)


def key_of(text: str) -> str:
    """Return a short name for a path or URL."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
