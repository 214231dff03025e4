"""Tests of bundles: what is packed, and that nothing hostile is unpacked."""

import os
from pathlib import Path

import pytest

from bench_framework.errors import MachineError, UsageError
from bench_framework.extensions.fleet import bundle as bundles
from bench_framework.extensions.fleet.bundle import Bundle, BundleEntry, pack, unpack


def files_in(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "main.rs").write_text("fn main() {}")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/main.rs")
    (root / "src" / "up").symlink_to("../run.sh")
    return root


def packed(root: Path) -> Bundle:
    names = {
        path.relative_to(root).as_posix(): path
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }
    return pack(names, ["empty/folder"])


def test_unpacked_files_equal_packed_ones(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    unpack(packed(project), target)
    assert files_in(target) == files_in(project)
    assert (target / "run.sh").stat().st_mode & 0o111
    assert not (target / "src" / "main.rs").stat().st_mode & 0o111
    assert (target / "empty" / "folder").is_dir()


def test_equal_files_are_stored_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("same")
    bundle = pack({name: tmp_path / name for name in ("a", "b")})
    first, second = bundle.files.values()
    assert first.content is second.content


def test_unpacking_again_keeps_unchanged_files(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    unpack(packed(project), target)
    before = (target / "run.sh").stat()
    (target / "left").mkdir()
    (target / "left" / "output").write_text("of a run")
    (target / "src" / "main.rs").write_text("changed on the host")
    (target / "link").unlink()
    (target / "link").symlink_to("/etc/passwd")
    (project / "new").write_text("new")
    unpack(packed(project), target)
    assert files_in(target) == files_in(project)
    assert not (target / "left").exists()
    after = (target / "run.sh").stat()  # reading the file may change its access time
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_folder_replaces_a_file_and_a_link(project: Path, tmp_path: Path) -> None:
    target, outside = tmp_path / "target", tmp_path / "outside"
    outside.mkdir()
    target.mkdir()
    (target / "src").symlink_to(outside)
    (target / "empty").write_text("a file")
    unpack(packed(project), target)
    assert files_in(target) == files_in(project)
    assert not any(outside.iterdir())


@pytest.mark.parametrize(
    "path",
    ["../evil", "/etc/evil", "a/../../evil", "", ".", "a//b", "a/./b", "a\0b", "..", "a/", "/"],
)
def test_a_path_outside_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="damaged") as caught:
        unpack(Bundle({path: BundleEntry(b"text")}), tmp_path / "target")
    assert caught.value.code == "BX264"
    with pytest.raises(MachineError, match="damaged"):
        unpack(Bundle({}, (path,)), tmp_path / "target")
    assert not (tmp_path / "target").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    "link",
    ["/etc", "../outside", "src/../../outside", "..", "a/..", "../..", "./a", "a/../b", "a\0"],
)
def test_a_link_that_can_leave_is_refused(link: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="leaves it"):
        unpack(Bundle({"link": BundleEntry(link=link)}), tmp_path / "target")


@pytest.mark.parametrize("link", ["../a", "b", "c/d", "..", "../c/d"])
def test_a_link_that_stays_is_unpacked(link: str, tmp_path: Path) -> None:
    unpack(Bundle({"folder/link": BundleEntry(link=link)}), tmp_path / "target")
    assert str((tmp_path / "target" / "folder" / "link").readlink()) == link


@pytest.mark.parametrize(
    ("files", "folders", "cause"),
    [
        ({"a": BundleEntry(b"text"), "a/b": BundleEntry(b"text")}, (), "'a/b' is below a file"),
        ({"a": BundleEntry(b"text")}, ("a/b",), "'a/b' is below a file"),
        ({"a": BundleEntry(b"text")}, ("a",), "'a' is a folder and a file"),
        ({"a": BundleEntry(link="b")}, ("a", "b"), "'a' is a folder and a file"),
        (
            {"a": BundleEntry(link="b"), "a/c": BundleEntry(link="d")},
            ("b",),
            "'a/c' is below a file or a link",
        ),
    ],
)
def test_contradicting_paths_are_refused(
    files: dict[str, BundleEntry], folders: tuple[str, ...], cause: str, tmp_path: Path
) -> None:
    with pytest.raises(MachineError, match=cause) as caught:
        unpack(Bundle(files, folders), tmp_path / "target")
    assert caught.value.code == "BX264"


def test_a_file_with_a_path_through_a_link_is_written_in_the_folder(tmp_path: Path) -> None:
    bundle = Bundle(
        {"link": BundleEntry(link="folder"), "link/words": BundleEntry(b"words")}, ("folder",)
    )
    for _ in range(2):
        unpack(bundle, tmp_path / "target")
        assert (tmp_path / "target" / "folder" / "words").read_bytes() == b"words"


def test_links_in_links_cannot_leave(tmp_path: Path) -> None:
    # The second link is created in the root, from where it leads to the parent of the root.
    links = {"a/b/root": BundleEntry(link="../.."), "a/b/root/out": BundleEntry(link="../../..")}
    bundle = Bundle({**links, "a/b/root/out/evil": BundleEntry(b"evil")}, ("a/b",))
    with pytest.raises(MachineError, match="damaged"):
        unpack(bundle, tmp_path / "some" / "folder" / "target")
    assert not [*tmp_path.rglob("evil")]


def test_limits_name_the_largest_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MOST_BYTES", 1000)
    for name, size in (("small", 10), ("large", 5000)):
        (tmp_path / name).write_bytes(b"x" * size)
    with pytest.raises(UsageError) as caught:
        pack({name: tmp_path / name for name in ("small", "large")})
    error = caught.value
    assert error.code == "BX134"
    assert error.details[0][1].startswith("large (")
    assert "absolute paths" in str(error.fix)
    monkeypatch.setattr(bundles, "MOST_FILES", 1)
    with pytest.raises(UsageError, match="2 files"):
        pack(dict.fromkeys(("a", "b"), tmp_path / "small"))


def test_a_link_out_of_the_files_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="symbolic link to /etc/passwd") as caught:
        pack({"link": tmp_path / "link"})
    assert caught.value.code == "BX134"


def test_what_is_no_file_is_not_packed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="cannot be sent"):
        pack({"pipe": tmp_path / "pipe"})
