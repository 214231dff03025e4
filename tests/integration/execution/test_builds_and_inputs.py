"""Builds with cargo, revisions with git, inputs, programs and the lock of the machine."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import BuildError, Interrupted, MachineError
from bench_framework.execution.build import binaries, cargo
from bench_framework.execution.inputs import datasets
from bench_framework.execution.machine import host
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver, Waiting
from bench_framework.execution.stop import Driver, Stop
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Dataset, Input, Plan
from bench_framework.model.record.run import Build, PreparedInput
from tests.files import write_files
from tests.integration.execution.conftest import plan_of
from tests.integration.processes import commit, executable

MAIN = """
fn main() {
    println!("{}", if cfg!(feature = "loud") { "HELLO" } else { "hello" });
}
"""
MANIFEST = """
[package]
name = "greeter"
version = "0.1.0"
edition = "2021"
[features]
loud = []
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**host.environment(), "BENCHCTL_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    return write_files(tmp_path / "greeter", {"Cargo.toml": MANIFEST, "src/main.rs": MAIN})


def build(
    plan: Plan, specs: tuple[BuildSpec, ...], launcher: Launcher, env: dict[str, str]
) -> tuple[Build, ...]:
    contract = plan.answer.contract
    return cargo.Builder(launcher, env, SilentObserver(), contract, Path.cwd()).build_all(specs)


