"""Runs on this host for a client: unpack the files, start the process that measures, relay its updates."""

import contextlib
import json
import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import BenchError, Interrupted, MachineError
from bench_framework.execution.build.revisions import key_of
from bench_framework.execution.machine import host
from bench_framework.execution.process import Command, Finished, Launcher
from bench_framework.store import layout
from bench_framework.store.finding import find_records
from bench_framework.workflow.fleet import job as jobs
from bench_framework.workflow.fleet.bundle import Bundle, damaged, is_inside, unpack
from bench_framework.workflow.fleet.job import Job, Result

FOLDER: Final = "fleet"
"""Folder of the cache with one folder per origin."""
RELAY_S: Final = 0.5
"""Interval in seconds at which updates are sent. The file of updates does not grow during a timing."""
_LINES: Final = 12
_CALL: Final = "import sys; from bench_framework.workflow.fleet.job import main; main(sys.argv[1])"
Send = Callable[[list[bytes]], object]
_stops: dict[str, int] = {}
"""Number of stop requests by the token of each run of this process."""
_progress: dict[str, tuple[dict[str, Any], float]] = {}
"""Progress of each run by its token, with the time at which it was written."""


def request_stop(token: str) -> None:
    """Request that a run stops, as Ctrl-C does: the second time, its current command is killed."""
    if token in _stops:
        _stops[token] += 1


def state() -> dict[str, Any]:
    """Return load, free disk space and progress of this host. They are sent with each heartbeat."""
    run, written = next(iter([*_progress.values()]), (None, 0.0))
    if run is not None and run.get("left_s") is not None:
        run = {**run, "left_s": max(0.0, run["left_s"] - (host.seconds() - written))}
    free = host.free_bytes(host.cache_root())
    return {"load": os.getloadavg()[0], "free_bytes": free, "run": run}


def run_job(job: Job, send: Send) -> Result:
    """Measure for a client. `send` is called with the lines of updates; first without lines."""
    _stops[job.token] = 0
    _progress[job.token] = ({"scenario": Path(job.scenario).stem}, 0.0)
    try:
        send([])
        return _run(job, send)
    except BenchError as error:
        return Result(error=error)
    finally:
        del _stops[job.token], _progress[job.token]


def _run(job: Job, send: Send) -> Result:
    env = host.environment()
    project = host.cache_root(env) / FOLDER / key_of(job.origin)
    files, results, work = (project / name for name in ("files", "results", "work"))
    if job.cwd and not is_inside(job.cwd):
        raise damaged(f"{job.cwd!r} is not a path in it")
    unpack(job.bundle, files)
    programs = job.programs
    if programs is not None:
        unpack(programs.bundle, project / jobs.PROGRAMS)
        programs = replace(programs, bundle=Bundle())
    layout.replace_folder(work, {})
    with layout.writing(project):
        _forget(results)
        (files / job.cwd).mkdir(parents=True, exist_ok=True)
    options = replace(job.options, results=results)
    request = replace(job, bundle=Bundle(), programs=programs, options=options)
    layout.write_whole(work / jobs.REQUEST, pickle.dumps(request))
    layout.write_whole(work / jobs.RESERVE, bytes(jobs.RESERVE_BYTES))
    relay = _Relay(job.token, work / jobs.UPDATES, send)
    log = work / "stderr"
    # -P: the files of the scenario must not replace modules.
    argv = [sys.executable, "-P", "-c", _CALL, str(work)]
    with Launcher() as launcher:
        relay.launcher = launcher
        command = Command(argv, env, str(files / job.cwd), stderr=str(log))
        finished = launcher.run(command, relay.poll, RELAY_S)
    relay.pass_on()
    return _result(work, finished, log, stopped=_stops[job.token] > 0)


def _result(work: Path, finished: Finished, log: Path, *, stopped: bool) -> Result:
    if finished.ok and (work / jobs.RESULT).is_file():
        result: Result = pickle.loads((work / jobs.RESULT).read_bytes())  # noqa: S301 -- of the child
        archive = work / jobs.ARCHIVE
        return replace(result, archive=archive.read_bytes() if archive.is_file() else b"")
    if stopped:
        raise Interrupted("interrupted", effect="finished rounds are kept on the host")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    raise MachineError(
        f"the process that measures ended: {finished.how}",
        code="BX263",
        details=(("stderr", "\n".join(lines[-_LINES:])),),
        effect="no record was returned; finished rounds are kept on the host",
        fix="run the same command again: it resumes there",
    )


def _forget(results: Path) -> None:
    """Remove the records that earlier runs returned, and the folders that reserved ids."""
    for record in find_records(results):
        if (record / layout.MANIFEST).is_file():
            shutil.rmtree(record)
    for folder in results.glob("*/*"):
        with contextlib.suppress(OSError):  # it is not empty, or no folder
            folder.rmdir()


@dataclass(slots=True)
class _Relay:
    """Passes updates of the child on to the client, and stop requests of the client to the child."""

    token: str
    path: Path
    send: Send
    launcher: Launcher | None = None
    offset: int = 0
    stops: int = 0

    def poll(self) -> None:
        """Pass on what is new."""
        self.pass_on()
        process = self.launcher.running if self.launcher is not None else None
        # The child handles signals once it has created the file.
        if process is not None and _stops[self.token] > self.stops and self.path.exists():
            self.stops += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)

    def pass_on(self) -> None:
        """Send the complete lines that were added to the file, except for the progress in JSON."""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self.offset)
            text = file.read()
            end = text.rfind(b"\n") + 1
            if end:
                self.offset += end
                lines = text[:end].splitlines()
                for line in lines:
                    if line.startswith(b"{"):
                        _progress[self.token] = (json.loads(line), host.seconds())
                self.send([line for line in lines if not line.startswith(b"{")])
