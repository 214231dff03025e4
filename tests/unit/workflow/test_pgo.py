"""Builds with PGO: their events, their compilers, and the second pass of a gate."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench_framework.errors import BuildError, RecordError
from bench_framework.execution.build.pgo import Tool, Trainer, find_tools, source_of
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.foreign import sha256_of
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build, Training
from bench_framework.workflow.run import require_programs
from bench_framework.workflow.setup.remarks import build_events

PLAIN = BuildSpec("/crate", "prog")
TRAINED = BuildSpec("/crate", "prog", pgo=True)
TRAINING = Training(("prog a",), "p", "d" * 64, 9, 5, "LLVM 19", 0, 2, (("prog b", "it failed"),))


def event(code: str | None) -> Any:
    variants = [
        SimpleNamespace(label=name, build_id=spec.id)
        for name, spec in (("off", PLAIN), ("on", TRAINED))
    ]
    plan = cast("Plan", SimpleNamespace(builds=(PLAIN, TRAINED), variants=variants))
    builds = [
        Build(PLAIN.id, ok=True, code_sha256="a"),
        Build(TRAINED.id, ok=True, code_sha256=code, training=TRAINING),
    ]
    (only,) = build_events(plan, builds)
    return only


def test_no_message_says_that_the_compiler_used_a_profile() -> None:
    note = event("b")
    assert (note.code, note.severity) == ("BX338", "note")
    assert note.message == "on: built with a profile (PGO), trained by `prog a`"
    details = dict(note.details)
    assert details["left out"] == "prog b: it failed"
    assert details["functions"].endswith("for 0 functions and none for 2")
    assert "used" not in str(note)


def test_a_profile_that_changes_no_code_is_a_warning() -> None:
    warning = event("a")
    assert warning.severity == "warning"
    assert "its code is equal to that of the build without the profile" in warning.message
    assert event(None).severity == "note"  # nothing is known


def test_each_crate_and_toolchain_has_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bench_framework.execution.build.pgo._find_tool",
        lambda toolchain, crate, *_: Tool(str(crate), str(toolchain)),
    )
    specs = [
        PLAIN,
        TRAINED,
        BuildSpec("/other", "prog", pgo=True),
        BuildSpec("/crate", "prog", pgo=True, toolchain="beta"),
    ]
    with Launcher() as launcher:
        tools = find_tools(specs, launcher, {})
    assert set(tools) == {(None, "/crate"), (None, "/other"), ("beta", "/crate")}
    assert tools[source_of(TRAINED)] == Tool("/crate", "None")


def test_another_program_is_not_a_confirmation() -> None:
    first = [Build("x", ok=True, sha256="a" * 64), Build("y", ok=False)]
    require_programs(first, [*first, Build("z", ok=True, sha256="c" * 64)], "")
    changed = Build("x", ok=True, sha256="b" * 64, path="/store/prog")
    with pytest.raises(RecordError, match="cannot confirm: the program prog aaaaaaaaaaaa → b") as e:
        require_programs(first, [changed], "benchctl gate s.yaml --base v1")
    assert e.value.code == "BX410"
    assert "measure both again: `benchctl gate s.yaml --base v1 --fresh`" in (e.value.fix or "")


def test_a_continued_record_has_its_profile_and_another_one_is_trained(tmp_path: Path) -> None:
    profile = tmp_path / "p.profdata"
    profile.write_bytes(b"counts")
    training = replace(TRAINING, path=str(profile), sha256=sha256_of(profile))
    plan = cast("Plan", SimpleNamespace(training=(), scenario_path=""))
    builder: Any = SimpleNamespace(observer=SilentObserver(), env={})
    tools = {source_of(TRAINED): Tool("t", "LLVM")}
    trainer = Trainer(plan, lambda _: (), tools, {TRAINED.id: training})
    built = Build("x", ok=True)
    assert trainer.train(TRAINED, built, builder) == training
    profile.write_bytes(b"other counts")
    with pytest.raises(BuildError, match="has no run"):
        trainer.train(TRAINED, built, builder)


def test_a_tool_that_is_too_old_for_the_profile_is_named_in_the_fix(tmp_path: Path) -> None:
    (tmp_path / "0-1.profraw").write_bytes(b"counts")
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho 'unsupported profile format version' >&2; exit 1\n")
    tool.chmod(0o755)
    plan = cast("Plan", SimpleNamespace())
    trainer, merged = Trainer(plan, lambda _: (), {}), tmp_path / "merged"
    with Launcher() as launcher:
        builder: Any = SimpleNamespace(launcher=launcher, env={})
        with pytest.raises(BuildError, match="cannot merge") as error:
            trainer._merge(Tool(str(tool), "x"), tmp_path, merged, ["c"], builder)
    assert "rustup component add llvm-tools" in str(error.value.fix)
