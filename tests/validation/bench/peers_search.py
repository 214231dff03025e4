"""The worker `search` against what its parsers can do at best, and against ripgrep.

    python tests/validation/bench/peers_search.py [SIZE_MIB] [ROUNDS]

Builds the worker and its example `parse_only`, writes sessions into a temporary folder, and prints ratios paired by
round. ripgrep (`rg`) must be on the path for its part; what it finds is compared before it is timed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import Arm, measure, rates, ratio, target

ROOT = Path(__file__).parents[3]
PARSERS = ("serde-json", "simd-json", "sonic-rs")
RARE = "zyzzyva"


def build() -> Path:
    """The folder of the release binaries."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl"
    folder = os.environ.get("CARGO_TARGET_DIR") or str(cache / "dev-target")
    packages = ("--package", "search", "--package", "dgen", "--bins", "--example", "parse_only")
    subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--release", *packages],
        cwd=ROOT / "native",
        env={**os.environ, "CARGO_TARGET_DIR": folder},
        check=True,
    )
    return Path(folder) / "release"


def output_of(*words: str | Path) -> str:
    """The last line that a command prints."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def parsing(binaries: Path, corpus: Path, size: int, rounds: int) -> bool:
    """Every line parsed: the engines against one thread that only parses, times the processors."""
    cores = len(os.sched_getaffinity(0))
    run = (binaries / "search", "run", "--query", RARE, "--output", "none", "--parser")
    arms = [
        Arm(f"{p}, parse only, 1 thread", (binaries / "examples/parse_only", p, corpus))
        for p in PARSERS
    ]
    arms += [
        Arm(f"{p}, {e}", (*run, p, "--engine", e, corpus))
        for p in PARSERS
        for e in ("sequential", "rayon")
    ]
    taken = measure(arms, rounds=rounds)
    print(f"Every line parsed, {cores} processors, {size >> 20} MiB:")
    rates(taken, size)
    met = True
    for name in PARSERS:
        alone = taken[f"{name}, parse only, 1 thread"]
        met &= target(
            f"{name}, sequential / parse only",
            ratio(alone, taken[f"{name}, sequential"]),
            at_least=0.7,
        )
        met &= target(
            f"{name}, rayon / (parse only x {cores})",
            ratio([seconds / cores for seconds in alone], taken[f"{name}, rayon"]),
            at_least=0.7,
        )
    plain = [seconds / cores for seconds in taken["serde-json, parse only, 1 thread"]]
    met &= target(
        f"sonic-rs, rayon / (serde-json, parse only x {cores})",
        ratio(plain, taken["sonic-rs, rayon"]),
        at_least=0.7,
    )
    return met


def rare_word(binaries: Path, corpus: Path, size: int, rounds: int) -> bool:
    """With the prefilter: against ripgrep on the same word."""
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        print("ripgrep is not installed: not compared")
        return False
    run = (
        binaries / "search",
        "run",
        "--query",
        RARE,
        "--output",
        "none",
        "--prefilter",
        "on",
        "--engine",
    )
    result = output_of(binaries / "search", "run", "--query", RARE, "--prefilter", "on", corpus)
    # ripgrep sees the word only where it is not escaped.
    pattern = RARE + "|" + "\\\\u007a" + RARE[1:]
    counted = subprocess.run(
        [ripgrep, "-i", "--no-filename", "-c", pattern, corpus],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = sum(map(int, counted.stdout.split()))
    print(f"\nA rare word: search says {result!r}, ripgrep {lines} lines")
    if int(result.split()[0]) != lines:
        print("They did not find the same: not compared")
        return False
    arms = [
        Arm("ripgrep -i", (ripgrep, "-i", "-c", RARE, corpus)),
        Arm("ripgrep", (ripgrep, "-c", RARE, corpus)),
        *(
            Arm(f"search, prefilter, {engine}", (*run, engine, corpus))
            for engine in ("rayon", "rayon-chunked")
        ),
    ]
    taken = measure(arms, rounds=rounds)
    rates(taken, size)
    met = True
    for peer in ("ripgrep -i", "ripgrep"):
        met &= target(
            f"prefilter, rayon / {peer}",
            ratio(taken[peer], taken["search, prefilter, rayon"]),
            at_least=0.5,
        )
    return met


def main() -> int:
    """0 if every target is met."""
    words = sys.argv[1:]
    size = (int(words[0]) if words else 128) << 20
    rounds = int(words[1]) if len(words) > 1 else 15
    binaries = build()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "sessions"
        output_of(
            binaries / "dgen",
            "sessions",
            "--size",
            str(size),
            "--rare-per-million",
            "100",
            "--output",
            corpus,
        )
        met = parsing(binaries, corpus, size, rounds)
        met &= rare_word(binaries, corpus, size, rounds)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
