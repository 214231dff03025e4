"""Command lines, flags and messages of cargo, and the local packages of a lock file."""

import json
from pathlib import Path

import pytest

from bench_framework.cli.progress_lines import progress_of
from bench_framework.execution.build import cargo, configuration, messages
from bench_framework.execution.build.messages import (
    Messages,
    Steps,
    direct_dependencies,
    failure_text,
    read_messages,
)
from bench_framework.execution.build.pgo import candidates
from bench_framework.execution.build.sharing import local_packages
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import BuildStep, SilentObserver, Update
from bench_framework.model.plan.build_spec import BuildSpec


def artifact(
    package: str,
    *,
    executable: str | None = None,
    fresh: bool = False,
    name: str = "",
    kind: str = "",
) -> bytes:
    message = {
        "reason": "compiler-artifact",
        "package_id": package,
        "target": {"name": name or package, "kind": [kind or ("bin" if executable else "lib")]},
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
def test_variables_of_the_shell_do_not_change_a_binary(tmp_path: Path, name: str) -> None:
    needed = {"PATH": "/bin", "CARGO_HOME": "/home/u/.cargo", "RUSTC_WRAPPER": "sccache"}
    env = {name: "-C target-cpu=native", **needed, "BENCHCTL_CACHE": str(tmp_path)}
    with Launcher() as launcher:
        given = (launcher, env, SilentObserver())
        builder = cargo.Builder(*given, contract=False, place=tmp_path)
        passed = builder._environment(BuildSpec(str(tmp_path), "prog"), tmp_path)
    assert name not in passed
    assert needed.items() <= passed.items()


def test_a_plain_build(tmp_path: Path) -> None:
    fixed = ["cargo", "build", "--message-format=json-render-diagnostics", "--manifest-path"]
    given = [str(tmp_path / "Cargo.toml"), "--profile", "release", "--bin", "prog"]
    assert cargo.arguments(BuildSpec(str(tmp_path), "prog"), tmp_path) == [*fixed, *given]


def test_every_setting_of_a_variant(tmp_path: Path) -> None:
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
    argv = cargo.arguments(spec, tmp_path)
    assert argv[argv.index("--package") + 1] == "pack"
    assert argv[argv.index("--features") + 1] == "a,b"
    assert argv[argv.index("--profile") + 1] == "bench"
    assert 'profile.bench.lto="fat"' in argv
    assert "profile.bench.codegen-units=1" in argv
    assert "--no-default-features" in argv
    assert "--locked" in argv


def test_the_package_of_a_bundled_worker_has_its_name(tmp_path: Path) -> None:
    argv = cargo.arguments(BuildSpec("builtin", "tally"), tmp_path)
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
    assert cargo.toml_value(text) == toml


def test_a_member_uses_the_lockfile_of_its_workspace(tmp_path: Path) -> None:
    member = tmp_path / "crates" / "one"
    member.mkdir(parents=True)
    (tmp_path / "Cargo.lock").write_text("")
    assert configuration.lockfile_of(member) == tmp_path / "Cargo.lock"


def test_a_lockfile_above_the_repository_is_ignored(tmp_path: Path) -> None:
    crate = tmp_path / "repo"
    (crate / ".git").mkdir(parents=True)
    (tmp_path / "Cargo.lock").write_text("")
    assert configuration.lockfile_of(crate) is None


def test_builds_have_short_labels() -> None:
    assert cargo.label_of(BuildSpec("builtin", "tally")) == "tally"
    spec = BuildSpec(
        "builtin", "tally", features=("jemalloc",), profile_keys=(("lto", "fat"),), revision="v1"
    )
    assert cargo.label_of(spec) == "tally +jemalloc lto=fat v1"


def read(path: Path, text: bytes, name: str) -> Messages:
    path.write_bytes(text)
    return read_messages(path, name)


def test_the_binary_and_its_dependencies_are_found_in_the_messages(tmp_path: Path) -> None:
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
    assert read(tmp_path / "m", text, "prog") == Messages("/t/prog", fresh=False, dependencies=3)


def test_a_build_is_fresh_if_every_artifact_is(tmp_path: Path) -> None:
    text = b"\n".join(
        [artifact("dep", fresh=True), artifact("prog", executable="/t/prog", fresh=True)]
    )
    assert read(tmp_path / "m", text, "prog").fresh


def test_messages_without_the_binary_give_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "m", artifact("dep"), "prog") == Messages()
    assert read(tmp_path / "m", b'{"reason":"compiler-artifact" torn', "prog") == Messages()


def test_a_failure_shows_cargos_output_from_the_first_error_on() -> None:
    log = "   Compiling a v1\nwarning: unused\nerror[E0432]: unresolved import\n --> src/main.rs:1:5\n"
    assert failure_text(log) == "error[E0432]: unresolved import\n --> src/main.rs:1:5"
    assert failure_text("something else") == "something else"
    assert len(failure_text("error: x\n" * 500).splitlines()) == 60


