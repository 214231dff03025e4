"""What a template from elsewhere may take: memory, processor time, and files of its own folder only.

Jinja's sandbox keeps a template from what it is not given. It does not keep one from looping for days, or from
making a text that no memory holds.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any, Final

from jinja2.exceptions import SecurityError  # noqa: TID251 -- beside the door
from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: TID251 -- likewise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_SECONDS: Final = 60
"""Processor time of one page; the shipped templates take a second for a hundred cells."""
MOST_MEMORY: Final = 2 << 30
"""Bytes that rendering may add to what the process has."""
MOST_LONG: Final = 1_000_000
"""Elements of a text or list that is multiplied."""
MOST_BITS: Final = 4096
"""Of the two sides of a multiplication or power: no page needs a larger number."""


class ExhaustedError(Exception):
    """A template took more than a page may."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """The sandbox, with products and powers that stay small: one of these is a single step that nothing interrupts."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Raises `SecurityError` where the result is larger than any page needs."""
        if operator == "%" and isinstance(left, str):
            raise SecurityError("a text is no number; the filter `format` is for texts")
        if operator == "**" and _bits(left) * max(1, _whole(right)) > MOST_BITS:
            raise SecurityError("the power is too large")
        if operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, str | list | tuple) and _whole(other) * len(one) > MOST_LONG:
                    raise SecurityError("the text is multiplied too often")
            if _bits(left) + _bits(right) > MOST_BITS:
                raise SecurityError("the product is too large")
        return super().call_binop(context, operator, left, right)


def _bits(value: object) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _whole(value: object) -> int:
    return abs(value) if isinstance(value, int) else 0


@contextlib.contextmanager
def bounded(seconds: float = MOST_SECONDS, memory: int = MOST_MEMORY) -> Iterator[None]:
    """Within the block the process may take so much processor time, and so much more memory.

    Raises:
        ExhaustedError: it took more time; or it is not the main thread, where time cannot be limited.
        MemoryError: it took more memory; only on Linux, elsewhere that of the machine is the limit.
    """
    if threading.current_thread() is not threading.main_thread():
        raise ExhaustedError(
            "templates of a user's own are rendered in the main thread only, where they can be stopped"
        )

    def stop(*_: object) -> None:
        raise ExhaustedError(f"it took more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        with _less_memory(memory):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def _less_memory(more: int) -> Iterator[None]:
    import resource  # noqa: PLC0415 -- not on every system

    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 -- no path of ours
            mapped = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mapped + more
    if soft != resource.RLIM_INFINITY:
        wanted = min(wanted, soft)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def astray(folder: Path) -> Path | None:
    """A link in a folder that leads out of it; `None` if there is none."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            return path
    return None
