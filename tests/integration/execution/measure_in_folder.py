"""Measure a plan in a folder, or resume its record. test_kill.py kills this process.

Usage: ``python measure_in_folder.py FOLDER``, with the plan in ``FOLDER/plan.json``.
"""

import sys
from pathlib import Path

from bench_framework.execution import hyperfine, rounds
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.execution.stop import Driver, Stop
from bench_framework.model.record.run import Build
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store import wire
from bench_framework.store.records import Record
from bench_framework.store.resuming import find_resumable


def main() -> None:
    folder = Path(sys.argv[1])
    plan = wire.load_plan((folder / "plan.json").read_bytes())
    build = Build("program", ok=True, sha256="0" * 64, path="/bin/sleep")
    env = host.environment()
    with Launcher() as launcher:
        tool = hyperfine.find(launcher, env, SilentObserver())
        facts = host.facts(launcher, hyperfine=tool.name, results=folder, data=folder)
        record = find_resumable(folder / "results", plan) or Record.create(
            folder / "results", plan, "x", started_at=host.utc_now(), benchctl="0.1.0"
        )
        with record:
            record.prepare(at=host.utc_now(), host=facts, builds=[build], inputs=[])
            (folder / "launcher.pid").write_text(str(launcher.pid))
            driver = Driver(launcher, env, SilentObserver(), Stop(launcher))
            rounds.measure(record, driver, tool, lambda *_: LookOutcome(stop=False))
    (folder / "done").touch()


if __name__ == "__main__":
    main()
