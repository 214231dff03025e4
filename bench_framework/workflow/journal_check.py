"""Checks of a journal against its chain of digests, and against the output of hyperfine.

Whoever changes measured times must change both files in the same way, and every later line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bench_framework.errors import CellError
from bench_framework.execution.hyperfine import parse
from bench_framework.foreign import read_regular
from bench_framework.model.run import Block
from bench_framework.store import layout
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.store.records import Record

_EXPORT: Final = re.compile(rb'^\{"seq":(\d+),"export":(.*)\}$', re.MULTILINE)
MOST_LISTED: Final = 3


def journal_differences(record: Record) -> list[str]:
    """Return a changed line of the journal, and the blocks that differ from hyperfine's output."""
    contents = record.contents
    timed = [block for block in contents.blocks if block.wall_s]
    lines = []
    if contents.changed_line is not None:
        lines.append(f"{layout.JOURNAL}: line {contents.changed_line} was changed")
    raw = f"raw/{record.raw.hyperfine.name}"
    try:
        text = read_regular(record.raw.hyperfine) if timed else b""
    except OSError as error:
        return [*lines, f"{raw}: {error.strerror}"]
    exports: dict[int, list[bytes]] = {}
    for entry in _EXPORT.finditer(text):  # a number occurs again if a run was interrupted
        exports.setdefault(int(entry[1]), []).append(entry[2])
    wrong = [b.seq for b in timed if not any(_is_of(b, e) for e in exports.get(b.seq, ()))]
    if wrong:
        listed = ", ".join(map(str, wrong[:MOST_LISTED]))
        lines.append(
            f"{layout.JOURNAL}: differs from {raw} in {counted(len(wrong), 'sample')} ({listed} …)"
        )
    return lines


def _is_of(block: Block, export: bytes) -> bool:
    """Return whether a block has the values of hyperfine's output."""
    try:
        result = parse(export)
    except CellError:
        return False
    if block.peak_rss_source != "hyperfine":
        del result["peak_rss_bytes"], result["peak_rss_source"]
    return all(getattr(block, name) == value for name, value in result.items())
