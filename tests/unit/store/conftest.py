"""A small record written by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declarations import Axis, AxisValue, Experiment, Note
from bench_framework.model.plan.plan import Cell, Dataset, Hole, Input, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.model.reasons import message
from bench_framework.model.record.run import (
    Answer,
    Block,
    Build,
    Observation,
    PreparedInput,
    Receipt,
)
from bench_framework.model.record.sensors import PageCache, Sensors
from bench_framework.store import lines
from bench_framework.store.records import Record
from tests.build import make_plan
from tests.unit.workflow import measured_record

SPEC = BuildSpec("builtin", "tally", features=("jemalloc",), profile_keys=(("lto", "fat"),))
PLAIN = BuildSpec("builtin", "tally", rustflags=("-C", "target-cpu=native"))
BASE = Variant("system", (("allocator", "system"),), PLAIN)
OTHER = Variant("jemalloc, “fat”", (("allocator", "jemalloc"),), SPEC, experiment="try")
SMALL = Input("1MiB", (("size", "1MiB"),), Dataset("generated", "prose", 1 << 20, 42))
AT = "2026-03-02T17:04:09.123Z"


def cell(key: str, variant: Variant, role: Role) -> Cell:
    return Cell(
        key,
        variant.id,
        SMALL.id,
        variant.label,
        role,
        ((BIN,), ("run",)),
        env=(("B", "2"), ("A", "1")),
    )


PLAN = make_plan(
    (BASE, OTHER),
    (SMALL,),
    (
        cell("a" * 12, BASE, Role.BASELINE),
        cell("b" * 12, OTHER, Role.CANDIDATE),
        replace(cell("c" * 12, BASE, Role.CONTROL), label="control"),
    ),
    name="demo",
    question="Which?",
    scenario_path="/elsewhere/demo.yaml",
    scenario_sha256="5" * 64,
    axes=(
        Axis(
            "allocator", "build", (AxisValue("system", "System"), AxisValue("jemalloc", "jemalloc"))
        ),
        Axis("size", "input", (AxisValue("1MiB", "1 MiB", size_bytes=1 << 20),)),
    ),
    holes=(Hole((("allocator", "x"),), message("not here"), "demo.yaml:4"),),
    experiments=(Experiment("try", OTHER.id, (("allocator", "jemalloc"),)),),
    answer=AnswerPolicy(contract=True),
    measure=MeasurePolicy(3, 3),
    notes=(Note("n", "größe"),),
)


HOST = measured_record.host()
DESCRIBE = {
    "name": "tally",
    "version": "0.1.0",
    "allocator": {"name": "jemalloc", "version": "5.3"},
    "metrics": [
        {"name": "wait", "unit": "s", "about": "waiting"},
        {"name": "calls", "unit": "count"},
    ],
}
BUILDS = (
    Build(
        PLAIN.id,
        ok=True,
        sha256="1" * 64,
        path="/b/1",
        size_bytes=100,
        revision="9" * 40,
        dirty=True,
    ),
    Build(
        SPEC.id,
        ok=True,
        sha256="2" * 64,
        path="/b/2",
        size_bytes=200,
        build_s=41.5,
        describe=DESCRIBE,
    ),
)


PREPARED = (PreparedInput(SMALL.id, "/data/x", 1 << 20, "7" * 64, "prose", 42),)


def block(
    seq: int, cell_id: str, number: int = 1, *, warmup: bool = False, **fields: object
) -> Block:
    """Return a successful sample of a configuration. Keywords replace its fields."""
    receipt = Receipt(
        {"allocator": "jemalloc"}, 2, {"count": 0.25}, metrics={"wait": 0.5, "calls": 3.0}
    )
    sample = Block(
        seq,
        number,
        seq % 3,
        cell_id,
        warmup,
        "ok",
        AT,
        (0.1, 0.30000000000000004),
        0.08,
        0.02,
        4096,
        "worker",
        (0, 0),
        answer=Answer("d", 1),
        receipts=(receipt, receipt),
        sensors=Sensors(4, 10, None, 0.5, 1 << 20, None, 300_000, 1, 2, 0, 1 << 20, 200_000, 3_000),
        page_cache=PageCache("cold", 0.0, 0.75),
    )
    return replace(sample, **fields)  # type: ignore[arg-type]  # the test's fields


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Return a record that is prepared and has no samples yet."""
    created = Record.create(
        tmp_path / "results", PLAN, "name: demo\n", started_at=AT, benchctl="0.1.0"
    )
    created.prepare(at=AT, host=HOST, builds=BUILDS, inputs=PREPARED)
    return created


@pytest.fixture
def measured(record: Record) -> Record:
    """Return a record with one warm-up round and one measured round."""
    for seq, (key, warmup) in enumerate((key, warm) for warm in (True, False) for key in "abc"):
        runs = (0.1,) if warmup else (0.1, 0.30000000000000004)
        record.append(
            lines.Measured(
                block(seq, key * 12, warmup=warmup, wall_s=runs, exit_codes=(0,) * len(runs))
            )
        )
        if key == "c":
            record.append(lines.RoundEnd(SMALL.id, 1, warmup, AT, 1.5))
    record.append(lines.End(AT, 2.5))
    counts = {"minor_faults": 90.0, "major_faults": 0.0, "ctx_vol": 1.0, "ctx_invol": 2.0}
    counts |= {"read_bytes": 0.0, "write_bytes": 4096.0}
    for run, (kind, values) in enumerate(
        (("observed", counts), ("instructions", {"instructions": 7.0})), 1
    ):
        record.append(lines.Counted(Observation("a" * 12, kind, run, AT, "a tool", values=values)))  # type: ignore[arg-type]  # one of two
    return record
