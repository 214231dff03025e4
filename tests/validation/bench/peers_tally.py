"""The worker tally compared with its peers, on 100 MiB of prose: word-tally 0.28.0 and `wc -w`.

Usage: ``python tests/validation/bench/peers_tally.py [ROUNDS]``. Prints each target with its figure; exits 1 if one
is missed. word-tally is installed by cargo on the first use; the texts are made by dgen, and kept next to it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from side_by_side import PEERS, Arm, measure, rates, ratio, target

ROOT = Path(__file__).parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or PEERS.parent / "dev-target")
MIB = 1 << 20
SIZE = 100 * MIB
LARGE = 1024 * MIB

SEED_MODES = {
    "stream": ("read", "sequential"),
    "parallel-stream": ("read", "rayon"),
    "parallel-in-memory": ("slurp", "rayon"),
    "parallel-mmap": ("mmap", "rayon"),
}
"""word-tally's name of a way of counting, and ours."""


def main(rounds: int) -> int:
    """Measure and print; the number of targets that were missed."""
    tally, dgen, peer = built("tally"), built("dgen"), installed()
    prose, large = text(dgen, SIZE), text(dgen, LARGE)
    print(f"{rounds} rounds, {os.cpu_count()} processors, prose of {SIZE // MIB} MiB, seed 42")
    met = [
        *seed_modes(tally, peer, prose, rounds),
        words_of_ascii(tally, prose, rounds),
        *(overlap(tally, prose, threads, rounds) for threads in (1, 2)),
        memory(tally, large),
    ]
    return met.count(False)


def built(package: str) -> Path:
    """The release build of one of our workers."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "--package", package],
        cwd=ROOT / "native",
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        check=True,
    )
    return TARGET / "release" / package


def installed() -> Path:
    """Install word-tally, if it is not there yet."""
    program = PEERS / "bin" / "word-tally"
    if not program.exists():
        words = [
            "cargo",
            "install",
            "word-tally",
            "--version",
            "0.28.0",
            "--locked",
            "--root",
            str(PEERS),
        ]
        subprocess.run(words, check=True)
    output = subprocess.run(
        [program, "--version"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    if output.strip() != "word-tally 0.28.0":
        raise RuntimeError(f"{program} reports the version {output.strip()}")
    return program


def text(dgen: Path, size: int) -> Path:
    """Prose of `size` bytes."""
    path = PEERS / f"prose-42-{size}"
    if not path.exists() or path.stat().st_size != size:
        words: list[str | Path] = [
            dgen,
            "text",
            "--kind",
            "prose",
            "--size",
            str(size),
            "--seed",
            "42",
            "--output",
            path,
        ]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return path


def run(tally: Path, io: str, runtime: str, path: Path, *more: str) -> tuple[str | Path, ...]:
    """The command of one of our modes, its list of words written as the peer's is."""
    return (tally, "run", "--io", io, "--runtime", runtime, *more, path)


def receipt(argv: tuple[str | Path, ...]) -> dict[str, Any]:
    """Run once and return the answer line."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        words = [*argv, "--output", "none"]
        subprocess.run(words, env={**os.environ, "BENCHCTL_ANSWERS": str(answers)}, check=True)
        result: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
    return result


def seed_modes(tally: Path, peer: Path, prose: Path, rounds: int) -> list[bool]:
    """Compare each mode of the seed document with that of word-tally."""
    print(
        "\nThe seed's modes and word-tally's, tokenizer unicode, the list of words written to /dev/null"
    )
    arms = [
        *(Arm(f"tally {name}", run(tally, *mode, prose)) for name, mode in SEED_MODES.items()),
        *(Arm(f"word-tally {name}", (peer, "-I", name, prose)) for name in SEED_MODES),
    ]
    taken = measure(arms, rounds=rounds)
    rates(taken, SIZE)
    return [
        target(
            f"{name}, word-tally ÷ tally",
            ratio(taken[f"word-tally {name}"], taken[f"tally {name}"]),
            at_least=3,
        )
        for name in SEED_MODES
    ]


def words_of_ascii(tally: Path, prose: Path, rounds: int) -> bool:
    """Compare the ascii tokenizer with `wc -w`, which counts words and stores none."""
    wc = shutil.which("wc")
    if wc is None:
        raise RuntimeError("there is no wc here")
    print("\nascii and wc -w under LC_ALL=C.UTF-8, one thread each")
    ascii_words = run(
        tally, "read", "sequential", prose, "--tokenizer", "ascii", "--output", "none"
    )
    arms = [
        Arm("tally ascii, read, sequential", ascii_words),
        Arm("wc -w", (wc, "-w", prose), env={"LC_ALL": "C.UTF-8"}),
    ]
    taken = measure(arms, rounds=rounds)
    rates(taken, SIZE)
    mine, theirs = taken.values()
    return target("wc ÷ tally", ratio(theirs, mine), at_least=1)


def overlap(tally: Path, prose: Path, threads: int, rounds: int) -> bool:
    """Compare `pipeline` with the longer of reading and counting, by the phases of the receipts."""
    print(
        f"\npipeline with {threads} counting threads and the work that it overlaps, by the workers' own phases"
    )
    limit = ("--threads", str(threads))

    def phases(io: str, runtime: str, *names: str) -> float:
        result = receipt(run(tally, io, runtime, prose, *limit))["phases_s"]
        return float(sum(result[name] for name in names))

    arms = [
        Arm(
            "read alone (phase of read, sequential)",
            call=lambda: phases("read", "sequential", "read"),
        ),
        Arm("count alone (phase of slurp, rayon)", call=lambda: phases("slurp", "rayon", "count")),
        Arm(
            "read, pipeline (read and wait)",
            call=lambda: phases("read", "pipeline", "read", "wait"),
        ),
    ]
    taken = measure(arms, rounds=rounds)
    rates(taken, SIZE)
    read, count, both = taken.values()
    longer = [max(pair) for pair in zip(read, count, strict=True)]
    return target("pipeline ÷ max(read alone, count alone)", ratio(both, longer), at_most=1.1)


def memory(tally: Path, large: Path) -> bool:
    """Peak memory of reading in blocks, whatever the size of the file."""
    result = receipt(run(tally, "read", "sequential", large))
    peak, distinct = int(result["peak_rss_bytes"]) / MIB, result["answer"]["distinct"]
    met = peak < 40
    print(f"\nread, sequential on {LARGE // MIB} MiB of {distinct} distinct words, one run")
    print(f"  {'met   ' if met else 'MISSED'}  peak memory: {peak:.1f} MiB, target under 40 MiB")
    return met


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 11) else 0)
