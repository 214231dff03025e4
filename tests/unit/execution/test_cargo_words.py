"""What cargo is asked, and what it answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from bench_framework.execution.cargo import Builder, arguments, label_of, lockfile_of, toml_value
from bench_framework.execution.cargo_messages import Messages, Steps, failure_text, read_messages
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import BuildStarted, BuildStep, SilentObserver
from bench_framework.model.plan import BuildSpec

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.progress import Update


def artifact(
    package: str, *, executable: str | None = None, fresh: bool = False, name: str = ""
) -> bytes:
    message = {
        "reason": "compiler-artifact",
        "package_id": package,
        "target": {"name": name or package, "kind": ["bin" if executable else "lib"]},
        "executable": executable,
        "fresh": fresh,
    }
    return json.dumps(message, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "name",
    [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_PROFILE_RELEASE_LTO",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
    ],
)
def test_the_users_shell_changes_no_binary(tmp_path: Path, name: str) -> None:
    env = {
        name: "-C target-cpu=native",
        "PATH": "/bin",
        "CARGO_HOME": "/home/u/.cargo",
        "RUSTC_WRAPPER": "sccache",
    }
    with Launcher() as launcher:
        builder = Builder(
            launcher,
            {**env, "BENCHCTL_CACHE": str(tmp_path)},
            SilentObserver(),
            contract=False,
            place=tmp_path,
        )
        passed = builder._environment(BuildSpec(str(tmp_path), "prog"), tmp_path)
        flagged = builder._environment(
            BuildSpec(str(tmp_path), "prog", rustflags=("-C", "lto")), tmp_path
        )
    assert name not in passed
    assert {key: passed[key] for key in ("PATH", "CARGO_HOME", "RUSTC_WRAPPER")} == {
        key: env[key] for key in ("PATH", "CARGO_HOME", "RUSTC_WRAPPER")
    }
    assert flagged["CARGO_ENCODED_RUSTFLAGS"] == "-C\x1flto"
    changed = {key for key in flagged if flagged[key] != passed.get(key)}
    assert changed == {"CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"}


def test_a_plain_build(tmp_path: Path) -> None:
    argv = arguments(BuildSpec(str(tmp_path), "prog"), tmp_path)
    assert argv == [
        "cargo",
        "build",
        "--message-format=json-render-diagnostics",
        "--manifest-path",
        str(tmp_path / "Cargo.toml"),
        "--profile",
        "release",
        "--bin",
        "prog",
    ]


def test_everything_that_a_variant_can_change(tmp_path: Path) -> None:
    (tmp_path / "Cargo.lock").write_text("")
    spec = BuildSpec(
        str(tmp_path),
        "prog",
        package="pack",
        features=("a", "b"),
        default_features=False,
        profile="bench",
        profile_keys=(("lto", "fat"), ("codegen-units", "1")),
    )
    argv = arguments(spec, tmp_path)
    assert argv[argv.index("--package") + 1] == "pack"
    assert argv[argv.index("--features") + 1] == "a,b"
    assert argv[argv.index("--profile") + 1] == "bench"
    assert 'profile.bench.lto="fat"' in argv
    assert "profile.bench.codegen-units=1" in argv
    assert "--no-default-features" in argv
    assert "--locked" in argv


def test_a_bundled_worker_is_a_package_of_its_own_name(tmp_path: Path) -> None:
    argv = arguments(BuildSpec("builtin", "tally"), tmp_path)
    assert argv[argv.index("--package") + 1] == "tally"


@pytest.mark.parametrize(
    ("text", "toml"),
    [
        ("fat", '"fat"'),
        ("3", "3"),
        ("true", "true"),
        ("s", '"s"'),
        ("-1", "-1"),
        ('a"b', '"a\\"b"'),
    ],
)
def test_profile_values_become_toml(text: str, toml: str) -> None:
    assert toml_value(text) == toml


def test_the_lockfile_of_a_workspace_governs_its_members(tmp_path: Path) -> None:
    member = tmp_path / "crates" / "one"
    member.mkdir(parents=True)
    (tmp_path / "Cargo.lock").write_text("")
    assert lockfile_of(member) == tmp_path / "Cargo.lock"


def test_a_lockfile_above_the_repository_is_another_projects(tmp_path: Path) -> None:
    crate = tmp_path / "repo"
    (crate / ".git").mkdir(parents=True)
    (tmp_path / "Cargo.lock").write_text("")
    assert lockfile_of(crate) is None


def test_builds_have_short_labels() -> None:
    assert label_of(BuildSpec("builtin", "tally")) == "tally"
    spec = BuildSpec(
        "builtin", "tally", features=("jemalloc",), profile_keys=(("lto", "fat"),), revision="v1"
    )
    assert label_of(spec) == "tally +jemalloc lto=fat v1"


def test_the_binary_and_its_dependencies_are_found_in_the_messages() -> None:
    text = b"\n".join(
        [
            b"a build script printed this",
            artifact("dep1"),
            artifact("dep1", name="build-script-build"),
            artifact("dep2", fresh=True),
            artifact("other", executable="/t/other"),
            artifact("prog", executable="/t/prog"),
            b'{"reason":"build-finished","success":true}',
        ]
    )
    assert read_messages(text, "prog") == Messages("/t/prog", fresh=False, dependencies=3)


def test_a_build_is_fresh_if_every_artifact_is() -> None:
    text = b"\n".join(
        [artifact("dep", fresh=True), artifact("prog", executable="/t/prog", fresh=True)]
    )
    assert read_messages(text, "prog").fresh


def test_without_the_binary_there_is_nothing() -> None:
    assert read_messages(artifact("dep"), "prog") == Messages()
    assert read_messages(b'{"reason":"compiler-artifact" torn', "prog") == Messages()


def test_a_failure_is_told_in_cargos_own_words_from_the_first_error_on() -> None:
    log = "   Compiling a v1\nwarning: unused\nerror[E0432]: unresolved import\n --> src/main.rs:1:5\n"
    assert failure_text(log) == "error[E0432]: unresolved import\n --> src/main.rs:1:5"
    assert failure_text("something else") == "something else"
    assert len(failure_text("error: x\n" * 500).splitlines()) == 60


class Seen:
    def __init__(self) -> None:
        self.updates: list[Update] = []

    def notify(self, update: Update) -> None:
        self.updates.append(update)


def test_progress_counts_what_is_compiled_and_names_its_package(tmp_path: Path) -> None:
    seen, path = Seen(), tmp_path / "messages"
    steps = Steps("id", "tally", 1, 2, path, seen)
    steps.poll()  # cargo has not written anything yet
    path.write_bytes(
        artifact("registry+https://x/index#libc@0.2.1")
        + b"\n"
        + artifact("p#a@1", fresh=True)
        + b"\n{torn"
    )
    steps.poll()
    with path.open("ab") as file:
        file.write(
            b"}\n" + artifact("path+file:///src/tally#0.1.0", name="build-script-build") + b"\n"
        )
    steps.poll()
    assert isinstance(seen.updates[0], BuildStarted)
    found = [(step.crates, step.crate) for step in seen.updates if isinstance(step, BuildStep)]
    assert found == [(0, ""), (1, "libc"), (2, "tally")]
