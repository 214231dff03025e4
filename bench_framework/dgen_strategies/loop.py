"""``python-loop``: one buffer is filled, then written, then filled again."""

from __future__ import annotations

from bench_framework.dgen_strategies import work as steps
from bench_framework.dgen_strategies.evidence import Evidence


def run(work: steps.Work) -> Evidence:
    """Write every block in turn, in the calling thread.

    Raises:
        Fault: the writing ended early.
    """
    seen = Evidence()
    if work.options.threads > 1:
        work.target.notes.append(
            f"a loop has one thread; --threads {work.options.threads} was not used"
        )
    (buffer,) = steps.pool(work.options.buffer, 1)
    for block in range(work.options.blocks):
        padded = steps.fill(work, seen, block, 0, buffer)
        steps.write(work, seen, block, buffer[:padded])
    return seen
