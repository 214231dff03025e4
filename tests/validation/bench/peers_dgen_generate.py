"""dgen's generator compared with memset and dgen-py 0.3.0: same kind of buffer, same threads.

Usage: ``python tests/validation/bench/peers_dgen_generate.py [ROUNDS]``. Prints each target with its figure; exits 1
if one is missed. dgen-py is installed by pip on the first use, into an environment of its own. Each arm is a process
that waits with its buffer ready, so what is timed is filling alone. memset writes the byte 0x5a: zeros are a special
case of some machines, which write them without moving them; their figure is also printed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

MIB = 1 << 20
TOTAL = 1024 * MIB
"""Bytes that an arm fills per round."""
LARGE = 256 * MIB
"""A buffer larger than the caches."""
PEER = 32 * MIB
"""The size of buffer that dgen-py recommends."""
POOL = 1 * MIB
"""A buffer of a pool that is recycled: it stays in the caches."""


def filler(kind: str, size: int, threads: int) -> Callable[[], None]:
    """A function that fills `TOTAL` bytes, `size` at a time."""
    import mmap  # noqa: PLC0415 -- this half runs in the arms' own processes

    buffer = mmap.mmap(-1, size)
    buffer.write(b"\1" * size)
    times = TOTAL // size
    if kind == "dgen":
        from bench_framework.dgen import Generator  # noqa: PLC0415

        generator = Generator(42)

        def fill() -> None:
            for number in range(times):
                generator.fill(buffer, number * size, threads=threads)

    elif kind == "dgen-py":
        import dgen_py  # type: ignore[import-not-found]  # noqa: PLC0415

        def fill() -> None:
            generator = dgen_py.Generator(size=TOTAL, max_threads=threads, seed=42, chunk_size=size)
            filled = sum(generator.fill_chunk(buffer) for _ in range(times))
            if filled != TOTAL:
                raise RuntimeError(f"dgen-py filled {filled} of {TOTAL} bytes")

    else:
        import ctypes  # noqa: PLC0415
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        value = 0 if kind == "memset-0" else 0x5A
        # The view keeps the buffer where it is.
        view = ctypes.c_char.from_buffer(buffer)
        part = size // threads
        pool = ThreadPoolExecutor(threads)

        def fill() -> None:
            for _ in range(times):
                parts = [
                    pool.submit(ctypes.memset, ctypes.addressof(view) + number * part, value, part)
                    for number in range(threads)
                ]
                for done in parts:
                    done.result()

    return fill


def wait_and_fill(kind: str, size: int, threads: int) -> None:
    """Fill a buffer once for each line read, and print the seconds: the process of one arm."""
    fill = filler(kind, size, threads)
    for _ in sys.stdin:
        start = time.perf_counter()
        fill()
        print(time.perf_counter() - start, flush=True)


def main(rounds: int) -> int:
    """Measure and print; the number of targets that were missed."""
    from side_by_side import PEERS, Arm, measure, rates, ratio, target  # noqa: PLC0415 -- not in the arms

    peer = PEERS / "dgen-py" / "bin" / "python"
    if not peer.exists():
        subprocess.run([sys.executable, "-m", "venv", peer.parents[1]], check=True)
        subprocess.run([peer, "-m", "pip", "install", "--quiet", "dgen-py==0.3.0"], check=True)

    met = []
    processors = os.cpu_count() or 1
    print(f"{rounds} rounds, {processors} processors, {TOTAL // MIB} MiB per round and arm")
    for threads in sorted({1, processors}):
        for size in (LARGE, PEER, POOL):
            running = {}
            # A pool stays in the caches; asking Python's threads for each megabyte would measure the asking.
            memset = ["memset", "memset-0"] if size != POOL else []
            kinds = ["dgen", *memset, *(["dgen-py"] if size == PEER else [])]
            for kind in kinds:
                python = peer if kind == "dgen-py" else sys.executable
                running[kind] = subprocess.Popen(
                    [python, __file__, kind, str(size), str(threads)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            taken = measure(
                [Arm(kind, call=partial(filling_time, running[kind])) for kind in kinds],
                rounds=rounds,
            )
            for process in running.values():
                process.communicate()
            print(f"\n{threads} thread{'s' * (threads > 1)}, buffer of {size // MIB} MiB")
            rates(taken, TOTAL, "GB/s", 10**9)
            if size == POOL:
                continue
            print(
                f"          of memset's rate with zeros: {ratio(taken['memset-0'], taken['dgen'])}"
            )
            words = f"of memset's rate, {threads} thread{'s' * (threads > 1)}, {size // MIB} MiB"
            quotient = ratio(taken["memset"], taken["dgen"])
            if size == LARGE:
                met.append(target(words, quotient, at_least=0.7))
            else:
                print(f"          {words}: {quotient}")
            if size == PEER:
                words = f"times dgen-py's rate, {threads} thread{'s' * (threads > 1)}"
                least = 3 if threads == 1 else 2
                met.append(target(words, ratio(taken["dgen-py"], taken["dgen"]), at_least=least))
    return met.count(False)


def filling_time(process: subprocess.Popen[str]) -> float:
    """Seconds of one filling by a waiting process."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with {process.wait()}")
    return float(line)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        wait_and_fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.path.insert(0, str(Path(__file__).parent))
        sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 15), 1))
