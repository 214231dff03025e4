"""A scheduler and hosts of a fleet on this machine, with the fake hyperfine."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_framework.store.finding import find_records
from tests.integration import processes

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
ROUNDS = 14

SITE = """
import os
from pathlib import Path

if version := os.environ.get("BENCHCTL_TEST_VERSION"):
    from bench_framework import version as versions
    versions.__version__ = version
if cpu := os.environ.get("BENCHCTL_TEST_CPU"):
    from bench_framework.execution.machine import host
    host.cpu_model = lambda *_: cpu  # so this is a host of another kind
if libc := os.environ.get("BENCHCTL_TEST_LIBC"):
    import platform
    platform.libc_ver = lambda *_, **__: ("glibc", libc)
if os.environ.get("BENCHCTL_TEST_DAMAGE"):
    from dataclasses import replace
    from bench_framework.extensions.fleet import job
    unpack = job.unpack
    def damaged(bundle, root):
        if root.name == "programs":
            for name, entry in bundle.files.items():
                bundle.files[name] = replace(entry, content=entry.content + b"x")
        unpack(bundle, root)
    job.unpack = damaged
if folder := os.environ.get("BENCHCTL_TEST_LOCK"):
    # Nothing is timed here, so the lock of the machine is not needed.
    from bench_framework.execution.machine import host, lock, sensors
    host.MACHINE_ID = Path(folder, "machine-id")
    sensors._FILES.clear()  # the load of this machine differs between runs
    lock.FOLDERS = (Path(folder),)
"""
CALL = """
import sys
from bench_framework.__main__ import main
if name := __import__("os").environ.get("BENCHCTL_TEST_SHORT"):
    from bench_framework.extensions.fleet import cluster
    setattr(cluster, name, 1.0)
sys.exit(main())
"""
SCENARIO = f"""
version: 1
name: fleet
question: Does a host change an answer?
worker: {{command: [./tool.sh]}}
axes: {{arm: [base, same, slow, other]}}
command: ["{{bin}}", "arm-{{arm}}"]
baseline: {{arm: base}}
measure: {{rounds: {ROUNDS}, until: rounds, warmup: 1, seed: 5}}
"""
RULES: list[dict[str, object]] = [
    {"match": "arm-base", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-same", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-slow", "wall_s": 0.06, "stdout": "42\n"},
    {"match": "arm-other", "stdout": "43\n"},
]
ONE_HAS_OTHER_OUTPUT = 3


@dataclass
class Machine:
    """A machine of a test: its environment, and the processes that it runs."""

    path: Path
    env: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    prefix: Sequence[str] = ()
    """A command that starts another one, such as in a namespace."""

    def start(self, argv: Sequence[str], log: str, **more: str) -> subprocess.Popen[bytes]:
        with (self.path / log).open("wb") as output:
            process = subprocess.Popen(
                [*self.prefix, *argv],
                env={**self.env, **more},
                cwd=self.path,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def benchctl(self, log: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        return self.start([sys.executable, "-c", CALL, *words], log, **more)

    def call(self, *words: str, code: int = 0, **more: str) -> str:
        """Return what a call of benchctl prints, and check its exit code."""
        ended = self.benchctl("call.log", *words, **more).wait(PATIENCE_S)
        text = self.text("call.log")
        assert ended == code, text
        assert "Traceback" not in text
        return text

    def text(self, log: str) -> str:
        return (self.path / log).read_text(errors="replace")

    @property
    def records(self) -> list[Path]:
        return find_records(self.path / "results")

    def journal(self) -> str:
        """Return the journal that a client's run has on this host."""
        paths = sorted(self.path.glob("cache/fleet/*/results/fleet/*/journal.jsonl"))
        try:
            return paths[-1].read_text() if paths else ""
        except FileNotFoundError:  # the draft of a new record has just got its name
            return ""

    def rounds(self) -> int:
        return self.journal().count('"kind":"round-end"')

    def wait_for_end(self) -> None:
        """Wait until no process of this machine runs."""
        mark = f"BENCHCTL_TEST_LOCK={self.path}\0".encode()

        def has_mark(process: Path) -> bool:
            with contextlib.suppress(OSError):  # it has ended
                return mark in (process / "environ").read_bytes()
            return False

        processes.wait_for(
            lambda: not any(map(has_mark, Path("/proc").glob("[0-9]*"))), patience_s=PATIENCE_S
        )


