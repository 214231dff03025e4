"""Import benchctl and render a page once, and fork for each call of it: both take longer than most calls.

The argument is the number of a socket. Each message on it is a call: JSON with `argv`, `env` and `cwd`, and the
descriptors of stdin, stdout, stderr and a socket. The server writes the number of the process and, at its end, the exit
code to that socket. The process returns from `serve`, and runs and ends like one of a new interpreter.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import bench_framework
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import Host
from bench_framework.scenario.load import load
from bench_framework.store import wire
from bench_framework.store.judged import Judged
from bench_framework.workflow.records.embedded_runs import publish

LARGEST_MESSAGE = 1 << 20
EXAMPLE = Path(__file__).parents[2] / "results" / "examples" / "nvme"
SCENARIO = Path(__file__).parents[2] / "scenarios" / "quickstart.yaml"
ALSO = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg")
"""Modules that benchctl, or a library that it uses, imports inside functions."""


def import_everything() -> None:
    """Import all modules of benchctl, except those that need an optional dependency."""
    modules = pkgutil.walk_packages(bench_framework.__path__, f"{bench_framework.__name__}.")
    for name in [*ALSO, *(module.name for module in modules)]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    render_an_example()
    # What reads a scenario, and reads and writes the files of a record, is created when it is needed first.
    load(SCENARIO)
    for kind in (*get_args(wire._KINDS), wire._TAGGED, Judged, Plan, Host, Profile):
        wire.adapter(kind)
    gc.collect()
    gc.freeze()  # so that no process copies the memory of these modules when it collects garbage


def render_an_example() -> None:
    """Judge a record and write its pages, so that templates and readers of documents are compiled once."""
    with tempfile.TemporaryDirectory() as folder:
        publish(EXAMPLE / "report.html", Path(folder), None)


@dataclass
class Server:
    """The socket with the calls, and the running processes with the sockets for their exit codes."""

    control: socket.socket
    running: dict[int, tuple[int, socket.socket]] = field(default_factory=dict)

    def serve(self) -> None:
        """Start a process for each call, and return in each of these processes."""
        while True:
            calls = self.control.fileno()
            for ready in select.select([calls, *self.running], [], [])[0]:
                if ready != calls:
                    self.report(ready)
                elif self.start():
                    return

    def report(self, handle: int) -> None:
        """Write the exit code of a process that has ended."""
        process, answers = self.running.pop(handle)
        os.close(handle)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with answers:
            try:
                answers.sendall(f"{code}\n".encode())
            except BrokenPipeError:
                return  # the test has ended

    def start(self) -> bool:
        """Fork for the next call. Return whether this is the new process."""
        message, descriptors, _, _ = socket.recv_fds(self.control, LARGEST_MESSAGE, 4)
        if not message:
            sys.exit()  # the tests have ended
        *streams, answer = descriptors
        answers = socket.socket(fileno=answer)
        if process := os.fork():
            answers.sendall(f"{process}\n".encode())
            self.running[os.pidfd_open(process)] = process, answers
        else:
            for number, descriptor in enumerate(streams):
                os.dup2(descriptor, number)
            for opened in (self.control, answers, *(other for _, other in self.running.values())):
                opened.close()
            for handle in self.running:
                os.close(handle)
        for descriptor in streams:
            os.close(descriptor)
        if not process:
            call = json.loads(message)
            os.chdir(call["cwd"])
            os.environ.clear()
            os.environ.update(call["env"])
            sys.argv = call["argv"]
        return not process


if __name__ == "__main__":
    import_everything()
    Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    runpy.run_path(sys.argv[0], run_name="__main__")
