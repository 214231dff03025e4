"""Programs that are not built by us: found, digested, and copied for the control arm where that is safe."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError, MeasureError
from bench_framework.execution import binaries, worker
from bench_framework.execution.host import cache_root
from bench_framework.execution.process import Command, scratch_folder
from bench_framework.execution.target import PROGRAM, Target, target_of
from bench_framework.model.run import Build, Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.process import Launcher
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import PreparedInput

COPIED: Final = (b"\x7fELF", b"#!")
"""How a file begins that may be run from another path: an ELF program or a script."""


def find_program(plan: Plan, env: Mapping[str, str]) -> Build:
    """The program that a plan measures: an absolute path, one relative to the scenario, or a name on PATH.

    Raises:
        MachineError: BX234, there is no such program, or it may not be executed.
    """
    assert plan.program is not None
    name = plan.program[0]
    base = Path(plan.scenario_path).absolute().parent
    path = str(base / name) if "/" in name else shutil.which(name, path=env.get("PATH"))
    if path is None or not Path(path).exists():
        raise _unfit(
            f"the program {name} does not exist",
            "give its absolute path, one relative to the scenario, or a name on PATH",
        )
    file = Path(path)
    if not file.is_file():
        raise _unfit(f"{path} is no file, so no program", "name the program in it")
    if not os.access(path, os.X_OK):
        raise _unfit(f"{path} may not be executed", f"chmod +x {shlex.quote(path)}")
    if not os.access(path, os.R_OK):
        raise _unfit(
            f"{path} may not be read, so its digest cannot be kept", "let its owner allow reading"
        )
    return Build(
        PROGRAM,
        ok=True,
        sha256=worker.sha256_of(file),
        path=path,
        size_bytes=file.stat().st_size,
        cached=True,
    )


def described(
    plan: Plan, build: Build, launcher: Launcher, env: Mapping[str, str], place: Path
) -> Build:
    """The program with what it says of itself, if it is said to follow the protocol and does.

    One that answers runs without a description is measured all the same: what it cannot run then fails in its cell.
    """
    if not plan.answer.contract or plan.program is None or build.path is None:
        return build
    try:
        said = binaries.describe([build.path, *plan.program[1:]], launcher, env, place)
    except MeasureError:
        return build
    return replace(build, describe=said)


def _unfit(message: str, help_text: str) -> MachineError:
    return MachineError(message, code="BX234", effect="nothing was measured", help=help_text)


def with_control(
    plan: Plan,
    build: Build,
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> tuple[Build, Event | None]:
    """Give the control arm a copy at another path, if the copy does the same when it is run once.

    Returns:
        The build, and BX332 where the control runs the program itself: then page placement is the same in
        both arms, and the noise floor does not show what it does.
    """
    if not plan.measure.control or build.path is None:
        return build, None
    source = Path(build.path)
    why = _must_stay(plan, source)
    if not why:
        stored = binaries.keep(cache_root(env) / "binaries", source, source.name)
        copied = replace(build, control_path=str(stored.control))
        if _same(plan, (build, copied), inputs, launcher, env):
            return copied, None
        why = "a copy of it, run once, did something else"
    event = Event(
        "BX332",
        f"page placement not controlled: {source.name} cannot be copied, {why}",
        "note",
        effect="the control runs the same file under a second label; its noise floor may be too small",
    )
    return replace(build, control_path=build.path), event


def _must_stay(plan: Plan, source: Path) -> str:
    """Why a program may not be copied to another path; empty if it may be (METHOD 1).

    Programs look at their own path: an interpreter of a virtual environment finds its libraries by it, a
    dispatcher the tool that it stands for. Such a copy may answer alike and still do other work.
    """
    assert plan.program is not None
    if "/" not in plan.program[0]:
        return "it was found on PATH, not named by its path"
    if source.is_symlink():
        return "it is a link"
    if (source.parent.parent / "pyvenv.cfg").exists():
        return "it belongs to a virtual environment"
    with source.open("rb") as file:
        head = file.read(4)
    return "" if head.startswith(COPIED) else "it is neither an ELF file nor a script"


def _same(
    plan: Plan,
    both: tuple[Build, Build],
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> bool:
    """Whether program and copy end alike and answer alike on the first input that has both arms."""
    for item in plan.inputs:
        baseline, control = plan.baseline_cell(item.id), plan.control_cell(item.id)
        if baseline is None or control is None:
            continue
        prepared = inputs.get(item.id)
        first = _once(plan, target_of(baseline, both[0], prepared, env), launcher)
        return first is not None and first == _once(
            plan, target_of(control, both[1], prepared, env), launcher
        )
    return True


def _once(
    plan: Plan, target: Target, launcher: Launcher
) -> tuple[int | None, int | None, str] | None:
    """Exit code, signal and answer of one run; `None` if it cannot be told."""
    with scratch_folder() as folder:
        out, answers = Path(folder, "stdout"), Path(folder, "answers")
        try:
            for argv in target.prepare:
                launcher.capture(argv, target.env, cwd=target.cwd)
            finished = launcher.run(
                Command(
                    target.argv,
                    {**target.env, worker.ANSWERS: str(answers)},
                    target.cwd,
                    target.stdin,
                    str(out),
                    timeout_s=plan.measure.timeout_s,
                    cpus=target.cpus,
                )
            )
            for argv in target.cleanup:
                launcher.capture(argv, target.env, cwd=target.cwd)
            if plan.answer.contract:
                lines = answers.read_bytes().splitlines() if answers.is_file() else []
                digest = worker.parse_reply(lines[-1]).answer.digest if lines else ""
            else:
                path = Path(plan.answer.file) if plan.answer.file else out
                digest = worker.digest_file(path, plan.answer).digest
        except MeasureError:
            return None
        return finished.exit_code, finished.signal, digest
