"""Headers of programs, and the ids of builds with a preloaded allocator."""

import struct
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from bench_framework.execution.build.symbols import requested
from bench_framework.execution.machine.programs import loader_of
from bench_framework.execution.target import target_of
from bench_framework.model.plan.build_spec import BuildSpec, stable_id
from bench_framework.model.plan.command_build import CommandBuild
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.record.run import Build, Preload

SPEC = BuildSpec("builtin", "tally", features=("simd",))
CELL = Cell("c", "v", "i", "label", Role.CANDIDATE, (("run",),), (("LD_PRELOAD", "b.so"),))


def elf(loader: bytes | None) -> bytes:
    """Return the head of an ELF program with one segment, which is the loader's path if given."""
    head = b"\x7fELF\x02\x01\x01".ljust(32, b"\0") + struct.pack("<Q", 64)
    head = head.ljust(54, b"\0") + struct.pack("<HH", 56, 1)
    path = (loader or b"") + b"\0"
    segment = struct.pack("<IIQQQQQQ", 3 if loader else 1, 4, 120, 0, 0, len(path), len(path), 1)
    return head.ljust(64, b"\0") + segment + path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (elf(b"/lib64/ld-linux-x86-64.so.2"), "/lib64/ld-linux-x86-64.so.2"),
        (elf(b"/lib/ld-musl-x86_64.so.1"), "/lib/ld-musl-x86_64.so.1"),
        (elf(None), ""),
        (elf(None)[:54] + struct.pack("<HH", 8, 7) + elf(None)[58:], ""),  # too short headers
        (elf(None)[:54] + struct.pack("<HH", 0, 0) + elf(None)[58:], ""),  # an object file
        (b"#!/bin/sh\n", None),
        (b"\x7fELF\x02", None),
        (b"", None),
    ],
)
def test_the_loader_of_a_program_is_read(
    tmp_path: Path, content: bytes, expected: str | None
) -> None:
    (tmp_path / "prog").write_bytes(content)
    assert loader_of(tmp_path / "prog") == expected


def test_each_field_of_a_build_changes_its_id() -> None:
    # The ids of cargo's builds are those from before other commands could build.
    assert SPEC.id == stable_id("build", *astuple(SPEC)[:-2])
    built = replace(SPEC, by_commands=CommandBuild((("make",),)))
    assert built.id != SPEC.id
    assert built.id != replace(SPEC, by_commands=CommandBuild((("make", "-j2"),))).id
    assert replace(SPEC, bench=True).id not in (SPEC.id, replace(SPEC, bin="bench").id)
    preloaded = replace(SPEC, preload="jemalloc")
    assert preloaded.id != SPEC.id
    assert preloaded.program == SPEC


def test_the_library_is_preloaded_before_those_of_the_scenario() -> None:
    build = Build("b", ok=True, path="/prog", preload=Preload("a.so", "/a.so", "0" * 64))
    assert target_of(CELL, build, None, {}).env["LD_PRELOAD"] == "/a.so:b.so"
    assert target_of(CELL, replace(build, preload=None), None, {}).env["LD_PRELOAD"] == "b.so"


def test_the_last_linker_in_the_flags_is_the_requested_one() -> None:
    assert requested(()) == ""
    assert requested(("-Copt-level=3", "-Clink-arg=-fuse-ld=bfd", "link-arg=-fuse-ld=mold")) == (
        "mold"
    )
