"""A worker in Python: write one file of seeded data with `bench_framework.dgen`.

`dgen run write --strategy python-loop|python-threads` runs it with its options as JSON and the file.
"""

import fcntl
import hashlib
import json
import mmap
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import get_ident
from time import monotonic, sleep

from bench_framework import dgen

HUGE_PAGE = 2 << 20
SLACK_S = 200e-6  # as in pace.rs: the lateness of a sleep, which later blocks make up for


class Writer:
    """A file without a name until it is whole, and what was observed while it was written."""

    def __init__(self, options: str, path: str) -> None:
        self.options, self.path = json.loads(options), Path(path)
        self.size, self.block, self.alignment = self.options["size"], self.options["buffer"], 1
        self.data = dgen.Generator(**self.options["data"])
        self.due = 0.0  # moment at which the generator has its next block
        self.ranges: list[tuple[int, int]] = []
        self.spans = defaultdict[str, list[tuple[int, float, float]]](list)  # thread, start and end

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Record the time that the calling thread spends in a phase."""
        start = monotonic()
        yield
        self.spans[phase].append((get_ident(), start, monotonic()))

    def write_file(self) -> None:
        """Write every block, check that the calls covered the file, and give it its name."""
        self.spans["start"].append((get_ident(), self.options["started"], monotonic()))
        with self.timed("open"):
            flags = os.O_RDWR | os.O_TMPFILE | (os.O_DIRECT if self.options["bypass_cache"] else 0)
            self.fd = os.open(self.path.parent, flags, 0o666)
            if self.options["bypass_cache"]:
                self.alignment = dgen.direct_alignment(f"/proc/self/fd/{self.fd}")[1]
            self.path.unlink(missing_ok=True)
        self.write_in_loop() if self.options[
            "strategy"
        ] == "python-loop" else self.write_in_threads()
        if any(end != start for (_, end), (start, _) in pairwise([(0, 0), *sorted(self.ranges)])):
            raise OSError("the writes overlap or leave a gap")
        os.ftruncate(self.fd, self.size)  # direct writes are padded
        if durable := self.options["durability"] == "end-fsync":
            with self.timed("fsync"):
                os.fsync(self.fd)
        with self.timed("close"):
            os.link(f"/proc/self/fd/{self.fd}", self.path, src_dir_fd=self.fd)
        if durable:
            with self.timed("fsync"):
                os.fsync(os.open(self.path.parent, os.O_RDONLY))

    def buffers(self, count: int) -> list[memoryview]:
        """Return buffers that begin on a page, as direct writes need, in pages of the requested size."""
        stride = -(-self.block // mmap.PAGESIZE) * mmap.PAGESIZE
        size = -(-stride * count // HUGE_PAGE) * HUGE_PAGE
        memory = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        huge = self.options["pages"] == "huge"
        with suppress(OSError):  # advice: the result has the actual pages
            memory.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
        # A huge page begins at a multiple of its size.
        first = -dgen.address(memory) % HUGE_PAGE if huge else 0
        self.memory = memoryview(memory)[first : first + size]
        return [self.memory[i * stride :][: self.block] for i in range(count)]

    def fill(self, offset: int, buffer: memoryview) -> memoryview:
        """Fill a buffer with the block at an offset and return the bytes to write."""
        with self.timed("generate"):
            length = min(self.block, self.size - offset)
            start = monotonic()
            self.data.fill(buffer[:length], offset)
            if rate := self.options["rate"]:
                self.due = max(self.due, start - SLACK_S) + length / rate
                sleep(max(0.0, self.due - monotonic()))
            padded = -(-length // self.alignment) * self.alignment
            buffer[length:padded] = bytes(padded - length)
        return buffer[:padded]

    def write(self, offset: int, contents: memoryview, buffer: memoryview) -> memoryview:
        """Write a block, in as many calls as it takes, and return its buffer for the next one."""
        with self.timed("write"):
            while contents:
                count = os.pwrite(self.fd, contents, offset) // self.alignment * self.alignment
                if count == 0:
                    raise OSError(f"a write at offset {offset} wrote nothing")
                self.ranges.append((offset, offset + count))
                offset, contents = offset + count, contents[count:]
        return buffer

    def write_in_loop(self) -> None:
        """Fill one buffer and write it, again and again."""
        (buffer,) = self.buffers(1)
        for offset in range(0, self.size, self.block):
            self.write(offset, self.fill(offset, buffer), buffer)

    def write_in_threads(self) -> None:
        """Fill the buffers of a pool in this thread; other threads write them."""
        free = self.buffers(self.options["buffers"])
        writes: set[Future[memoryview]] = set()
        with ThreadPoolExecutor(self.options["threads"]) as pool:
            for offset in range(0, self.size, self.block):
                if not free:
                    with self.timed("wait"):
                        done, writes = wait(writes, return_when=FIRST_COMPLETED)
                    free = [write.result() for write in done]
                buffer = free.pop()
                writes.add(pool.submit(self.write, offset, self.fill(offset, buffer), buffer))
            with self.timed("wait"):
                wait(writes)
        _ = [write.result() for write in writes]  # raises what a write raised

    def answer(self) -> dict[str, object]:
        """Return the result, the actual mode and the resource usage."""
        size, spans = self.path.stat().st_size, self.spans
        text = f"{self.data.identity}\n" + f"0-{size}\n" * (size > 0) + f"twice 0\nsize {size}\n"
        fillers, writers = (
            {thread for thread, *_ in spans[phase]} for phase in ("generate", "write")
        )
        strategy = "python-loop" if fillers == writers else "python-threads"
        direct = (
            self.options["direct"] if fcntl.fcntl(self.fd, fcntl.F_GETFL) & os.O_DIRECT else "off"
        )
        modes = {"strategy": strategy, "direct": direct}
        modes["durability"] = "end-fsync" if spans["fsync"] else "none"
        if pages := dgen.pages(self.memory):
            modes["pages"] = pages
        begun = spans["open"][0][2]
        written = max([begun, *(end for *_, end in spans["write"])])
        synced = max([written, *(end for *_, end in spans["fsync"])])
        phases = {
            phase: sum(end - start for _, start, end in times) for phase, times in spans.items()
        }
        # The rest of the time of the thread that fills.
        inside = ("generate", "write" if strategy == "python-loop" else "wait")
        phases["loop"] = max(0.0, written - begun - sum(phases.get(name, 0.0) for name in inside))
        used = resource.getrusage(resource.RUSAGE_SELF)
        lines = (
            Path("/proc/self/status").read_text() + Path("/proc/self/io").read_text()
        ).splitlines()
        kernel = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
        return {
            "protocol": 1,
            "iteration": os.environ.get("HYPERFINE_ITERATION"),
            "answer": {"count": size, "digest": hashlib.sha256(text.encode()).hexdigest()},
            "effective": {**modes, "backend": "pwrite", "dontcache": "off", "allocator": "python"},
            "threads": len(fillers | writers),
            "phases_s": phases,
            "bytes": size,
            "peak_rss_bytes": int(kernel["VmHWM"][0]) * 1024,
            "minor_faults": used.ru_minflt,
            "major_faults": used.ru_majflt,
            "ctx_vol": used.ru_nvcsw,
            "ctx_invol": used.ru_nivcsw,
            "read_bytes": int(kernel["read_bytes"][0]),
            "write_bytes": int(kernel["write_bytes"][0]),
            "metrics": {
                "elapsed_s": written - begun,
                "synced_s": synced - begun,
                "buffer_bytes": self.block,
            },
            "notes": [
                f"driven by Python {sys.version.split()[0]}",
                *(
                    [
                        f"data was generated at no more than {rate:.0f} bytes per second, as requested"
                    ]
                    if (rate := self.options["rate"])
                    else []
                ),
            ],
        }


try:
    writer = Writer(*sys.argv[1:])
    writer.write_file()
    if answers := os.environ.get("BENCHCTL_ANSWERS"):
        with Path(answers).open("ab", buffering=0) as file:
            file.write(json.dumps(writer.answer()).encode() + b"\n")
except (OSError, OverflowError, ValueError) as error:
    sys.exit(f"dgen: cannot write {sys.argv[2]}: {error}")
