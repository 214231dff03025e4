"""External programs: find and digest them, and copy them for the A/A control where that is safe."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError, MeasureError
from bench_framework.execution import worker
from bench_framework.execution.build import binaries
from bench_framework.execution.machine.host import cache_root
from bench_framework.execution.process import scratch_folder
from bench_framework.execution.target import Target, run_setup, target_of
from bench_framework.model.plan import PROGRAM
from bench_framework.model.run import Build, Event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.process import Launcher
    from bench_framework.model.plan import Plan
    from bench_framework.model.policies import AnswerPolicy
    from bench_framework.model.run import PreparedInput

COPIED: Final = (b"\x7fELF", b"#!")
"""First bytes of files that may be run from another path: an ELF program or a script."""


def find_program(name: str, scenario_path: str, env: Mapping[str, str]) -> Build:
    """Find a program by an absolute path, a path relative to the scenario, or a name on PATH.

    Raises `MachineError` (BX234): the program does not exist or is not executable.
    """
    base = Path(scenario_path).absolute().parent
    path = str(base / name) if "/" in name else shutil.which(name, path=env.get("PATH"))
    if path is None or not Path(path).exists():
        raise _unfit(
            f"the program {name} does not exist",
            "give an absolute path, a path relative to the scenario, or a name on PATH",
        )
    file = Path(path)
    if not file.is_file():
        raise _unfit(f"the program {path} is not a file", "give the path of an executable file")
    if not os.access(path, os.X_OK):
        raise _unfit(f"the program {path} is not executable", f"chmod +x {shlex.quote(path)}")
    if not os.access(path, os.R_OK):
        raise _unfit(
            f"the program {path} cannot be read to compute its digest",
            f"chmod +r {shlex.quote(path)}",
        )
    return Build(
        PROGRAM,
        ok=True,
        sha256=worker.sha256_of(file),
        path=path,
        size_bytes=file.stat().st_size,
        cached=True,
    )


def add_description(
    build: Build, arguments: Sequence[str], launcher: Launcher, env: Mapping[str, str], place: Path
) -> Build:
    """Add the answer to `describe` to a program that is declared to follow the worker protocol.

    Raises `BuildError` (BX221): it does not follow the protocol, so its receipts cannot be trusted.
    """
    assert build.path is not None
    description = binaries.describe([build.path, *arguments], launcher, env, place)
    return replace(build, describe=description)


def _unfit(message: str, fix: str) -> MachineError:
    return MachineError(message, code="BX234", effect="nothing was measured", fix=fix)


def add_control(
    plan: Plan,
    build: Build,
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> tuple[Build, Event | None]:
    """Give the A/A control a copy at another path, if one run of the copy gives the same result.

    Returns:
        The build, and the event BX332 if the control runs the program itself. Then the page
        placement is the same in both, and the noise floor does not include its effect.
    """
    if not plan.measure.control or build.path is None:
        return build, None
    source = Path(build.path)
    assert plan.program is not None
    reason = _reason_not_to_copy(plan.program[0], source)
    if not reason:
        stored = binaries.store(cache_root(env) / "binaries", source, source.name)
        copied = replace(build, control_path=str(stored.control))
        if _same_result(plan, (build, copied), inputs, launcher, env):
            return copied, None
        reason = "a run of a copy gave another result"
    message = f"page placement is not controlled: {source.name} was not copied, because {reason}"
    effect = "the A/A control runs the same file, so the noise floor may be too small"
    event = Event("BX332", message, "note", effect=effect)
    return replace(build, control_path=build.path), event


def _reason_not_to_copy(name: str, source: Path) -> str:
    """Return the reason why a program must not be copied to another path; empty if it may be.

    Some programs depend on their own path: the interpreter of a virtual environment finds its
    libraries by it, a dispatcher selects its tool. Such a copy may give the same answer and
    still do other work (docs/method.md#aa-control).
    """
    if "/" not in name:
        return "it was found on PATH"
    if source.is_symlink():
        return "it is a symbolic link"
    if (source.parent.parent / "pyvenv.cfg").exists():
        return "it belongs to a virtual environment"
    with source.open("rb") as file:
        head = file.read(4)
    return "" if head.startswith(COPIED) else "it is neither an ELF file nor a script"


def _same_result(
    plan: Plan,
    both: tuple[Build, Build],
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> bool:
    """Compare one run of the program and of its copy on the first input that has both."""
    for item in plan.inputs:
        baseline, control = plan.baseline_cell(item.id), plan.control_cell(item.id)
        if baseline is None or control is None:
            continue
        prepared = inputs.get(item.id)
        policy, timeout_s = plan.answer, plan.measure.timeout_s
        target = target_of(baseline, both[0], prepared, env)
        first = _run_once(target, policy, timeout_s, launcher)
        target = target_of(control, both[1], prepared, env)
        return first is not None and first == _run_once(target, policy, timeout_s, launcher)
    return True


def _run_once(
    target: Target, policy: AnswerPolicy, timeout_s: float, launcher: Launcher
) -> tuple[int | None, int | None, str] | None:
    """Return exit code, signal and answer of one run; `None` if the run failed."""
    with scratch_folder() as folder:
        out, answers = Path(folder, "stdout"), Path(folder, "answers")
        try:
            run_setup(launcher, target, "prepare", timeout_s)
            limited = (str(out), worker.largest_answer(policy))
            command = target.command(answers, timeout_s, stdout=str(out), limited=limited)
            finished = launcher.run(command)
            run_setup(launcher, target, "cleanup", timeout_s)
            digest = worker.digest_of_run(policy, answers, out)
        except MeasureError:
            return None
        return finished.exit_code, finished.signal, digest
