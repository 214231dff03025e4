"""Copies of a crate's sources: what is in the working tree and affects a build is in the copy."""

from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import BuildError
from bench_framework.execution.build import revisions
from bench_framework.execution.build.sources import derive, uncommitted
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.model.plan.build_spec import BuildSpec
from tests.integration.processes import commit, git

PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"
CHOICE = "rust-toolchain.toml"


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "repository" / "crate"
    (folder / "src").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (tmp_path / "p.diff").write_text(PATCH)
    return folder


def copied(crate: Path, tmp_path: Path, launcher: Launcher, **settings: Any) -> Path:
    (tmp_path / "p.diff").write_text(settings.pop("patch", PATCH))
    spec = BuildSpec(str(crate), "prog", patches=(str(tmp_path / "p.diff"),), **settings)
    env = {**host.environment(), "CARGO_HOME": str(tmp_path / "cargo")}
    return derive(spec, crate, tmp_path / "cache", launcher, env)


def patch_of(crate: Path) -> str:
    """Return the patch with paths from the root of the repository."""
    return PATCH.replace("/a.txt", f"/{crate.name}/a.txt")


def checked_out(crate: Path, tmp_path: Path, launcher: Launcher) -> Path:
    runner = revisions.Git(launcher, host.environment())
    return revisions.checkout(runner, tmp_path / "cache", crate=crate, url=None, revision="HEAD")[0]


