"""A small synthetic record: three variants on one input, with random times."""

import csv
import io
import json
import math
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell, Dataset, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.model.record import run
from bench_framework.model.record.sensors import PageCache, Sensors
from bench_framework.store import layout, lines
from bench_framework.store.records import Record
from tests.build import make_plan

AT = "2026-03-02T17:04:09.123Z"
ROUNDS = 12
SPEEDS = {"plain": 1.0, "fast": 0.9, "slow": 1.12}
TEXT = Input("1MiB", (("size", "1MiB"),), Dataset("generated", "prose", 1 << 20, 42))
SPECS = {
    name: BuildSpec("builtin", "tally", features=() if name == "plain" else (name,))
    for name in SPEEDS
}
VARIANTS = {
    name: Variant(name, (("way", name),), SPECS[name], describe=f"the {name} one")
    for name in SPEEDS
}


def made_plan() -> Plan:
    roles = dict.fromkeys(SPEEDS, Role.CANDIDATE) | {"plain": Role.BASELINE}
    cells = [
        Cell(
            f"{n}{'a' * 11}", VARIANTS[name].id, TEXT.id, f"{name}, 1MiB", role, ((BIN,), ("run",))
        )
        for n, (name, role) in enumerate(roles.items())
    ]
    return make_plan(
        tuple(VARIANTS.values()),
        (TEXT,),
        (*cells, replace(cells[0], id="c" * 12, label="control", role=Role.CONTROL)),
        name="demo",
        question="Which way is fastest?",
        scenario_path="demo.yaml",
        scenario_sha256="5" * 64,
        axes=(
            Axis("way", "build", tuple(AxisValue(n, n) for n in SPEEDS)),
            Axis("size", "input", (AxisValue("1MiB", "1 MiB", size_bytes=1 << 20),)),
        ),
        answer=AnswerPolicy(contract=True),
        measure=MeasurePolicy(ROUNDS, ROUNDS, until="rounds"),
    )


def made_block(
    chance: random.Random, seq: int, number: int, position: int, cell: Cell
) -> run.Block:
    name = cell.label.partition(",")[0]
    wall = 0.05 * SPEEDS.get(name, 1.0) * math.exp(chance.gauss(0, 0.01))
    receipt = run.Receipt(
        {"way": name if name in SPEEDS else "plain"},
        2,
        {"count": wall / 2},
        1 << 20,
        {
            "peak_rss": 4 << 20,
            "minor_faults": 120,
            "major_faults": 1,
            "ctx_vol": 7,
            "ctx_invol": 3,
            "read_bytes": 4096,
            "write_bytes": 8192,
        },
        {"records": 1234.0},
        ("read ahead",),
    )
    return run.Block(
        seq,
        number,
        position,
        cell.id,
        warmup=number == 0,
        status="ok",
        started_at=AT,
        wall_s=(wall, wall * 1.01),
        user_s=wall * 0.8,
        sys_s=wall * 0.1,
        peak_rss_bytes=(4 << 20) + seq % 5,
        peak_rss_source="worker",
        exit_codes=(0, 0),
        answer=run.Answer("9f2c" * 16, 120, 30),
        receipts=(receipt, receipt),
        sensors=Sensors(4, 10, 20, 0.5, 1 << 30, 2900.0, 300, 1, 2, 0, 1 << 20, 200_000, 3_000),
        page_cache=PageCache("warm", 1.0, why=""),
    )


def host() -> run.Host:
    return run.Host(
        host_id="f" * 12,
        boot_id="b1",
        cpu="CPU",
        cores=2,
        ram_bytes=1 << 30,
        kernel="6.1",
        os="Linux",
        governor=None,
        virtualised=None,
        results_filesystem="ext4",
        data_filesystem="ext4",
        hyperfine="hyperfine 1.20.0",
        rustc="rustc 1.95.0",
        cargo=None,
        python="3.11",
        benchctl="0.1.0",
    )


def measured(root: Path) -> Record:
    plan, chance = made_plan(), random.Random(5)
    record = Record.create(root, plan, "name: demo\n", started_at=AT, benchctl="0.1.0")
    description = {
        "name": "tally",
        "version": "0.1.0",
        "metrics": [{"name": "records", "unit": "count"}],
    }
    builds = tuple(
        run.Build(
            s.id,
            ok=True,
            sha256=f"{n}" * 64,
            path=f"/b/{n}",
            size_bytes=100 + n,
            build_s=41.5,
            describe=description,
            revision="9" * 40,
            dirty=False,
            rustc="1.95",
        )
        for n, s in enumerate(SPECS.values())
    )
    inputs = (
        run.PreparedInput(TEXT.id, "/data/x", 1 << 20, "7" * 64, "prose", 42, filesystem="ext4"),
    )
    record.prepare(at=AT, host=host(), builds=builds, inputs=inputs)
    members, seq = list(plan.cells), 0
    for number in range(1, ROUNDS + 1):
        chance.shuffle(members)
        for position, cell in enumerate(members):
            record.append(lines.Measured(made_block(chance, seq, number, position, cell)))
            seq += 1
        record.append(lines.RoundEnd(TEXT.id, number, warmup=False, at=AT, elapsed_s=float(number)))
    write_exports(record)
    record.append(lines.Looked(run.Look(TEXT.id, 0, ROUNDS, stopped=True)))
    record.append(lines.End(AT, 2.5))
    return record


def copied(record: Path, folder: Path) -> Path:
    """Return a copy of a record below a folder."""
    copy = folder / "results" / "demo" / record.name
    shutil.copytree(record, copy)
    return copy


def copy_record(record: Path, folder: Path) -> Path:
    """Copy a record into a folder. Its id becomes the name of the folder, and its start follows."""
    shutil.copytree(record, folder)
    path, name = folder / layout.JOURNAL, folder.name
    text = path.read_text(encoding="utf-8").replace(record.name, name, 1)
    started = f"{name[:4]}-{name[4:6]}-{name[6:8]}T{name[9:11]}:{name[11:13]}:09.123Z"
    path.write_text(text.replace(AT, started, 1), encoding="utf-8")
    return folder


def write_exports(record: Record) -> None:
    """Write the output of hyperfine that belongs to the blocks of a record."""
    exports = []
    for block in record.contents.blocks:
        result = {
            "command": "x",
            "times": block.wall_s,
            "user": block.user_s,
            "system": block.sys_s,
            "exit_codes": block.exit_codes,
            "memory_usage_byte": [block.peak_rss_bytes] * len(block.wall_s)
            if block.peak_rss_source == "hyperfine"
            else [],
        }
        exports.append(
            json.dumps({"seq": block.seq, "export": {"results": [result]}}, separators=(",", ":"))
        )
    record.raw.hyperfine.write_text("\n".join(exports) + "\n", encoding="utf-8")


def table(path: Path) -> list[list[str]]:
    return list(
        csv.reader(io.StringIO((path / "runs.csv").read_text(encoding="utf-8"), newline=""))
    )


def written(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def altered(text: str) -> str:
    """Change one digit of a text: the first that is not a leading zero, or one letter if it has no digit."""
    match = re.search(r"[1-9]", text) or re.search(r"\d", text)
    if match is None:
        return text[:-1] + ("x" if text[-1:] != "x" else "y") if text else "7"
    return text[: match.start()] + str((int(match[0]) + 3) % 10) + text[match.end() :]