def machine(
    path: Path, sleep_s: float = 0.0, rules: Sequence[Mapping[str, object]] = RULES
) -> Machine:
    path.mkdir()
    (path / "site").mkdir()
    (path / "site" / "sitecustomize.py").write_text(SITE)
    commands = [{**rule, "sleep_s": sleep_s} for rule in rules]
    processes.fake_hyperfine(path, commands, clock="rounds")
    (path / "fleet.yaml").write_text(SCENARIO)
    processes.executable(path / "tool.sh", "#!/bin/sh\n")
    (path / "machine-id").write_text(path.name)
    return Machine(
        path,
        {
            **{name: text for name, text in os.environ.items() if not name.startswith("DASK_")},
            "PYTHONPATH": f"{path / 'site'}:{ROOT}",
            "BENCHCTL_CACHE": str(path / "cache"),
            "BENCHCTL_HYPERFINE": str(path / "hyperfine"),
            "BENCHCTL_FAKE_SCRIPT": str(path / "script.json"),
            "BENCHCTL_TEST_LOCK": str(path),
        },
    )


def end(machines: Sequence[Machine]) -> None:
    for process in [process for item in machines for process in item.running]:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_for(condition: Callable[[], Any], process: subprocess.Popen[bytes], log: Path) -> None:
    processes.wait_for(condition, process, log=log.read_text, patience_s=PATIENCE_S)


def start_scheduler(on: Machine, *words: str, interface: str = "127.0.0.1") -> str:
    """Start a scheduler on a free port of an address of the machine. Return its address."""
    file = on.path / "scheduler.json"
    argv = [sys.executable, "-m", "dask", "scheduler", "--host", interface]
    argv += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file), *words]
    process = on.start(argv, "scheduler.log")
    address: list[str] = []

    def written() -> bool:
        with contextlib.suppress(OSError, ValueError):
            address.append(json.loads(file.read_text())["address"])
        return bool(address)

    wait_for(written, process, on.path / "scheduler.log")
    return address[0]


def start_worker(
    on: Machine, address: str, name: str, *, label: str = "", **more: str
) -> subprocess.Popen[bytes]:
    log = f"worker-{name}.log"
    labels = ("--label", label) if label else ()
    process = on.benchctl(log, "fleet", "worker", address, "--name", name, *labels, **more)
    wait_until_ready(on, name, process)
    return process


def wait_until_ready(on: Machine, name: str, worker: subprocess.Popen[bytes]) -> None:
    log = f"worker-{name}.log"
    wait_for(lambda: "is ready" in on.text(log), worker, on.path / log)


def start_workers(hosts: Mapping[str, Machine], address: str) -> dict[str, subprocess.Popen[bytes]]:
    """Start a worker on each host, by the names of the hosts."""
    started = {
        name: host.benchctl(f"worker-{name}.log", "fleet", "worker", address, "--name", name)
        for name, host in hosts.items()
    }
    for name, host in hosts.items():
        wait_until_ready(host, name, started[name])
    return started


def results(record: Path) -> Mapping[str, Any]:
    """Return all results, without what differs between records and machines."""
    claims = json.loads((record / "claims.json").read_text().replace(record.name, "RECORD"))
    judged = claims["judgement"]
    judged["summaries"] = [s for s in judged["summaries"] if s["n_rounds"]]
    judged["events"] = [event for event in judged["events"] if event["code"] != "BX344"]
    table = (record / "comparisons.csv").read_text().replace(record.name, "RECORD")
    return {"claims": claims, "comparisons": table}


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def authority(folder: Path) -> dict[str, str]:
    """Create a certificate authority with one certificate. Return its settings for Dask."""
    folder.mkdir()
    key = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl(folder, "req", "-x509", *key, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, "req", *key[:3], "-subj", "/CN=host", "-keyout", "key.pem", "-out", "host.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    openssl(folder, "x509", "-req", "-in", "host.csr", *signed, "-out", "cert.pem")
    name = "DASK_DISTRIBUTED__COMM__TLS__"
    settings = {f"{name}CA_FILE": str(folder / "ca.pem")}
    for role in ("CLIENT", "WORKER", "SCHEDULER"):
        settings[f"{name}{role}__CERT"] = str(folder / "cert.pem")
        settings[f"{name}{role}__KEY"] = str(folder / "key.pem")
    return settings
