"""Differences between the builds of two programs, and how they are named."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.compare.build_changes import LEAST_BYTES, changes_between
from bench_framework.execution.build.configuration import settings_of
from bench_framework.execution.build.messages import packages_of
from bench_framework.execution.symbols import crate_of
from bench_framework.model.facts.builds import SizeChange
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.reasons import Difference
from bench_framework.model.record.run import Build, Preload
from bench_framework.text import builds as words
from tests.build import require

SPEC = BuildSpec("/crate", "tool")
OLD = Build(
    "old",
    ok=True,
    sha256="0" * 64,
    stripped_bytes=100_000,
    rustc="rustc 1.94.0",
    packages=(("hashbrown", "0.15.0"), ("itoa", "1.0.1")),
    sections=((".text", 50_000), (".data", 1_000)),
    crates=(("hashbrown", 4_000), ("tool", 9_000)),
)
NEW = replace(OLD, id="new", sha256="1" * 64)


def test_one_program_and_a_failed_build_differ_in_nothing() -> None:
    assert changes_between(replace(NEW, sha256=OLD.sha256), SPEC, OLD, SPEC) is None
    assert changes_between(replace(NEW, ok=False), SPEC, OLD, SPEC) is None


def test_a_preloaded_allocator_makes_one_program_two() -> None:
    preloaded = replace(OLD, preload=Preload("jemalloc", "/lib", "2" * 64))
    changes = require(changes_between(preloaded, SPEC, OLD, SPEC))
    assert changes.settings == (Difference("preloaded library", "", "jemalloc"),)


def test_settings_packages_and_sizes_that_differ_are_named() -> None:
    built = replace(
        NEW,
        rustc="rustc 1.95.0",
        stripped_bytes=112_288,
        settings=(("profile.release.lto", "fat"),),
        packages=(("hashbrown", "0.16.0"), ("memmap2", "0.9.5")),
        sections=((".text", 50_000 + LEAST_BYTES), (".data", 1_000 + LEAST_BYTES - 1)),
        crates=(("hashbrown", 3_000), ("memmap2", 2_000), ("tool", 9_000)),
    )
    spec = replace(SPEC, features=("simd",), rustflags=("-Ctarget-cpu=native",))
    changes = require(changes_between(built, spec, OLD, SPEC))
    assert [words.setting(c) for c in changes.settings] == [
        "rustc 1.94.0 → 1.95.0",
        "profile.release.lto none → fat",
        "features none → simd",
        "flags none → -Ctarget-cpu=native",
    ]
    assert words.packages(changes.packages) == (
        "hashbrown 0.15.0 → 0.16.0, gone: itoa 1.0.1, new: memmap2 0.9.5"
    )
    assert changes.sections == (SizeChange(".text", 50_000, 50_000 + LEAST_BYTES),)
    assert words.sizes(changes.crates) == "memmap2 +1.95\u202fKiB, hashbrown \u22121000\u202fB"
    assert words.signed_size(require(changes.size).difference) == "+12.0\u202fKiB"


def test_an_unknown_list_gives_no_difference() -> None:
    built = replace(NEW, packages=(), sections=(), crates=(), stripped_bytes=None)
    changes = require(changes_between(built, None, OLD, None))
    assert (changes.packages, changes.sections, changes.crates, changes.size) == ((), (), (), None)


def test_the_first_package_of_a_program_is_new() -> None:
    alone = replace(OLD, packages=(), dependencies=0)
    changes = require(changes_between(NEW, SPEC, alone, SPEC))
    assert words.packages(changes.packages) == "new: hashbrown 0.15.0, new: itoa 1.0.1"


def test_packages_of_a_tree_have_all_versions_and_commits_but_no_folders() -> None:
    tree = (
        "0tool v0.1.0 (/crate)\n1serde v1.0.219\n2serde_derive v1.0.219 (proc-macro)\n"
        "1near v0.2.0 (https://example.org/near?branch=main#1a2b3c4d)\n"
        "1hashbrown v0.14.5\n2hashbrown v0.16.0 (*)\n1member v0.1.0 (/crate/member)\n"
    )
    assert packages_of(tree) == (
        ("hashbrown", "0.14.5, 0.16.0"),
        ("near", "0.2.0 (1a2b3c4d)"),
        ("serde", "1.0.219"),
        ("serde_derive", "1.0.219"),
    )


def test_settings_are_those_of_the_profile_and_the_nearest_file_wins(tmp_path: Path) -> None:
    crate = tmp_path / "workspace" / "crate"
    (crate / ".cargo").mkdir(parents=True)
    (tmp_path / ".cargo").mkdir()
    (crate.parent / "Cargo.lock").write_text("")
    (crate.parent / "Cargo.toml").write_text(
        "[profile.release]\nlto = true\n[profile.dev]\nopt-level = 1\n"
        '[profile.bench]\ninherits = "release"\nstrip = true\n[dependencies]\nserde = "1"\n'
    )
    flags = "[build]\nrustflags = ['-C', 'target-cpu={}']\n"
    (tmp_path / ".cargo/config.toml").write_text(flags.format("x86-64-v2"))
    (crate / ".cargo/config.toml").write_text(
        f"{flags.format('native')}[net]\noffline = false\n[profile.release.package.serde]\nopt-level = 3\n"
    )
    settings = dict(settings_of(crate, "release"))
    assert settings == {
        "build.rustflags": "-C target-cpu=native",
        "profile.release.lto": "true",
        "profile.release.package.serde.opt-level": "3",
    }
    assert {"profile.bench.strip", "profile.release.lto"} <= dict(
        settings_of(crate, "bench")
    ).keys()


def test_a_file_that_is_no_toml_has_no_settings(tmp_path: Path) -> None:
    (tmp_path / "Cargo.lock").write_text("")
    (tmp_path / "Cargo.toml").write_text("[profile.release\n")
    assert settings_of(tmp_path, "release") == ()


@pytest.mark.parametrize(
    ("name", "crate"),
    [
        ("journal::parse_line", "journal"),
        ("<alloc::vec::Vec<u8> as core::clone::Clone>::clone", "std"),
        ("<&mut journal::Entry as std::io::Read>::read", "journal"),
        ("<[journal::Entry] as journal::Sum>::sum", "journal"),
        ("<dyn journal::Shape>::area", "journal"),
        ("memcpy", ""),
        ("_start", ""),
    ],
)
def test_the_crate_of_a_function(name: str, crate: str) -> None:
    assert crate_of(name) == crate
