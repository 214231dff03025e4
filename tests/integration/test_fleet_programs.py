"""Tests of programs that the client builds once for the hosts of a real Dask scheduler."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench_framework.model.record.run import Build
from bench_framework.store.records import Record
from tests.files import write_files
from tests.integration.fleet_machines import (
    ROOT,
    Machine,
    start_scheduler,
    start_worker,
    start_workers,
)
from tests.integration.processes import commit, executable, git

CARGO = ROOT / "tests" / "fakes" / "cargo"
TOOLS = ("git", "sh", "strip")
CRATE = """
version: 1
name: fleet
question: Is the change faster?
worker: {crate: ./, bin: demo, contract: false}
axes: {arm: {base: {args: [arm-base]}, slow: {args: [arm-slow]}}}
command: ["{bin}", "{args}"]
baseline: {arm: base}
measure: {rounds: 6, until: rounds, warmup: 1, seed: 5}
"""
BUILT_THERE = "with programs that the client built"


@dataclass
class Project:
    """A crate of the client with two commits and a change, and a machine with cargo or without."""

    client: Machine
    make: Callable[..., Machine]

    def host(self, name: str, *, cargo: bool) -> Machine:
        return tools(self.make(name), cargo=cargo)

    @property
    def crate(self) -> Path:
        return self.client.path / "crate"

    def run(self, address: str, *words: str, code: int = 0) -> str:
        words = ("run", "crate/demo.yaml", "--scheduler", address, *words)
        return self.client.call(*words, code=code)


def tools(machine: Machine, *, cargo: bool) -> Machine:
    """Give a machine a PATH with few tools, and with the fake cargo if it has cargo."""
    folder = machine.path / "bin"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(str(shutil.which(name)))
    if cargo:
        text = f"#!{sys.executable} -IS\n" + CARGO.read_text().partition("\n")[2]
        executable(folder / "cargo", text)
    machine.env["PATH"] = str(folder)
    return machine


@pytest.fixture
def project(make: Callable[..., Machine]) -> Project:
    project = Project(tools(make("client"), cargo=True), make)
    manifest = '[package]\nname = "demo"\nversion = "0.1.0"\n'
    files = {"Cargo.toml": manifest, "src/main.rs": "// first\n", "demo.yaml": CRATE}
    commit(write_files(project.crate, files), "first")
    commit(project.crate, "second")
    (project.crate / "src" / "main.rs").write_text("// second, with changes\n")
    return project


def builds_of(record: Path) -> tuple[Build, ...]:
    with Record.open(record) as opened:
        return tuple(opened.contents.builds)


def programs_in(machine: Machine) -> set[str]:
    return {path.name for path in machine.path.glob("cache/binaries/*")}


@pytest.mark.release
@pytest.mark.slow
def test_the_client_builds_for_hosts_without_cargo(project: Project) -> None:
    hosts = {f"rack-{n}": project.host(str(n), cargo=False) for n in (7, 8)}
    address = start_scheduler(project.client)
    start_workers(hosts, address)
    text = project.run(address, "--host", "all", "--base", "HEAD~1", code=0)
    first, second = project.client.records
    for record in (first, second):
        assert {(build.revision, build.dirty) for build in builds_of(record)} == {
            (git(project.crate, "rev-parse", "HEAD~1"), False),
            (git(project.crate, "rev-parse", "HEAD"), True),
        }
        for build in builds_of(record):
            assert build.ok
            assert build.cached
            assert build.build_s is None
            assert str(build.path).startswith(str(project.client.path.parent))
            assert build.dependencies is not None
        assert BUILT_THERE in (record / "events.csv").read_text()
        project.client.call("verify", str(record))
    digests = {str(build.sha256) for build in builds_of(first)}
    assert len(digests) == 2
    for machine in (project.client, *hosts.values()):
        assert programs_in(machine) == digests
    for host in hosts.values():
        assert not (host.path / "cache" / "cargo").exists()
        paths = {Path(str(b.path)) for r in (first, second) for b in builds_of(r)}
        assert sum(path.is_relative_to(host.path) for path in paths) == 2
    assert text.count("1/2 demo") == 1
    # A damaged program in the store of a host is replaced.
    for path in hosts["rack-7"].path.glob("cache/binaries/*/demo"):
        path.write_bytes(b"x" * path.stat().st_size)
    text = project.run(address, "--host", "rack-7", "--base", "HEAD~1", code=0)


@pytest.mark.release
@pytest.mark.parametrize(
    ("there", "source", "config", "reason"),
    [
        ({"BENCHCTL_TEST_LIBC": "2.17"}, "", "", ""),
        ({"BENCHCTL_TEST_CPU": "other"}, "", "-Ctarget-cpu=native", "the host builds: its target"),
        ({}, "CRATE", "", "each host builds: demo contains the path of its crate"),
        ({}, "broken", "", "each host builds: demo"),
    ],
)
@pytest.mark.slow
def test_a_host_builds_if_programs_of_the_client_do_not_fit(
    project: Project, there: dict[str, str], source: str, config: str, reason: str
) -> None:
    text = source.replace("CRATE", str(project.crate))
    (project.crate / "src" / "main.rs").write_text(f"// {text}\n")
    if config:
        (project.crate / ".cargo").mkdir()
        (project.crate / ".cargo" / "config.toml").write_text(f"[build]\nrustflags = '{config}'\n")
    host = project.host("host", cargo=True)
    address = start_scheduler(project.client)
    start_worker(host, address, "rack-7", **there)
    text = project.run(address, code=3 if source == "broken" else 0)
    assert reason in text
    if source == "broken":
        assert "error: this source is broken" in text
        return
    assert (host.path / "cache" / "cargo").is_dir()
    assert BUILT_THERE not in (project.client.records[-1] / "events.csv").read_text()
    assert bool(reason) == bool(programs_in(project.client))


@pytest.mark.release
@pytest.mark.slow
def test_programs_for_this_cpu_are_sent_to_hosts_with_the_same_one(project: Project) -> None:
    (project.crate / ".cargo").mkdir()
    text = "[build]\nrustflags = '-Ctarget-cpu=native'\n"
    (project.crate / ".cargo" / "config.toml").write_text(text)
    host = project.host("host", cargo=False)
    address = start_scheduler(project.client)
    start_worker(host, address, "rack-7")
    text = project.run(address, code=0)
    assert BUILT_THERE in (project.client.records[-1] / "events.csv").read_text()


@pytest.mark.release
@pytest.mark.slow
def test_hosts_build_if_the_client_has_no_cargo(project: Project) -> None:
    (project.client.path / "bin" / "cargo").unlink()
    host = project.host("host", cargo=True)
    address = start_scheduler(project.client)
    start_worker(host, address, "rack-7")
    text = project.run(address, code=0)
    assert "each host builds: cargo cannot be started" in text
    assert not programs_in(project.client)
    assert len(programs_in(host)) == 1


@pytest.mark.slow
def test_a_damaged_program_is_an_error(project: Project) -> None:
    host = project.host("host", cargo=True)
    address = start_scheduler(project.client)
    start_worker(host, address, "rack-7", BENCHCTL_TEST_DAMAGE="yes")
    text = project.run(address, code=3)
    assert text.count("error[") == 1
    assert "error[BX264]: the programs arrived damaged: demo has another digest" in text
    assert not project.client.records
    assert not programs_in(host)
