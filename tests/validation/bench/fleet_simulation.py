"""Load of a scheduler with 200 simulated hosts: tasks per second, memory, and the time to gather 2 000 records.

``python tests/validation/bench/fleet_simulation.py [--hosts N] [--runs N]`` prints JSON. The scheduler, the workers and
the client are three processes. The client calls what ``benchctl run --scheduler ADDRESS --host all`` calls, ten
times. Each worker is that of ``benchctl fleet worker``, but its task measures nothing: it sends the progress
and returns the record that one run with the fake hyperfine gave. Reports are not written.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pickle
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import dask

from bench_framework.errors import EXIT_DONE
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.extensions.fleet import client, cluster, host_run, job as jobs
from bench_framework.extensions.fleet.bundle import package
from bench_framework.extensions.fleet.job import Job, JobResult
from bench_framework.store.records import Record
from bench_framework.workflow.run import RunOutcome
from bench_framework.workflow.run_options import RunContext, RunOptions, plan_run
from tests.integration.fleet_machines import Machine, end, machine, start_scheduler

VARIANTS, ROUNDS = 24, 20
ARMS = ", ".join(f"a{number}: {{args: [arm-same, '{number}']}}" for number in range(VARIANTS))
SCENARIO = f"""
version: 1
name: fleet
question: Does a host change an answer?
worker: {{command: [./tool.sh]}}
axes: {{arm: {{{ARMS}}}}}
command: ["{{bin}}", "{{args}}"]
baseline: {{arm: a0}}
measure: {{rounds: {ROUNDS}, until: rounds, warmup: 2, seed: 5}}
"""
CARD = {"kind": "000000000000", "labels": [platform.machine()], "facts": {}, "versions": {}}
START_S = 120.0
"""Time in seconds that all workers have to register."""


def measured(here: Machine) -> tuple[JobResult, list[list[bytes]]]:
    """Measure once as a worker does. Return the result, and the messages with the progress."""
    (here.path / "fleet.yaml").write_text(SCENARIO)
    options = RunOptions(here.path / "results")
    plan = plan_run("fleet.yaml", options)
    with Launcher() as launcher:
        sent = package("fleet.yaml", options, plan, launcher)
    job = Job(
        "first", "client", sent.scenario, sent.cwd, sent.bundle, options, RunContext(pages=False)
    )
    messages: list[list[bytes]] = []
    result = jobs.run_job(job, messages.append)
    assert result.archive, result
    return result, messages


def serve(address: str, hosts: int, folder: Path) -> None:
    """Run workers of all hosts, which return what `folder` contains, until this process is killed."""
    dask.config.set(cluster._QUIET)
    result, messages = pickle.loads((folder / "measured").read_bytes())

    def run_job(job: Job, send: jobs.Send) -> JobResult:
        given: JobResult = result
        if job.options.fresh:  # marks the series without records
            send([])
            return replace(given, archive=b"")
        for message in messages:
            send(message)
        return given

    async def start() -> None:
        jobs.run_job = run_job
        for number in range(hosts):
            name = f"host-{number:04}"
            await cluster.worker_of(address, name, folder / name, CARD)
        await asyncio.Event().wait()

    asyncio.run(start())


def status(process: int) -> dict[str, float]:
    """Return the memory in MiB and the CPU time in seconds of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    values = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    rss, peak = (int(values[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return {"rss_mib": round(rss, 1), "peak_mib": round(peak, 1), "cpu_s": round(cpu, 1)}


@contextlib.contextmanager
def storing(times: list[float]) -> Iterator[None]:
    """Store records, which all have one id, in a folder per host, and do not report them."""
    store = host_run._store

    def timed(archive: bytes, host: str, scenario: str, results: Path, _: object) -> Path:
        begin = time.perf_counter()
        path = store(archive, host, scenario, results / host, lambda _: None)
        times.append(time.perf_counter() - begin)
        return path

    def unreported(record: Record, _: RunOptions, *, pages: bool) -> RunOutcome:
        return RunOutcome(record.path, None, None, (), None, EXIT_DONE)

    with (
        mock.patch.object(host_run, "_store", timed),
        mock.patch.object(host_run, "finish_record", unreported),
    ):
        yield


def gather(fleet: client.Fleet, runs: int, hosts: int, options: RunOptions) -> float:
    """Run on all hosts until there are `runs` results. Return the time in seconds."""
    total, silent = 0.0, SilentObserver()
    for _ in range(runs // hosts):
        begin = time.perf_counter()
        outcomes = fleet.run_on_hosts("fleet.yaml", options, silent, lambda _: silent)
        total += time.perf_counter() - begin
        failed = [outcome.error for outcome in outcomes if outcome.error is not None]
        assert len(outcomes) == hosts, len(outcomes)
        assert not failed, failed[0]
        if not options.fresh:
            assert len(list(options.results.glob("*/fleet/*/manifest.json"))) == hosts
        shutil.rmtree(options.results, ignore_errors=True)
    return total


def wait_for_hosts(address: str, hosts: int, workers: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until all workers are registered."""
    deadline = time.monotonic() + START_S
    with cluster.connected(address) as connection:
        while len(connection._places()) < hosts:
            assert workers.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the workers did not register"
            time.sleep(0.5)


def main(given: argparse.Namespace) -> dict[str, Any]:
    """Simulate, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        here = machine(Path(folder) / "client")
        here.env["DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL"] = "1s"
        os.environ |= here.env
        os.chdir(here.path)
        result, messages = measured(here)
        (here.path / "measured").write_bytes(pickle.dumps((result, messages)))
        try:
            address = start_scheduler(here)
            scheduler = here.running[0].pid
            words = (address, str(given.hosts), str(here.path))
            argv = [sys.executable, str(Path(__file__).absolute()), "--serve", *words]
            workers = here.start(argv, "workers.log")
            wait_for_hosts(address, given.hosts, workers, here.path / "workers.log")
            before = status(scheduler)
            options = RunOptions(here.path / "gathered", fresh=True)
            fleet, times = client.Fleet(address, "all"), list[float]()
            with storing(times):
                empty = gather(fleet, given.runs, given.hosts, options)
                after_tasks = status(scheduler)
                records = gather(fleet, given.runs, given.hosts, replace(options, fresh=False))
            return {
                "hosts": given.hosts,
                "runs": given.runs,
                "record_kib": round(len(result.archive) / 1024),
                "samples_per_record": (VARIANTS + 1) * (ROUNDS + 2),
                "progress_messages": len(messages),
                "progress_kib": round(
                    sum(len(line) for lines in messages for line in lines) / 1024
                ),
                "tasks_per_s": round(given.runs / empty, 1),
                "gather_s": round(records, 1),
                "of_that_storing_s": round(sum(times), 1),
                "scheduler_idle": before,
                "scheduler_after_tasks": after_tasks,
                "scheduler_after_records": status(scheduler),
                "client_peak_mib": round(
                    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1
                ),
                "workers_rss_mib": status(workers.pid)["rss_mib"],
                "load": os.getloadavg()[0],
            }
        finally:
            end([here])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--runs", type=int, default=2000)
    print(json.dumps(main(parser.parse_args()), indent=1))
