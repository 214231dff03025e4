"""The commits that a bisection searches, and the errors of revisions, with real git."""

import itertools
from pathlib import Path

import pytest

from bench_framework.errors import BenchError
from bench_framework.execution.build import revisions
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from tests.files import write_files
from tests.integration.processes import commit, git


class Repository:
    """A repository with a crate in `folder`, whose commits are tags."""

    def __init__(self, path: Path, launcher: Launcher) -> None:
        self.folder, self.cache = path / "project", path / "cache"
        self.runner = revisions.Git(launcher, host.environment())

    def commit(self, *names: str) -> None:
        for name in names:
            write_files(self.folder, {f"crate/{name}.txt": name})
            commit(self.folder, name, name)

    def subjects(self, good: str, bad: str, *, first_parent: bool = True) -> list[str]:
        crate = self.folder / "crate"
        commits = revisions.commits_between(
            self.runner,
            self.cache,
            crate=crate,
            url=None,
            ends=(good, bad),
            first_parent=first_parent,
        )
        if first_parent:
            for before, commit in itertools.pairwise(commits):
                assert commit.parents[0] == before.id
        return [commit.subject for commit in commits]


def test_a_long_output_of_git_is_complete(tmp_path: Path, launcher: Launcher) -> None:
    runner = revisions.Git(launcher, host.environment())
    output = runner.run("-c", "alias.long=!yes | head -c 3000000", "long")
    assert output.split("\n") == ["y"] * 1_500_000


@pytest.fixture
def repository(tmp_path: Path, launcher: Launcher) -> Repository:
    return Repository(tmp_path, launcher)


def test_each_commit_is_compared_with_its_own_parent(repository: Repository) -> None:
    """The parent of `c` is `b`. A comparison with `s1`, from another branch, would report `c`."""
    repository.commit("a", "b")
    git(repository.folder, "checkout", "-qb", "side")
    repository.commit("s1", "s2")
    git(repository.folder, "checkout", "-q", "main")
    repository.commit("c")
    git(repository.folder, "merge", "-qm", "merged", "s2")
    repository.commit("d")
    assert repository.subjects("a", "d") == ["a", "b", "c", "merged", "d"]
    assert repository.subjects("s1", "d") == ["b", "c", "merged", "d"]
    # git bisect asks about the commits of the branch, too, and knows their parents.
    assert repository.subjects("s1", "d", first_parent=False)[0] == "s1"
    assert "s2" in repository.subjects("s1", "d", first_parent=False)

    # The branch of a merge that merged the main branch before: its oldest commit starts from `b`.
    git(repository.folder, "checkout", "-q", "side")
    git(repository.folder, "merge", "-qm", "update", "c")
    repository.commit("s3")
    assert repository.subjects("c", "s3") == ["b", "s1", "s2", "update", "s3"]


def test_a_range_whose_first_parents_do_not_reach_the_good_end_is_refused(
    repository: Repository,
) -> None:
    repository.commit("a")
    git(repository.folder, "checkout", "-q", "--orphan", "other")
    repository.commit("o1", "o2")
    git(repository.folder, "merge", "-qm", "merged", "--allow-unrelated-histories", "a")
    with pytest.raises(BenchError, match="has no commits after a") as caught:
        repository.subjects("a", "other")
    assert caught.value.code == "BX125"


def test_control_characters_in_names_do_not_change_the_fields(repository: Repository) -> None:
    repository.commit("a")
    git(
        repository.folder,
        "commit",
        "--allow-empty",
        "-qm",
        "the\x1fsubject",
        "--author=E\x1fl <e@l>",
    )
    assert repository.subjects("a", "HEAD") == ["a", "the\x1fsubject"]