def test_ignored_choices_of_the_toolchain_follow_the_working_tree(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    (crate / ".gitignore").write_text(f"{CHOICE}\n")
    (crate / "rust-toolchain").write_text("committed\n")
    commit(crate.parent)
    (crate / "rust-toolchain").write_text("edited\n")
    (crate / ".cargo").mkdir()
    (crate / ".cargo" / "config.toml").write_text("# not ignored: a change under test\n")
    for text in ("first", "second"):
        (crate / CHOICE).write_text(text)
        (crate.parent / CHOICE).write_text(f"{text} of the repository")
        (crate.parents[1] / CHOICE).write_text(f"{text} above")
        patched = copied(crate, tmp_path, launcher, patch=patch_of(crate))
        checkout = checked_out(crate, tmp_path, launcher)
        for folder in (patched, checkout):
            assert (folder / CHOICE).read_text() == text
            assert (folder.parents[1] / CHOICE).read_text() == f"{text} above"
        assert (patched.parent / CHOICE).read_text() == f"{text} of the repository"
        assert (patched / "rust-toolchain").read_text() == "edited\n"
        assert (patched / ".cargo" / "config.toml").is_file()
        assert (checkout / "rust-toolchain").read_text() == "committed\n"
        assert not (checkout / ".cargo").exists()
    (crate / CHOICE).unlink()
    (crate.parents[1] / CHOICE).unlink()
    checkout = checked_out(crate, tmp_path, launcher)
    assert not (checkout / CHOICE).exists()
    assert not (checkout.parents[1] / CHOICE).exists()


def test_configuration_behind_a_link_that_git_ignores_is_copied(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    (crate / ".gitignore").write_text(".cargo\n")
    commit(crate.parent)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "config.toml").write_text("# shared\n")
    (crate / ".cargo").symlink_to(shared)
    folder = copied(crate, tmp_path, launcher, patch=patch_of(crate))
    assert (folder / ".cargo" / "config.toml").read_text() == "# shared\n"
    assert not (folder / ".cargo").is_symlink()


def test_configuration_in_several_folders_above_is_refused(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    inner = crate.parent / "projects" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.txt").write_text("a\n")
    commit(inner)
    for folder in (tmp_path, crate.parent, crate.parents[1], tmp_path / "cargo"):
        (folder / ".cargo").mkdir(parents=True)
        (folder / ".cargo" / "config.toml").write_text("")
    (tmp_path / "cache").mkdir()
    with pytest.raises(BuildError, match="several folders above") as caught:
        copied(inner, tmp_path, launcher)
    assert [text for _, text in caught.value.details] == [str(crate.parent), str(crate.parents[1])]


def test_a_renamed_file_has_only_its_new_name(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    (crate / "old.rs").write_text("fn main() {}\n" * 9)
    commit(crate.parent)
    git(crate, "mv", "old.rs", "new.rs")
    folder = copied(crate, tmp_path, launcher, patch=patch_of(crate))
    assert (folder / "new.rs").is_file()
    assert not (folder / "old.rs").exists()


def test_a_file_can_become_a_folder_or_a_link_and_the_other_way_round(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    (crate / "other").mkdir()
    for name in ("file", "link/x", "folder/x", "other/x"):
        (crate / name).parent.mkdir(exist_ok=True)
        (crate / name).write_text(f"{name} of the commit\n")
    (crate / "was-link").symlink_to("other")
    commit(crate.parent)
    for name in ("file", "was-link"):
        (crate / name).unlink()
        (crate / name).mkdir()
        (crate / name / "x").write_text("new\n")
    for name in ("folder", "link"):
        (crate / name / "x").unlink()
        (crate / name).rmdir()
    (crate / "folder").write_text("new\n")
    (crate / "link").symlink_to("other")
    copy = copied(crate, tmp_path, launcher, patch=patch_of(crate))
    assert (copy / "file" / "x").read_text() == "new\n"
    assert (copy / "was-link" / "x").read_text() == "new\n"
    assert not (copy / "was-link").is_symlink()
    assert (copy / "folder").read_text() == "new\n"
    assert (copy / "link").readlink() == Path("other")
    assert (copy / "other" / "x").read_text() == "other/x of the commit\n"


def test_changes_elsewhere_in_the_workspace_count_but_not_new_files(
    crate: Path, launcher: Launcher
) -> None:
    (crate.parent / "Cargo.lock").write_text("")
    (crate.parent / "library.rs").write_text("")
    commit(crate.parent)
    runner = revisions.Git(launcher, host.environment())
    (crate.parent / "results").mkdir()
    (crate.parent / "results" / "journal.jsonl").write_text("")
    assert revisions.state_of(runner, crate)[1] is False
    (crate.parent / "library.rs").write_text("fn changed() {}\n")
    assert revisions.state_of(runner, crate)[1] is True


def test_only_new_files_of_records_are_no_changes(crate: Path, launcher: Launcher) -> None:
    commit(crate.parent)
    (crate / "a.txt").write_text("changed\n")
    record = crate / "records" / "20260302T1704Z"
    record.mkdir(parents=True)
    (record / "journal.jsonl").write_text("{}\n")
    repository = revisions.Git(launcher, host.environment())
    assert uncommitted(repository, crate.parent) == [crate / "a.txt"]


def test_only_the_build_directory_is_left_out(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    for name in ("target", "src/target", "src/.git"):
        (crate / name).mkdir()
        (crate / name / "mod.rs").write_text("")
    folder = copied(crate, tmp_path, launcher)
    assert (folder / "src" / "target" / "mod.rs").is_file()
    assert not (folder / "target").exists()
    assert not (folder / "src" / ".git").exists()


def test_a_released_crate_does_not_belong_to_a_repository_above_the_cache(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    commit(crate.parent)
    (crate.parent / "private.txt").write_text("")
    (crate.parent / "Cargo.lock").write_text("")
    folder = copied(crate, tmp_path, launcher, registry="foo", version="1.0.0")
    assert (folder / "a.txt").read_text() == "b\n"
    assert {path.name for path in folder.iterdir()} == {"a.txt"}


def test_nothing_is_left_of_a_patch_that_does_not_apply(
    crate: Path, tmp_path: Path, launcher: Launcher
) -> None:
    commit(crate.parent)
    with pytest.raises(BuildError, match="does not apply"):
        copied(crate, tmp_path, launcher, patch=PATCH)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
