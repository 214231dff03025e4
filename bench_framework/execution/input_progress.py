"""Progress of one input of a measurement."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from bench_framework.execution.target import Target
from bench_framework.model.plan import Input
from bench_framework.model.run import Answer, Block, Event
from bench_framework.store.journal import Contents


@dataclass(slots=True)
class InputProgress:
    """Progress of one input."""

    input: Input
    targets: dict[str, Target]
    """Active cells by id; a dropped cell is removed."""
    reference_id: str
    """Cell that gives the reference answer: the baseline, or else the first."""
    warmups: int = 0
    rounds: int = 0
    stopped: bool = False
    reference: Answer | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    """Blocks of this input per cell, without skipped ones."""
    warmup_s: dict[str, float] = field(default_factory=dict)
    """Seconds that the newest warm-up block of a cell took with everything around it, by cell id.
    It is not known of rounds before a resumption."""
    noted: set[tuple[str, str]] = field(default_factory=set)
    """Cell id and code of the events so far."""

    def resume(self, contents: Contents, cell_ids: Collection[str]) -> None:
        """Restore the progress from the journal of a record."""
        here = self.input.id
        self.warmups = contents.warmups.get(here, 0)
        self.rounds = contents.rounds.get(here, 0)
        self.stopped = contents.stopped(here)
        self.repeats = contents.repeats.get(here, {})
        for block in contents.blocks:
            if block.cell_id in cell_ids and block.status != "skipped":
                self.blocks.setdefault(block.cell_id, []).append(block)
        self.reference = self.first_answer(self.reference_id)
        self.noted = {(event.cell_id or "", event.code) for event in contents.events}

    def first_answer(self, cell_id: str) -> Answer | None:
        """Return the answer of the first good block of a cell."""
        blocks = self.blocks.get(cell_id, ())
        return next((b.answer for b in blocks if b.status == "ok" and b.answer), None)

    def new_event(self, event: Event) -> list[Event]:
        """Return the event, unless its cell already has one with this code."""
        key = (event.cell_id or "", event.code)
        if key in self.noted:
            return []
        self.noted.add(key)
        return [event]