def test_a_crate_that_a_revision_does_not_contain_is_named(repository: Repository) -> None:
    repository.commit("a")
    git(repository.folder, "mv", "crate", "moved")
    git(repository.folder, "commit", "-qm", "moved")
    git(repository.folder, "mv", "moved", "crate")
    git(repository.folder, "commit", "-qm", "back")
    with pytest.raises(BenchError, match="folder crate does not exist at HEAD~1") as caught:
        revisions.checkout(
            repository.runner,
            repository.cache,
            crate=repository.folder / "crate",
            url=None,
            revision="HEAD~1",
        )
    assert caught.value.code == "BX225"


def test_the_name_of_a_record_is_no_revision(repository: Repository) -> None:
    repository.commit("a")
    for revision, of_record in (("@main", True), ("@~7", False)):
        with pytest.raises(BenchError) as caught:
            revisions.commit_of(
                repository.runner,
                repository.cache,
                crate=repository.folder / "crate",
                url=None,
                revision=revision,
            )
        assert caught.value.code == "BX225"
        assert ("benchctl baseline compare main" in (caught.value.fix or "")) is of_record


def test_a_missing_git_is_named(repository: Repository, launcher: Launcher, tmp_path: Path) -> None:
    repository.commit("a")
    repository.runner = revisions.Git(launcher, {**host.environment(), "PATH": str(tmp_path)})
    with pytest.raises(BenchError, match="git is not installed"):
        repository.subjects("a", "a")


CONFIGURED = """
[core]
    autocrlf = input
    safecrlf = true
[diff]
    ignoreSubmodules = all
[i18n]
    logOutputEncoding = latin1
[safe]
    bareRepository = explicit
[status]
    showUntrackedFiles = no
"""


def test_the_configuration_of_the_user_hides_no_change(
    repository: Repository, launcher: Launcher, tmp_path: Path
) -> None:
    inner, crate = Repository(tmp_path / "inner", launcher), repository.folder / "crate"
    inner.commit("a")
    repository.commit("a", "größe")
    allowed = ("-c", "protocol.file.allow=always")
    git(repository.folder, *allowed, "submodule", "add", "-q", str(inner.folder), "inner")
    repository.commit("b")
    (tmp_path / "configured").write_text(CONFIGURED)
    env = {**host.environment(), "GIT_CONFIG_GLOBAL": str(tmp_path / "configured")}
    repository.runner = runner = revisions.Git(launcher, env)
    assert revisions.state_of(runner, crate)[1] is False
    (crate / "new.txt").write_text("new\r\n")
    assert revisions.state_of(runner, crate)[1] is True
    assert revisions.clean_commit(runner, crate, tmp_path) == ""
    (crate / "new.txt").unlink()
    results, (commit, _) = repository.folder / "results", revisions.state_of(runner, crate)
    results.mkdir()
    (results / "record").write_text("")
    assert revisions.clean_commit(runner, crate, results) == commit
    assert revisions.clean_commit(runner, crate, repository.folder) == ""
    (repository.folder / "inner" / "crate" / "a.txt").write_text("changed")
    assert revisions.clean_commit(runner, crate, repository.folder / "inner") == ""
    assert repository.subjects("a", "b") == ["a", "größe", "b"]
    for _ in range(2):  # the first time clones the mirror, and the second one finds it
        commit = revisions.checkout(
            runner, repository.cache, crate=None, url=f"file://{repository.folder}", revision="main"
        )[1]
        assert commit == git(repository.folder, "rev-parse", "b")
    (crate / "a.txt").write_text("a\r\n")
    runner.run("-C", str(repository.folder), "add", "--all", "--force")


def test_a_shallow_clone_has_no_order_of_commits(repository: Repository, tmp_path: Path) -> None:
    repository.commit("a", "b", "c")
    crate = repository.folder / "crate"
    commits = revisions.commits_of_head(repository.runner, crate)
    assert commits == git(repository.folder, "rev-parse", "a", "b", "c").split()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository.folder}", str(clone))
    assert revisions.commits_of_head(repository.runner, clone / "crate") == []
