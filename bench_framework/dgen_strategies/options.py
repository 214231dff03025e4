"""What is to be written, as dgen spells it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.dgen_strategies.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

_WHOLE: Final = ("size", "buffer", "buffers", "depth", "threads", "seed", "handed-over")
_TEXT: Final = ("strategy", "direct", "durability")
_LARGEST: Final = (1 << 63) - 1
_MAYBE: Final = ("dedup", "compress")


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be written, and how. Sizes in bytes."""

    strategy: str
    size: int
    buffer: int
    buffers: int
    depth: int
    threads: int
    direct: str
    """``off``, ``try`` or ``require``."""
    durability: str
    """``none``, ``end-fsync``, ``fdatasync:N`` or ``dsync``; ``fdatasync`` is dgen's name for its own N."""
    sync_every: int | None
    """N of ``fdatasync:N``."""
    seed: int
    dedup: str | None
    compress: str | None
    handed_over: int
    """When dgen handed over: nanoseconds of the monotonic clock."""
    path: str

    @property
    def blocks(self) -> int:
        """Blocks of the file."""
        return -(-self.size // self.buffer)


def parse(words: Sequence[str]) -> Options:
    """Options from pairs of words, ``--`` and the file.

    Raises:
        Fault: they are not what dgen spells out.
    """
    known = {f"--{name}" for name in (*_WHOLE, *_TEXT, *_MAYBE, "sync-every")}
    given: dict[str, str] = {}
    rest = list(words)
    while len(rest) > 1 and rest[0] in known:
        name, value, *rest = rest
        given[name.removeprefix("--")] = value
    missing = [name for name in (*_WHOLE, *_TEXT) if name not in given]
    if missing or len(rest) != 2 or rest[0] != "--":  # noqa: PLR2004 -- "--" and the file
        message = "not the options that `dgen run write` hands over; start that instead"
        raise Fault(message, is_usage=True)
    try:
        whole = {name.replace("-", "_"): int(given[name]) for name in _WHOLE}
        every = int(given["sync-every"]) if "sync-every" in given else None
    except ValueError as error:
        raise Fault(str(error), is_usage=True) from error
    if whole["size"] > _LARGEST:
        message = f"a file of {whole['size']} bytes is more than the system can address"
        raise Fault(message, is_usage=True)
    return Options(
        **whole,
        strategy=given["strategy"],
        direct=given["direct"],
        durability=given["durability"],
        sync_every=every,
        dedup=given.get("dedup"),
        compress=given.get("compress"),
        path=rest[1],
    )
