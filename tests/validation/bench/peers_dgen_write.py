"""dgen's writer against its own bounds and against fio: the same size, block, depth, direct and fsync.

``python tests/validation/bench/peers_dgen_write.py [--size MIB] [--rounds N] [--dir FOLDER]``

Needs fio, and a release build of dgen.

Every arm writes a new file, removed outside the clock, and ends with fsync. The clock is each program's own:
from its first contents to the end of the sync for dgen, ``job_runtime`` with ``end_fsync`` for fio. So neither
start-up nor the removal of the old file counts, on either side. fio has ``refill_buffers``: like dgen it makes
new contents for every block. Both register buffers and file with the ring; where one of them cannot, this ends.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from side_by_side import Arm, measure, rates, ratio, target

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or CACHE / "dev-target")
DGEN = TARGET / "release" / "dgen"
BLOCK_KIB = 1024
DEPTH = 4
LIKE_BOUND = 0.90
LIKE_FIO = 0.95


def dgen(strategy: str, folder: Path, size_mib: int, direct: str) -> Callable[[], float]:
    """A function that writes once and returns the seconds by dgen's own clock, the sync included."""
    answers, file = folder / "answers", folder / "file"

    def call() -> float:
        answers.unlink(missing_ok=True)
        command = [str(DGEN), "run", "write", "--strategy", strategy, "--backend", "uring"]
        command += ["--direct", direct, "--durability", "end-fsync"]
        command += ["--size", f"{size_mib}MiB", "--buffer", f"{BLOCK_KIB}KiB"]
        command += ["--depth", str(DEPTH), "--buffers", str(DEPTH), str(file)]
        subprocess.run(command, check=True, env={**os.environ, "BENCHCTL_ANSWERS": str(answers)})
        line = json.loads(answers.read_text(encoding="utf-8"))
        ran = line["effective"]
        if ran["strategy"] != strategy or ran.get("direct", direct) != direct:
            raise RuntimeError(f"{strategy}, direct {direct} was asked for, {ran} ran")
        if unregistered := [note for note in line["notes"] if "without registered" in note]:
            raise RuntimeError(f"{strategy}: " + "; ".join(unregistered))
        return float(line["metrics"]["synced_s"])

    return call


def fio(folder: Path, size_mib: int, direct: str) -> Callable[[], float]:
    """A function that runs the equivalent job and returns the seconds by fio's own clock, the sync included."""

    def call() -> float:
        command = [
            "fio",
            "--name=peer",
            f"--filename={folder / 'file'}",
            "--rw=write",
            "--ioengine=io_uring",
        ]
        command += [
            f"--bs={BLOCK_KIB}k",
            f"--size={size_mib}m",
            f"--iodepth={DEPTH}",
            "--refill_buffers",
        ]
        command += [f"--direct={int(direct == 'require')}", "--end_fsync=1", "--fallocate=none"]
        # fio fails where the kernel refuses either.
        command += ["--fixedbufs", "--registerfiles"]
        command += ["--output-format=json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        job = json.loads(done.stdout)["jobs"][0]
        if job["error"] or job["write"]["io_bytes"] != size_mib << 20:
            raise RuntimeError(f"fio wrote {job['write']['io_bytes']} bytes, error {job['error']}")
        return float(job["job_runtime"]) / 1000

    return call


def side_by_side(folder: Path, size_mib: int, direct: str, rounds: int) -> bool:
    """Print the rates and the two targets of one way of writing; whether both are met."""
    file = folder / "file"
    arms = [
        Arm(
            strategy,
            call=dgen(strategy, folder, size_mib, direct),
            before=lambda: file.unlink(missing_ok=True),
        )
        for strategy in ("generate-only", "write-only", "streaming", "late-submit", "single-buffer")
    ]
    arms.append(
        Arm("fio", call=fio(folder, size_mib, direct), before=lambda: file.unlink(missing_ok=True)),
    )
    print(f"{size_mib} MiB, blocks of {BLOCK_KIB} KiB, depth {DEPTH}, direct {direct}, end-fsync")
    taken = measure(arms, rounds=rounds)
    rates(taken, size_mib << 20)
    bound = [max(pair) for pair in zip(taken["generate-only"], taken["write-only"], strict=True)]
    reached = target(
        "streaming ÷ min(generate-only, write-only)",
        ratio(bound, taken["streaming"]),
        at_least=LIKE_BOUND,
    )
    peer = target("streaming ÷ fio", ratio(taken["fio"], taken["streaming"]), at_least=LIKE_FIO)
    return reached and peer


def main() -> int:
    """Run both ways of writing; 0 if every target is met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1024, help="MiB of the file")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dir", type=Path, help="folder on the disk in question")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        met = [
            side_by_side(Path(folder), given.size, direct, given.rounds)
            for direct in ("require", "off")
        ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
