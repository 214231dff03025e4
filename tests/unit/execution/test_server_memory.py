"""The memory of a server: known, or unknown because it cannot be reset."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.execution.machine import processes
from bench_framework.execution.server import of_server
from bench_framework.model.record.run import Block
from bench_framework.workflow.records.integrity import _is_of

EXPORT = (
    b'{"results":[{"command":"c","mean":1.0,"stddev":null,"median":1.0,"user":0.5,"system":0.25,'
    b'"min":1.0,"max":1.0,"times":[1.0],"memory_usage_byte":[4096],"exit_codes":[0]}]}'
)


@pytest.mark.parametrize(("error", "reset"), [(errno.ESRCH, True), (errno.EPERM, False)])
def test_a_peak_that_cannot_be_reset_is_not_known(
    monkeypatch: pytest.MonkeyPatch, error: int, *, reset: bool
) -> None:
    def refuse(_path: Path, _text: bytes) -> int:
        raise OSError(error, "refused")

    monkeypatch.setattr(processes, "_below", lambda _parent: {1: []})
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert processes.reset_peaks(1) is reset


@pytest.mark.parametrize("peak", [0, 1 << 20])
def test_verify_knows_that_a_block_is_of_a_server_without_its_memory(peak: int) -> None:
    block = Block(1, 1, 0, "a", warmup=False, status="ok", started_at="")
    block = of_server(block, processes.Usage(2.0, 3, 1, peak), 1)
    assert (block.user_s, block.sys_s, block.peak_rss_bytes) == (1.5, 0.5, peak or None)
    assert _is_of(replace(block, wall_s=(1.0,), exit_codes=(0,)), EXPORT)
