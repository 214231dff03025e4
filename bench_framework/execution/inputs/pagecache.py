"""The page cache of an input: empty or fill it before a run, and verify the state.

`InputPages.resident` reads the state before the run, and the kernel counts the bytes read from the
device during it. `verify_state` combines both; only a verified state is reported
(docs/method.md#page-cache).
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench_framework.execution.inputs import folders
from bench_framework.execution.machine import host
from bench_framework.execution.machine.cached_pages import (
    drop_all_pages,
    drop_pages,
    resident_pages,
)
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import CacheState
from bench_framework.model.record.sensors import PageCache
from bench_framework.text.reasons import phrase

COLD_SHARE: Final = 0.01
"""Largest share of an input's pages in memory before a cold run.

Reading 1 % from memory saves at most 1 % of the time, which is the minimum effect size
(docs/method.md#verdicts).
"""
WARM_SHARE: Final = 0.99
"""Smallest share of an input's pages in memory before a warm run."""
FROM_DEVICE: Final = 0.9
"""Smallest share of the pages loaded during a cold run that the run itself read from the device.

A smaller share means that another process read the file at the same time. The limit is not 1
because readahead rounds to its window and a hole in a file causes no read.
"""
NOT_REPORTED: Final = Phrase(PhraseCode.PAGES_NOT_REPORTED)
STEP: Final = 1 << 20


def reason_of(error: OSError, path: Path) -> str:
    """Return why a file cannot be read. A name that is not UTF-8 has U+FFFD in place of other bytes."""
    name = os.fsencode(error.filename or path).decode(errors="replace")
    return f"{name}: {error.strerror}"


@dataclass(slots=True)
class InputPages:
    """The pages of an input: of one file, of the chosen files of a folder, or of all its files.

    The files are listed once: an input that changes ends its measurement (BX420).
    """

    path: Path
    chosen: tuple[str, ...] = ()
    _files: list[tuple[str, int]] = field(default_factory=list)
    _without_effect: set[str] = field(default_factory=set)
    """Attempts without effect, ``drop`` or ``fill``, which are not repeated."""

    def __post_init__(self) -> None:
        for file in folders.files(self.path, self.chosen):
            status = file.stat()
            if stat.S_ISREG(status.st_mode):
                self._files.append((str(file), status.st_size))

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(size for _, size in self._files)

    def drop(self) -> None:
        """Drop the pages, then those of all files if needed and permitted. `resident` shows the result.

        Raises `OSError`: a file is missing or cannot be read.
        """
        for name, _ in self._files:
            drop_pages(name)
        if self.resident() == 0 or "drop" in self._without_effect:
            return
        if host.filesystem_of(self.path) in host.IN_MEMORY:
            self._without_effect.add("drop")
            return
        # This also empties the cache of all other programs, so it is used only if the advice was
        # not enough, and not again if it had no effect.
        try:
            drop_all_pages()
        except OSError:
            self._without_effect.add("drop")
        if (left := self.resident()) is None or left > COLD_SHARE:
            self._without_effect.add("drop")

    def fill(self) -> None:
        """Read the files if they are not in memory and fit. Raises `OSError`: one is unreadable."""
        share = self.resident()
        if share is None or share >= WARM_SHARE or "fill" in self._without_effect:
            return
        if self.size < (host.available_memory() or 0):
            for name, _ in self._files:
                read_file(name)
        if (share := self.resident()) is None or share < WARM_SHARE:
            self._without_effect.add("fill")

    def resident(self) -> float | None:
        """Return the share in memory, 0 to 1; `None` if unknown. Raises `OSError`: unreadable."""
        page = os.sysconf("SC_PAGE_SIZE")
        all_pages, in_memory = 0, 0
        for name, size in self._files:
            if (count := resident_pages(name, size, page)) is None:
                return None
            in_memory += count
            all_pages += -(-size // page)
        return in_memory / all_pages if all_pages else 0.0

    def reason_resident(self) -> Phrase:
        """Return the likely reason for pages that stay in memory after `drop`."""
        kind, another = host.filesystem_of(self.path), Phrase(PhraseCode.ANOTHER_READS)
        if kind is not None and kind in host.IN_MEMORY:
            return Phrase(PhraseCode.KEEPS_FILES, kind)
        if "drop" in self._without_effect and os.geteuid() != 0:
            return Phrase(PhraseCode.ONLY_ROOT_DROPS, another)
        return another


def set_state(pages: InputPages, requested: CacheState) -> PageCache:
    """Bring an input's pages into the requested state and read it; `unknown` changes nothing."""
    try:
        if requested == "cold":
            pages.drop()
        elif requested == "warm":
            pages.fill()
        return PageCache("unknown", pages.resident())
    except OSError as error:
        return PageCache("unknown", why=reason_of(error, pages.path))


def verify_state(
    pages: InputPages, requested: CacheState, before_run: PageCache, device_bytes: int | None
) -> PageCache:
    """Return the verified state of the page cache during a run.

    `before_run` is the result of `set_state` just before the run. The kernel counted the
    `device_bytes` that the run read from a device.
    """
    if before_run.why or requested == "unknown":
        return before_run
    before = before_run.resident_before
    if requested == "warm":
        if before is not None and before >= WARM_SHARE:
            return PageCache("warm", before)
        cold = NOT_REPORTED if before is None else Phrase(PhraseCode.NOT_IN_MEMORY, before)
        return PageCache("unknown", before, why=phrase(cold))
    try:
        after = pages.resident()
    except OSError:
        after = None
    reason = _not_cold(pages.size, before, after, device_bytes)
    if reason is not None and before is not None and before > COLD_SHARE:
        reason = Phrase(PhraseCode.BECAUSE, (reason, pages.reason_resident()))
    return PageCache("unknown" if reason else "cold", before, after, phrase(reason))


def _not_cold(
    size: int, before: float | None, after: float | None, device_bytes: int | None
) -> Phrase | None:
    """Return the reason why a run was not verified as cold; `None` if it was."""
    if before is None or after is None:
        return NOT_REPORTED
    if before > COLD_SHARE:
        return Phrase(PhraseCode.STAYED_IN_MEMORY, before)
    if not device_bytes:
        return Phrase(PhraseCode.NOTHING_READ)
    brought = max(0.0, after - before) * size
    if device_bytes < FROM_DEVICE * brought:
        return Phrase(PhraseCode.ANOTHER_READS_TOO, (device_bytes, brought))
    return None


def read_file(name: str) -> None:
    """Read a file, so that its pages are in memory. Raises `OSError`: it cannot be read."""
    buffer = bytearray(STEP)
    with open(name, "rb", buffering=0) as file:  # noqa: PTH123 -- names are strings
        while file.readinto(buffer):
            pass
