"""Tests that SIMD instructions, BLAS kernels and libm variants do not change results or reports."""

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bench_framework.model.record.run import Look
from bench_framework.store import lines
from bench_framework.store.records import Record
from tests.unit.report import report_sample
from tests.unit.workflow.measured_record import AT, host, write_exports

ROUNDS = 16
ROOT = Path(__file__).parents[3]
AVX512 = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
HERE = "as it is"
MACHINES: Final[dict[str, dict[str, str]]] = {
    HERE: {},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": AVX512},
    "Zen, without AVX2 and FMA": {
        "OPENBLAS_CORETYPE": "Zen",
        "NPY_DISABLE_CPU_FEATURES": f"X86_V3 AVX2 FMA3 {AVX512}",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
    },
}
"""Environments that make numpy, OpenBLAS and glibc choose the code of another processor. What a processor or a version
of the library does not have is ignored; kernels for AVX-512 cannot be asked for where the processor may lack it."""

SCRIPT = """
import sys
from pathlib import Path
from bench_framework.store.records import Record
from bench_framework.workflow.pages import judge_record, write_pages
from bench_framework.workflow.records.verification import verify_record

copy, others = (Path(argument) for argument in sys.argv[1:])
with Record.open(copy) as record:
    judgement = judge_record(record)
    record.save(judgement)
    write_pages(record, judgement, formats=("html",))
if others != copy:
    print(*verify_record(others.parent, str(others)).differences, sep="\\n", end="")
"""
"""Script that computes results and report of one record and verifies another one."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record without results: two axes with all combinations on one input."""
    whole = report_sample.plan()
    plan = replace(whole, inputs=whole.inputs[:1], cells=whole.cells_of(whole.inputs[0].id))
    root = tmp_path_factory.mktemp("measured") / "results"
    with Record.create(root, plan, "name: demo\n", started_at=AT, benchctl="0.1.0") as record:
        record.prepare(
            at=AT,
            host=host(),
            builds=report_sample.builds(plan),
            inputs=report_sample.prepared(plan),
        )
        input_id = plan.inputs[0].id
        for number, blocks in itertools.groupby(
            report_sample.blocks(plan, ROUNDS), lambda b: b.round
        ):
            for block in blocks:
                record.append(lines.Measured(replace(block, exit_codes=(0,))))
            record.append(lines.RoundEnd(input_id, number, warmup=False, at=AT, elapsed_s=1.0))
        write_exports(record)
        record.append(lines.Looked(Look(input_id, 0, ROUNDS, stopped=True)))
        record.append(lines.End(AT, 2.5))
    return record.path


def judged_on(machine: str, measured: Path, folder: Path, verify: Path | None = None) -> Path:
    """Compute the results of a copy as on another machine, and verify another record there."""
    copy = folder / "results" / "demo" / measured.name
    shutil.copytree(measured, copy)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(copy), str(verify or copy)],
        env={**os.environ, **MACHINES[machine]},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
    return copy


@pytest.fixture(scope="module")
def judged_here(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_on(HERE, measured, tmp_path_factory.mktemp("here"))


@pytest.mark.slow
@pytest.mark.parametrize("machine", [m for m in MACHINES if m != HERE])
def test_a_record_judged_on_one_machine_is_verified_on_another(
    machine: str, measured: Path, judged_here: Path, tmp_path: Path
) -> None:
    there = judged_on(machine, measured, tmp_path, verify=judged_here)
    for path in judged_here.rglob("*"):
        if path.suffix in {".csv", ".json", ".jsonl"} and path.name != "manifest.json":
            assert path.read_bytes() == (there / path.relative_to(judged_here)).read_bytes(), (
                path.name
            )
    assert page(judged_here) == page(there)


def page(record: Path) -> bytes:
    """Return the report without the path of its record."""
    return (record / "report.html").read_bytes().replace(str(record).encode(), b"")