@pytest.mark.real
def test_features_change_the_binary_and_a_second_run_builds_nothing(
    crate: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    plan = plan_of({"a": ["x"]})
    plain = BuildSpec(str(crate), "greeter")
    loud = BuildSpec(str(crate), "greeter", features=("loud",), profile_keys=(("opt-level", "s"),))
    first = build(plan, (plain, loud), launcher, env)
    assert all(item.ok and not item.cached and item.build_s for item in first)
    assert first[0].sha256 != first[1].sha256
    outputs = [launcher.capture([str(item.path)], env).stdout for item in first]
    assert outputs == ["hello\n", "HELLO\n"]
    for item in first:
        assert item.control_path is not None
        assert Path(item.control_path).read_bytes() == Path(str(item.path)).read_bytes()
        assert item.control_path != item.path
        assert item.rustc is not None
        assert item.dependencies == 0
        assert item.direct_dependencies == ()
        assert item.describe is None  # without the protocol `describe` is not called
    second = build(plan, (plain, loud), launcher, env)
    assert all(item.cached and item.build_s is None for item in second)
    assert [item.sha256 for item in second] == [item.sha256 for item in first]


@pytest.mark.real
def test_an_unused_feature_changes_the_digest_but_not_the_code(
    crate: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    (crate / "Cargo.toml").write_text(MANIFEST + "idle = []\n")
    plan = plan_of({"a": ["x"]})
    specs = tuple(
        BuildSpec(str(crate), "greeter", features=names) for names in ((), ("idle",), ("loud",))
    )
    plain, idle, loud = build(plan, specs, launcher, env)
    assert plain.sha256 != idle.sha256  # symbol names depend on the features
    assert plain.code_sha256 == idle.code_sha256
    assert plain.code_sha256 != loud.code_sha256


@pytest.mark.real
def test_a_failed_build_affects_only_itself_and_has_cargos_message(
    crate: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    specs = (
        BuildSpec(str(crate), "greeter", features=("nosuch",)),
        BuildSpec(str(crate), "greeter"),
        BuildSpec(str(crate / "nowhere"), "greeter"),
    )
    bad, good, absent = build(plan_of({"a": ["x"]}), specs, launcher, env)
    assert good.ok
    assert not bad.ok
    assert "nosuch" in str(bad.message)
    assert not absent.ok
    assert "no Cargo.toml" in str(absent.message)


@pytest.mark.real
def test_a_revision_is_built_outside_the_working_tree(
    crate: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    first = commit(crate, tag="v1")
    (crate / "src" / "main.rs").write_text(MAIN.replace("hello", "changed"))
    specs = (
        BuildSpec(str(crate), "greeter", revision="v1"),
        BuildSpec(str(crate), "greeter"),
        BuildSpec(str(crate), "greeter", revision="v9"),
        BuildSpec("", "greeter", git=str(crate), revision="v1"),
    )
    old, new, none, remote = build(plan_of({"a": ["x"]}), specs, launcher, env)
    assert launcher.capture([str(old.path)], env).stdout == "hello\n"
    assert launcher.capture([str(new.path)], env).stdout == "changed\n"
    assert (old.revision, old.dirty) == (first, False)
    assert (new.revision, new.dirty) == (first, True)
    assert not none.ok
    assert "there is no revision v9" in str(none.message)
    assert remote.ok
    assert remote.revision == first


def prepared(
    items: tuple[Input, ...], folder: Path, env: dict[str, str]
) -> tuple[PreparedInput, ...]:
    launcher = Launcher()
    driver = Driver(launcher, env, SilentObserver(), Stop(launcher))
    return datasets.prepare_inputs(items, folder / "data", driver)


def test_a_generated_input_is_reused_and_reproducible(tmp_path: Path, env: dict[str, str]) -> None:
    dataset = Dataset("generated", "prose", 100_000, 42)
    items = (Input("a", (("on", "a"),), dataset), Input("b", (("on", "b"),), dataset))
    first = prepared(items, tmp_path, env)
    assert first[0].path == first[1].path
    assert [item.input_id for item in first] == [item.id for item in items]
    path = Path(str(first[0].path))
    assert path.stat().st_size == first[0].size_bytes == 100_000
    assert first[0].made_s is not None
    text = path.read_bytes()
    again = prepared(items, tmp_path, env)
    assert again[0].made_s is None
    assert again[0].sha256 == first[0].sha256
    path.write_bytes(b"someone wrote here")
    third = prepared(items, tmp_path, env)
    assert third[0].made_s is not None
    assert path.read_bytes() == text
    assert not [item for item in path.parent.iterdir() if "part" in item.name]


def test_a_full_disk_is_an_error_before_anything_is_written(
    tmp_path: Path, env: dict[str, str]
) -> None:
    huge = Input("a", (), Dataset("generated", "prose", 1 << 60, 42))
    with pytest.raises(MachineError, match="the inputs need") as caught:
        prepared((huge,), tmp_path, env)
    assert caught.value.code == "BC401"
    assert not (tmp_path / "data").exists()


def test_the_error_for_an_unknown_kind_lists_the_known_ones(
    tmp_path: Path, env: dict[str, str]
) -> None:
    item = Input("a", (), Dataset("generated", "poetry", 10, 42))
    with pytest.raises(MachineError, match="poetry") as caught:
        prepared((item,), tmp_path, env)
    assert "prose" in dict(caught.value.details)["kinds"]


def test_a_users_file_is_digested_again_only_if_it_changes(
    tmp_path: Path, env: dict[str, str]
) -> None:
    path = tmp_path / "mine"
    path.write_text("abc")
    item = Input("a", (), Dataset("file", "mine", path=str(path)))
    first = prepared((item,), tmp_path, env)[0]
    assert (first.path, first.size_bytes) == (str(path), 3)
    assert first.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert prepared((item,), tmp_path, env)[0] == first
    times = path.stat()
    (tmp_path / "other").write_text("abd")  # with the size and the time of the first one
    os.utime(tmp_path / "other", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "other").replace(path)
    second = prepared((item,), tmp_path, env)[0]
    assert second.sha256 != first.sha256
    path.write_text("abcd")
    assert prepared((item,), tmp_path, env)[0].sha256 != second.sha256
    path.unlink()
    with pytest.raises(MachineError, match="does not exist"):
        prepared((item,), tmp_path, env)


def test_the_control_of_a_program_is_a_copy(launcher: Launcher, env: dict[str, str]) -> None:
    plan = replace(plan_of({"a": [BIN, "hi"]}), program=("/bin/echo",))
    program = binaries.find_program("/bin/echo", "s.yaml", env)
    assert program.id == "program"
    copied, event = binaries.add_control(plan, program, {}, launcher, env)
    assert event is None
    assert copied.control_path not in {None, program.path}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("name", "found on PATH"),
        ("link", "is a symbolic link"),
        ("venv", "virtual environment"),
        ("text", "neither an ELF file nor a script"),
    ],
)
def test_a_program_that_may_depend_on_its_path_is_not_copied(
    kind: str, reason: str, tmp_path: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "prog"
    executable(program, "#!/bin/sh\necho hi\n" if kind != "text" else "echo hi\n")
    name = str(program)
    if kind == "link":
        (folder / "link").symlink_to(program)
        name = str(folder / "link")
    elif kind == "venv":
        (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\n")
    elif kind == "name":
        name = "prog"
        env = {**env, "PATH": f"{folder}:{env['PATH']}"}
    plan = replace(plan_of({"a": [BIN]}), program=(name,))
    original = binaries.find_program(name, "s.yaml", env)
    same, event = binaries.add_control(plan, original, {}, launcher, env)
    assert event is not None
    assert reason in event.message
    assert same.control_path == original.path


def test_a_program_whose_copy_behaves_differently_is_not_copied(
    tmp_path: Path, launcher: Launcher, env: dict[str, str]
) -> None:
    program = tmp_path / "prog"
    executable(program, '#!/bin/sh\ncat "$(dirname "$0")/data"\n')
    (tmp_path / "data").write_text("in my folder")
    plan = replace(plan_of({"a": [BIN]}), program=(str(program),))
    same, event = binaries.add_control(
        plan, binaries.find_program(str(program), "s.yaml", env), {}, launcher, env
    )
    assert event is not None
    assert event.code == "BX332"
    assert same.control_path == str(program)


def test_a_missing_program_is_an_error(env: dict[str, str]) -> None:
    with pytest.raises(MachineError, match="does not exist"):
        binaries.find_program("no-such-program", "s.yaml", env)


def test_a_second_benchctl_waits_and_reports_the_first(tmp_path: Path, launcher: Launcher) -> None:
    path = tmp_path / "lock"
    stop = Stop(launcher)
    updates: list[Any] = []

    class Recorder:
        def notify(self, update: object) -> None:
            updates.append(update)
            stop.request()

    with MachineLock("first.yaml", SilentObserver(), path=path):
        with pytest.raises(Interrupted), MachineLock("second.yaml", Recorder(), stop, path=path):
            raise AssertionError("both have the lock")
        assert isinstance(updates[0], Waiting)
        assert f"first.yaml (process {os.getpid()}" in updates[0].reason
    with MachineLock("third.yaml", SilentObserver(), path=path):
        assert "third.yaml" in path.read_text()
    assert path.read_text() == ""
    assert path.stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize(
    "body",
    [
        "head -c 200000000 /dev/zero | tr '\\0' '['",
        "exec yes '{'",
        "exit 1",
        "echo '{\"protocol\": 2}'",
    ],
)
@pytest.mark.slow
def test_an_invalid_answer_to_describe_is_one_error(
    launcher: Launcher,
    env: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
) -> None:
    monkeypatch.setattr(binaries, "DESCRIBE_TIMEOUT_S", 3.0)
    script = tmp_path / "worker.sh"
    executable(script, f"#!/bin/sh\n{body}\n")
    with pytest.raises(BuildError, match="no valid answer to `describe`") as caught:
        binaries.describe([str(script)], launcher, env, tmp_path)
    assert caught.value.code == "BX221"
    assert "`contract: true` under `worker`" in str(caught.value.fix)