class Recorder:
    def __init__(self) -> None:
        self.updates: list[Update] = []

    def notify(self, update: Update) -> None:
        self.updates.append(update)


def test_progress_counts_crates_and_estimates_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(messages, "seconds", lambda: now[0])
    recorder, path = Recorder(), tmp_path / "messages"
    steps = Steps(path, recorder, "1/3", 20)
    steps._began = now[0]
    steps.poll()  # cargo has not written anything yet
    path.write_bytes(
        artifact("registry+https://x/index#libc@0.2.1")
        + b"\n"
        + artifact("p#a@1", fresh=True)
        + b"\n{torn"
    )
    steps.poll()
    with path.open("ab") as file:
        file.write(b"}\n")
        for name in "bcde":
            file.write(artifact(f"p#{name}@1", name="build-script-build", kind="custom-build"))
            file.write(b"\n" + artifact(f"p#{name}@1") + b"\n")
        file.write(artifact("p#f@1", name="build-script-build", kind="custom-build") + b"\n")
    now[0] += 25.0
    steps.poll()
    assert recorder.updates == [
        BuildStep(0, 0.0, "1/3", 20),
        BuildStep(2, 0.0, "1/3", 20),
        BuildStep(6, 25.0, "1/3", 20, 14 * 5.0),  # 5 of them were compiled
    ]


def test_the_words_of_the_progress() -> None:
    assert progress_of(BuildStep(22, 60.0, "1/3", 201, 190.0)) == (
        "1/3: 22 of 201 crates, about 3 min left"
    )
    assert progress_of(BuildStep(200, 60.0, "1/3", 201, 2.0, "sccache 0.10.0")) == (
        "1/3: 200 of 201 crates, less than 1 min left, with sccache 0.10.0"
    )
    assert progress_of(BuildStep(22, 60.0, "1/3")) == "1/3: 22 crates"
    assert progress_of(BuildStep(0, 1.0, "1/3")) == "1/3: cargo started"


def test_the_profdata_of_the_toolchain_is_tried_before_those_on_the_path(tmp_path: Path) -> None:
    for name in ("own/llvm-profdata", "b/llvm-profdata-9", "b/llvm-profdata-19", "a/llvm-profdata"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "b/llvm-profdata-20").write_text("not executable")
    (tmp_path / "b/llvm-profdata-old").write_text("no version")
    env = {"PATH": f"{tmp_path}/a:{tmp_path}/none:{tmp_path}/b"}
    names = ("own/llvm-profdata", "a/llvm-profdata", "b/llvm-profdata-19", "b/llvm-profdata-9")
    assert list(candidates(tmp_path / "own", env)) == [str(tmp_path / name) for name in names]


def test_direct_dependencies_are_those_of_the_crate_and_of_the_crates_in_folders() -> None:
    tree = """\
0dgen v0.1.0 (/src/native/crates/dgen)
1clap v4.6.7
2clap_derive v4.6.7 (proc-macro)
1sink v0.1.0 (/src/native/crates/sink)
2io-uring v0.7.15
3libc v0.2.191
2worker v0.1.0 (/src/native/crates/worker)
3serde v1.0.229
4serde_core v1.0.229
2memmap2 v0.9.12
1hidden v0.2.0 (https://example.com/hidden#0123abcd)
2unseen v1.0.0
1worker v0.1.0 (/src/native/crates/worker) (*)
1libc v0.2.191 (*)
"""
    assert direct_dependencies(tree) == (
        ("clap", "4.6.7"),
        ("hidden", "0.2.0"),
        ("io-uring", "0.7.15"),
        ("libc", "0.2.191"),
        ("memmap2", "0.9.12"),
        ("serde", "1.0.229"),
    )
    assert direct_dependencies("error: no manifest\n") == ()


LOCK = """
version = 4
[[package]]
name = "app"
version = "0.1.0"
dependencies = ["libc 0.2.1 (registry+https://x/index)", "user"]
[[package]]
name = "libc"
version = "0.2.1"
source = "registry+https://x/index"
[[package]]
name = "forked"
version = "1.0.0"
[[package]]
name = "direct"
version = "1.0.0"
source = "registry+https://x/index"
dependencies = ["forked"]
[[package]]
name = "user"
version = "1.0.0"
source = "git+https://x/user#0123"
dependencies = ["direct 1.0.0"]
"""


def test_packages_that_depend_on_a_local_one_are_local(tmp_path: Path) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCK)
    assert local_packages(lock) == {"app", "forked", "direct", "user"}
    lock.write_text("version = 4\n")
    assert local_packages(lock) == frozenset()
