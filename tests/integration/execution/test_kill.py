"""kill -9 at random moments: no process remains, no row is duplicate, and the record resumes."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.store import wire
from bench_framework.store.finding import find_records
from bench_framework.store.records import Record
from tests.integration.execution.conftest import plan_of
from tests.integration.processes import wait_for

pytestmark = pytest.mark.real

DRIVER = Path(__file__).with_name("measure_in_folder.py")
ROOT = Path(__file__).parents[3]
KILLS = 10
PATIENCE_S = 60.0


def start(folder: Path) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(DRIVER), str(folder)], env=env, start_new_session=True
    )


def marked(mark: str) -> list[int]:
    """Return the processes with a mark in their command line: the program and hyperfine."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            stat = path.with_name("stat").read_text().rpartition(")")[2].split()[0]
            if (
                mark.encode() in path.read_bytes()
                and stat != "Z"
                and int(path.parent.name) != os.getpid()
            ):
                pids.append(int(path.parent.name))
        except OSError:
            continue
    return pids


def launcher_is_gone(folder: Path) -> bool:
    pid = (folder / "launcher.pid").read_text()
    try:
        return "launcher.py" not in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return True


@pytest.fixture(scope="module")
def fetched() -> None:
    """Install hyperfine before any time limit starts: cargo builds it for a minute or two."""
    with Launcher() as launcher:
        hyperfine.find(launcher, host.environment(), SilentObserver())


@pytest.fixture
def folder(fetched: None, tmp_path: Path) -> Path:
    seconds = f"0.0{os.getpid()}1"  # marks the processes of this test
    arms = {"a": ["/bin/sleep", seconds], "b": ["/bin/sleep", seconds + "2"]}
    plan = plan_of(arms, measure=MeasurePolicy(rounds_min=30, rounds_max=30))
    (tmp_path / "plan.json").write_text(wire.dump_plan(plan))
    return tmp_path


@pytest.mark.slow
def test_ten_kills_leave_no_process_and_lose_no_row(folder: Path) -> None:
    random_moment = random.Random(1)
    mark = f"0.0{os.getpid()}1"
    rows_before = 0
    for _ in range(KILLS):
        (folder / "launcher.pid").unlink(missing_ok=True)
        process = start(folder)
        wait_for((folder / "launcher.pid").exists)
        time.sleep(random_moment.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: launcher_is_gone(folder))
        wait_for(lambda: not marked(mark), log=lambda: str(marked(mark)))
        [path] = find_records(folder / "results")
        rows = len(Record.open(path).contents.blocks)
        assert rows >= rows_before  # journaled rows are kept
        rows_before = rows
    assert start(folder).wait(PATIENCE_S) == 0
    record = Record.open(find_records(folder / "results")[0])
    check_whole(record)
    assert record.contents.starts >= 2


def test_sigkill_in_the_middle_of_a_block_kills_hyperfine_and_the_program(folder: Path) -> None:
    text = (folder / "plan.json").read_text().replace(f"0.0{os.getpid()}1", f"30.{os.getpid()}")
    (folder / "plan.json").write_text(text)
    mark = f"30.{os.getpid()}"
    process = start(folder)
    wait_for(lambda: len(marked(mark)) >= 2)  # hyperfine and sleep
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Less than the 30 s after which the program would end by itself.
    wait_for(lambda: not marked(mark), log=lambda: str(marked(mark)), patience_s=20)
    wait_for(lambda: launcher_is_gone(folder))


def check_whole(record: Record) -> None:
    """Check that every round is complete and no block is duplicate; cut rounds are skipped."""
    contents = record.contents
    assert contents.complete
    assert [block.seq for block in contents.blocks] == list(range(len(contents.blocks)))
    good = Counter((b.warmup, b.round, b.cell_id) for b in contents.blocks if b.status != "skipped")
    cells = [cell.id for cell in record.plan.cells]
    warm = record.plan.measure.warmup_rounds
    expected = {(True, number, cell) for number in range(1, warm + 1) for cell in cells}
    expected |= {
        (False, number, cell)
        for number in range(1, record.plan.measure.rounds_max + 1)
        for cell in cells
    }
    assert set(good) == expected
    assert set(good.values()) == {1}
