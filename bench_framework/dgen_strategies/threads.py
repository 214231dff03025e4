"""``python-threads``: one thread fills the buffers of a pool, others write them; queues between."""

from __future__ import annotations

import queue
import threading
from time import monotonic_ns
from typing import TYPE_CHECKING

from bench_framework.dgen_strategies import work as steps
from bench_framework.dgen_strategies.evidence import Evidence
from bench_framework.dgen_strategies.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Item = TypeVar("Item")


class Crew:
    """A producer and its consumers. A slot of the pool is always in one place: a queue, or one thread's hands."""

    def __init__(self, work: steps.Work) -> None:
        self.work = work
        self.buffers = steps.pool(work.options.buffer, work.options.buffers)
        self.free: queue.Queue[int | None] = queue.Queue()
        """Slots to fill; None when the producer must not wait any longer."""
        self.filled: queue.Queue[tuple[int, int, int] | None] = queue.Queue()
        """Block, slot and bytes to write; None when no more will come."""
        self.failure: BaseException | None = None
        self.left: list[Evidence] = []

    def run(self) -> Evidence:
        """Write every block. The calling thread only waits, so that Ctrl-C reaches it at once.

        Raises:
            Fault: the writing ended early.
        """
        for slot in range(len(self.buffers)):
            self.free.put(slot)
        producer = threading.Thread(target=self._guarded, args=(self._produce,), name="producer")
        writers = [
            threading.Thread(target=self._guarded, args=(self._write,), name=f"writer-{number}")
            for number in range(self.work.options.threads)
        ]
        started: list[threading.Thread] = []
        try:
            for thread in (*writers, producer):
                try:
                    thread.start()
                except RuntimeError as error:
                    message = f"cannot start a thread: {error}"
                    raise Fault(message) from error
                started.append(thread)
            for thread in started:
                thread.join()
        finally:
            # Nothing to do if all went well: then every thread has ended.
            self._stop()
            for thread in started:
                thread.join()
        if self.failure is not None:
            raise self.failure
        whole = Evidence()
        for seen in self.left:
            whole.merge(seen)
        return whole

    def _guarded(self, task: Callable[[Evidence], None]) -> None:
        seen = Evidence()
        try:
            task(seen)
        except BaseException as error:  # noqa: BLE001 -- raised again by the thread that waits
            self.failure = self.failure or error
            self._stop()
        self.left.append(seen)

    def _stop(self) -> None:
        self.work.stopped.set()
        self.free.put(None)
        for _ in range(self.work.options.threads):
            self.filled.put(None)

    def _produce(self, seen: Evidence) -> None:
        for block in range(self.work.options.blocks):
            slot = _wait(seen, self.free)
            if slot is None or self.work.stopped.is_set():
                return
            padded = steps.fill(self.work, seen, block, slot, self.buffers[slot])
            self.filled.put((block, slot, padded))
        for _ in range(self.work.options.threads):
            self.filled.put(None)

    def _write(self, seen: Evidence) -> None:
        while (item := _wait(seen, self.filled)) is not None and not self.work.stopped.is_set():
            block, slot, padded = item
            steps.write(self.work, seen, block, self.buffers[slot][:padded])
            self.free.put(slot)


def run(work: steps.Work) -> Evidence:
    """Write every block with a producer and consumers.

    Raises:
        Fault: the writing ended early.
    """
    return Crew(work).run()


def _wait(seen: Evidence, items: queue.Queue[Item]) -> Item:
    """The next item; the time until it comes counts as waiting."""
    start = monotonic_ns()
    item = items.get()
    seen.wait += monotonic_ns() - start
    return item
