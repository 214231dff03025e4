"""Features and binaries are read from manifests as cargo reads them."""

import contextlib
import os
from pathlib import Path

import pytest

from bench_framework.scenario.crates import CrateMissing, read_crate
from tests.files import write_files
from tests.unit.scenario.conftest import Refuses

MANIFEST = """
[package]
name = "demo"

[features]
simd = ["dep:wide"]
fast = ["simd", "plain?/std"]

[dependencies]
plain = { version = "1", optional = true }
wide = { version = "1", optional = true }
always = "1"

[target.'cfg(unix)'.dependencies]
native = { version = "1", optional = true }
"""


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    return write(tmp_path / "demo", MANIFEST, "src/main.rs")


def write(folder: Path, manifest: str, *files: str) -> Path:
    return write_files(folder, {"Cargo.toml": manifest, **dict.fromkeys(files, "fn main() {}\n")})


def test_optional_dependencies_are_features_unless_one_hides_them(crate: Path) -> None:
    assert read_crate(crate).features == ("default", "fast", "native", "plain", "simd")


def test_binaries_by_place_and_by_name(tmp_path: Path) -> None:
    manifest = '[package]\nname = "demo"\n[[bin]]\nname = "named"\npath = "src/other.rs"\n'
    folder = write(tmp_path / "d", manifest, "src/main.rs", "src/bin/one.rs", "src/bin/two/main.rs")
    assert read_crate(folder).bins == ("demo", "named", "one", "two")


def test_a_renamed_main_is_one_binary(tmp_path: Path) -> None:
    manifest = '[package]\nname = "demo"\n[[bin]]\nname = "cli"\npath = "src/main.rs"\n'
    assert read_crate(write(tmp_path / "d", manifest, "src/main.rs")).bins == ("cli",)


def test_no_binaries_but_the_listed_ones(tmp_path: Path) -> None:
    manifest = '[package]\nname = "demo"\nautobins = false\n[[bin]]\nname = "cli"\n'
    assert read_crate(write(tmp_path / "d", manifest, "src/main.rs")).bins == ("cli",)


class TestWorkspace:
    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Path:
        root = write(tmp_path / "w", '[workspace]\nmembers = ["crates/*"]\n')
        write(root / "crates" / "a", '[package]\nname = "alpha"\n', "src/main.rs")
        write(root / "crates" / "b", '[package]\nname = "beta"\n[features]\nx = []\n', "src/lib.rs")
        return root

    def test_a_member_by_name(self, workspace: Path) -> None:
        crate = read_crate(workspace, "beta")
        assert (crate.name, crate.features, crate.bins) == ("beta", ("default", "x"), ())

    def test_a_workspace_needs_the_name_of_a_member(self, workspace: Path) -> None:
        with pytest.raises(CrateMissing) as caught:
            read_crate(workspace)
        assert caught.value.known == ("alpha", "beta")

    def test_in_a_scenario(self, workspace: Path, tmp_path: Path, refuses: Refuses) -> None:
        folder = workspace.relative_to(tmp_path)
        head = f"version: 1\nname: n\nquestion: q\nworker: {{crate: {folder}, package: alhpa}}\n"
        (problem,) = refuses("", head=head).problems
        assert problem.code == "BC306"
        assert problem.fix == "did you mean `alpha`?  packages: alpha, beta"


def test_a_missing_or_invalid_manifest_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CrateMissing, match="no such folder"):
        read_crate(tmp_path / "x")
    with pytest.raises(CrateMissing, match=r"it has no Cargo\.toml"):
        read_crate(tmp_path)
    (tmp_path / "Cargo.toml").write_text("[package")
    with pytest.raises(CrateMissing, match="cannot be read"):
        read_crate(tmp_path)


@pytest.mark.parametrize(
    "manifest",
    ['package = "x"', "[package]\nname = 3", "[features]\na = 1", "bin = 3\n[package]\nname='x'"],
)
def test_a_manifest_of_another_shape_is_an_error(manifest: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "d", manifest)
    with contextlib.suppress(CrateMissing):
        assert read_crate(folder).bins == ()


def test_unknown_features_of_a_local_crate(crate: Path, refuses: Refuses) -> None:
    head = f"version: 1\nname: n\nquestion: q\nworker: {{crate: {crate.name}, features: [simd, fsat, always/std]}}\n"
    (problem,) = refuses("", head=head).problems
    assert problem.code == "BC302"
    assert problem.label == "not in [features] of demo/Cargo.toml"
    assert problem.fix == "did you mean `fast`?  features: default, fast, native, plain, simd"


def test_a_patch_is_a_file_with_content(crate: Path, refuses: Refuses) -> None:
    folder = crate.parent
    os.mkfifo(folder / "fifo")
    (folder / "empty").touch()
    head = (
        f"version: 1\nname: n\nquestion: q\nworker: {{crate: {crate.name}}}\nbaseline: {{a: x}}\n"
    )
    for name, fault in (
        ("fifo", "is not a regular file"),
        ("demo", "is a folder"),
        ("empty", "is empty"),
        ("none", "does not exist"),
    ):
        text = f"axes: {{a: {{x: {{}}, y: {{patch: {name}}}}}}}\n"
        (problem,) = refuses(text, head=head).problems
        assert (problem.code, problem.message) == ("BC301", f"patch `{name}` {fault}")


def test_another_revision_may_have_other_features(crate: Path, refuses: Refuses) -> None:
    text = "axes: {rev: {old: {revision: v1, features: [gone]}, new: {}}}\nbaseline: {rev: old}\n"
    head = f"version: 1\nname: n\nquestion: q\nworker: {{crate: {crate.name}, bin: other}}\n"
    (problem,) = refuses(text, head=head).problems
    assert problem.code == "BC305"
