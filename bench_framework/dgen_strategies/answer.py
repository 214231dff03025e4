"""The line that dgen's own strategies append too: docs/reference/worker-protocol.md."""

from __future__ import annotations

import json
import os
import platform
import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.dgen_strategies.evidence import quantile
from bench_framework.dgen_strategies.fault import Fault, refused

if TYPE_CHECKING:
    from bench_framework.dgen_strategies.written import Written

PROTOCOL: Final = 1


def deliver(done: Written) -> None:
    """Append the line if the environment asks for one, in one write. Call it last.

    Raises:
        Fault: the file cannot be opened, or did not take the whole line.
    """
    path = os.environb.get(b"BENCHCTL_ANSWERS")
    if not path:
        return
    text = json.dumps(_line(done), separators=(",", ":")).encode() + b"\n"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            taken = os.write(fd, text)
        finally:
            os.close(fd)
    except OSError as error:
        raise refused("append the answer line", error) from error
    if taken != len(text):
        message = f"cannot append the answer line: only {taken} of {len(text)} bytes were written"
        raise Fault(message)


def _line(done: Written) -> dict[str, Any]:
    iteration = os.environb.get(b"HYPERFINE_ITERATION")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    io = _fields("/proc/self/io")
    line = {
        "protocol": PROTOCOL,
        "iteration": None if iteration is None else iteration.decode(errors="replace"),
        "answer": {"count": done.size, "digest": done.digest, "blocks": done.evidence.blocks},
        # Nothing chose an allocator here: the buffers are a mapping, the rest is the interpreter's.
        "effective": {**done.effective, "allocator": "python"},
        "threads": len(done.evidence.fillers | done.evidence.writers),
        "phases_s": _phases(done),
        "bytes": done.size,
        "minor_faults": usage.ru_minflt,
        "major_faults": usage.ru_majflt,
        "ctx_vol": usage.ru_nvcsw,
        "ctx_invol": usage.ru_nivcsw,
        "read_bytes": io.get("read_bytes"),
        "write_bytes": io.get("write_bytes"),
        "metrics": _metrics(done),
        "notes": [
            *done.notes,
            f"driven by {platform.python_implementation()} {platform.python_version()}",
        ],
    }
    memory = _fields("/proc/self/status")
    line["peak_rss_bytes"] = memory.get("VmHWM", 0) * 1024
    for key, name in (("anon_bytes", "RssAnon"), ("file_bytes", "RssFile")):
        line[key] = memory[name] * 1024 if name in memory else None
    return line


def _phases(done: Written) -> dict[str, float]:
    seen = done.evidence
    spent = {
        "start": done.start,
        "open": done.opening,
        "generate": seen.generate,
        "submit": 0,
        "wait": seen.wait,
        "write": seen.write,
        "fsync": seen.sync,
        "close": done.closing,
    }
    return {name: nanoseconds / 1e9 for name, nanoseconds in spent.items()}


def _metrics(done: Written) -> dict[str, float]:
    seen, elapsed = done.evidence, done.elapsed / 1e9
    ranked = sorted(seen.latencies)
    first = 0 if seen.first_done is None else seen.first_done - done.started
    found: dict[str, float] = {
        "achieved_depth": sum(ranked) / 1e9 / elapsed if elapsed else 0.0,
        "buffer_bytes": done.options.buffer,
        "buffers": len(seen.slots),
        "depth": done.options.depth,
        "elapsed_s": elapsed,
        "files": 1,
        "filled_bytes": seen.filled_bytes,
        "first_done_s": first / 1e9,
        "operations": seen.operations,
        "repeated": seen.repeated,
        "short": seen.short,
        "synced_s": done.synced / 1e9,
        "latency_p50_s": quantile(ranked, 500),
        "latency_p90_s": quantile(ranked, 900),
        "latency_p99_s": quantile(ranked, 990),
        "latency_p999_s": quantile(ranked, 999),
        "latency_max_s": quantile(ranked, 1000),
    }
    cached = {"cached_bytes_before": done.cached_before, "cached_bytes_after": done.cached_after}
    return found | {name: count for name, count in cached.items() if count is not None}


def _fields(path: str) -> dict[str, int]:
    """First number behind each name; nothing if the kernel does not tell."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    words = ((name, rest.split()) for name, _, rest in pairs)
    return {name: int(numbers[0]) for name, numbers in words if numbers and numbers[0].isdecimal()}
