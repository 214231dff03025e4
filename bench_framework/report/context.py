"""Everything that a report is made from, and the questions that its sections ask of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench_framework.model.judgement import (
    BestGroup,
    CellState,
    Claim,
    Comparison,
    Judgement,
    NoiseFloor,
    Summary,
)
from bench_framework.model.plan import Cell, Input, Plan, Role, Variant, Word
from bench_framework.report.numbers import DASH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bench_framework.model.imported import Imported
    from bench_framework.model.policies import Metric
    from bench_framework.model.profile import Profile
    from bench_framework.model.run import Block, Build, Event, Host, PreparedInput

PROGRAM_BUILD = "program"


@dataclass(frozen=True)
class ReportData:
    """A record, judged. Pure data: the same values give the same bytes.

    Not slotted: the indexes below are computed once per report.

    Attributes:
        record_id: such as ``20260302T1704Z``.
        started: UTC, ISO 8601.
        finished: UTC, ISO 8601; empty if the record was cut.
        blocks: every block of the record, warm-up rounds too, in order of execution.
        events: warnings of plan, build and execution; those of analysis are in the judgement.
        commands: commands to reproduce the record, such as ``("benchctl run", …)`` as text.
        record_dir: the record's folder as the user may type it; empty if it is not on disk.
        scenario_text: the scenario as read, embedded so that a report can be run again.
    """

    plan: Plan
    judgement: Judgement
    builds: tuple[Build, ...]
    inputs: tuple[PreparedInput, ...]
    host: Host
    blocks: tuple[Block, ...]
    record_id: str
    started: str
    finished: str
    commands: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    record_dir: str = ""
    scenario_text: str = ""
    tuning: Mapping[str, Any] | None = None
    """What `plan.tuning` printed."""
    profiles: tuple[Profile, ...] = ()
    """What samplers saw, in the order of the plan's cells."""
    imported: Imported | None = None
    """The figures of an imported set, in place of blocks."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Further facts for the masthead, such as ``{"Commit": "3c1f9ab, clean"}``."""

    # -- indexes -------------------------------------------------------------------------------

    @cached_property
    def _summaries(self) -> dict[tuple[str, Metric], Summary]:
        return {(s.cell_id, s.metric): s for s in self.judgement.summaries}

    @cached_property
    def _comparisons(self) -> dict[tuple[str, Metric], Comparison]:
        wanted = {"headline", "memory", "exact"}
        found: dict[tuple[str, Metric], Comparison] = {}
        for c in self.judgement.comparisons:
            baseline = self.plan.baseline_cell(self.plan.cell(c.cell_id).input_id)
            if c.family in wanted and baseline is not None and c.ref_cell_id == baseline.id:
                found[c.cell_id, c.metric] = c
        return found

    @cached_property
    def _states(self) -> dict[str, CellState]:
        return {state.cell_id: state for state in self.judgement.states}

    @cached_property
    def _claims(self) -> dict[tuple[str, str | None], Claim]:
        return {
            (c.cells[0], c.metric): c
            for c in reversed(self.judgement.claims)
            if c.kind in {"comparison", "memory"} and c.cells
        }

    # -- the plan ------------------------------------------------------------------------------

    @property
    def metric(self) -> Metric:
        """The metric of the headline."""
        return self.plan.judge.headline

    def arms(self, input_id: str) -> tuple[Cell, ...]:
        """Baseline and candidates of an input; the control arm is shown with the run's quality."""
        return tuple(cell for cell in self.plan.cells_of(input_id) if cell.role is not Role.CONTROL)

    def variant_of(self, cell: Cell) -> Variant:
        """The variant that a cell runs."""
        return self.plan.variant(cell.variant_id)

    def label(self, cell_id: str) -> str:
        """A cell's variant by its label."""
        return self.variant_of(self.plan.cell(cell_id)).label

    @property
    def baseline(self) -> Variant:
        """The (first) baseline."""
        return self.plan.variant(self.plan.baseline_id)

    def baseline_on(self, item: Input) -> Variant:
        """The baseline of an input: at two revisions each input has its own."""
        cell = self.plan.baseline_cell(item.id)
        return self.variant_of(cell) if cell is not None else self.baseline

    def is_baseline(self, variant_id: str) -> bool:
        """Whether a variant is the (first) baseline, or that of an input."""
        return variant_id == self.plan.baseline_id or any(
            cell.variant_id == variant_id and cell.role is Role.BASELINE for cell in self.plan.cells
        )

    # -- what was measured ---------------------------------------------------------------------

    def summary(self, cell_id: str, metric: Metric) -> Summary | None:
        """Centre and spread of a metric of a cell."""
        return self._summaries.get((cell_id, metric))

    def comparison(self, cell_id: str, metric: Metric) -> Comparison | None:
        """A cell against its baseline."""
        return self._comparisons.get((cell_id, metric))

    def between(self, cell_id: str, ref_cell_id: str, metric: Metric) -> Comparison | None:
        """A cell against a reference, the baseline or a further one."""
        wanted = ("headline", "reference", "exact")
        return next(
            (
                c
                for c in self.judgement.comparisons
                if c.family in wanted
                and (c.cell_id, c.ref_cell_id, c.metric) == (cell_id, ref_cell_id, metric)
            ),
            None,
        )

    def control(self, input_id: str, metric: Metric) -> Comparison | None:
        """The control arm against the baseline."""
        cell = self.plan.control_cell(input_id)
        return next(
            (
                c
                for c in self.judgement.comparisons
                if cell is not None
                and c.family == "control"
                and c.cell_id == cell.id
                and c.metric == metric
            ),
            None,
        )

    def state(self, cell_id: str) -> CellState:
        """What became of a cell."""
        return self._states.get(cell_id, CellState(cell_id, "not-started", 0, 0))

    def floor(self, input_id: str, metric: Metric) -> NoiseFloor | None:
        """The noise floor of an input."""
        floors = self.judgement.floors
        return next((f for f in floors if f.input_id == input_id and f.metric == metric), None)

    def best(self, input_id: str) -> BestGroup | None:
        """The best group of an input by the headline's metric; `None` if nothing was compared."""
        groups = (
            g for g in self.judgement.best if g.input_id == input_id and g.metric == self.metric
        )
        return next((g for g in groups if g.cell_ids), None)

    def ahead(self, input_id: str) -> frozenset[str]:
        """The cells of the best group, if somebody measured is beaten by it: where all are best, nobody stands out."""
        group = self.best(input_id)
        if group is None:
            return frozenset()
        compared = {
            cell.id
            for cell in self.arms(input_id)
            if cell.role is Role.BASELINE
            or (
                (found := self.comparison(cell.id, self.metric)) is not None
                and found.shown is not None
            )
        }
        return frozenset(group.cell_ids) if compared - set(group.cell_ids) else frozenset()

    def prepared(self, input_id: str) -> PreparedInput | None:
        """The input on disk."""
        return next((p for p in self.inputs if p.input_id == input_id), None)

    def input_bytes(self, input_id: str) -> int | None:
        """Size of an input, measured before planned."""
        prepared = self.prepared(input_id)
        if prepared is not None and prepared.size_bytes:
            return prepared.size_bytes
        dataset = self.plan.input(input_id).dataset
        return dataset.size_bytes if dataset else None

    def handled_bytes(self, input_id: str) -> int | None:
        """Bytes that every run handled: the size of the input, or what all workers of programs without one report."""
        size = self.input_bytes(input_id)
        if size is not None:
            return size
        cells = {cell.id for cell in self.plan.cells_of(input_id)}
        told = {r.bytes for b in self.measured_blocks if b.cell_id in cells for r in b.receipts}
        return next(iter(told)) if len(told) == 1 else None

    def build_of(self, variant: Variant) -> Build | None:
        """The binary of a variant."""
        wanted = variant.build.id if variant.build else PROGRAM_BUILD
        return next((b for b in self.builds if b.id == wanted), None)

    @cached_property
    def measured_blocks(self) -> tuple[Block, ...]:
        """Blocks that count: not warm-up, and finished."""
        return tuple(b for b in self.blocks if not b.warmup and b.status == "ok")

    @cached_property
    def all_events(self) -> tuple[Event, ...]:
        """Warnings and remarks of execution and of analysis, each once."""
        return tuple(dict.fromkeys((*self.events, *self.judgement.events)))

    @property
    def warnings(self) -> tuple[Event, ...]:
        """Events that are more than a remark."""
        return tuple(e for e in self.all_events if e.severity != "note")

    # -- claims --------------------------------------------------------------------------------

    def claims(self, *kinds: str, item: Input | None = None) -> tuple[Claim, ...]:
        """Claims of these kinds in order.

        With `item` only those about that input: a record of one input names it in no claim.
        """
        return tuple(
            c
            for c in self.judgement.claims
            if c.kind in kinds and (item is None or self._is_about(c, item))
        )

    def _is_about(self, claim: Claim, item: Input) -> bool:
        named = dict(claim.scope).get("input")
        return len(self.plan.inputs) == 1 if named is None else named == item.label

    def ratio_words(self, item: Input) -> str:
        """What the headline's ratios are: turned over where larger values are better."""
        name = self.baseline_on(item).label
        return (
            f"{name} ÷ variant (below 1 is better)"
            if self.higher(self.metric)
            else f"variant ÷ {name}"
        )

    def higher(self, metric: Metric) -> bool:
        """Whether larger values of a metric are better; its ratios are turned over then."""
        return any(
            c.direction == "higher" for c in self.judgement.comparisons if c.metric == metric
        )

    def own_unit(self, metric: Metric) -> str:
        """The unit of a metric that the scenario declares or a worker announces; empty where none does."""
        declared = next((own.unit for own in self.plan.metrics if own.name == metric), None)
        if declared is not None:
            return declared
        for build in self.builds:
            said = (build.describe or {}).get("metrics")
            for entry in said if isinstance(said, list) else ():
                if isinstance(entry, dict) and entry.get("name") == metric:
                    return str(entry.get("unit", ""))
        return ""

    def claim_of(self, cell_id: str, metric: Metric) -> Claim | None:
        """The claim that compares a cell with the baseline, if there is one."""
        return self._claims.get((cell_id, metric))

    def claim_id(self, cell_id: str, metric: Metric) -> str | None:
        """Its id."""
        claim = self.claim_of(cell_id, metric)
        return claim.id if claim else None

    # -- texts that several sections need ------------------------------------------------------

    def input_name(self, item: Input) -> str:
        """An input's label; a dash for a program that reads none."""
        return item.label if self.reads(item) and item.label else DASH

    def reads(self, item: Input) -> bool:
        """Whether there is an input at all: a scenario may time programs that read nothing."""
        return bool(item.values) or item.dataset is not None

    def on_input(self, item: Input, words: str = "input ") -> str:
        """``input 10MiB``, to be put into a caption; empty where the programs read none."""
        return f"{words}{item.label}" if self.reads(item) and item.label else ""

    def cold(self, item: Input) -> str:
        """``, cold cache`` for captions, where every measured arm was seen to begin with one; empty elsewhere."""
        states = [
            s for cell in self.arms(item.id) if (s := self.state(cell.id)).state == "measured"
        ]
        return ", cold cache" if states and all(s.cache == "cold" for s in states) else ""

    def command(self, cell: Cell) -> str:
        """A cell's command as a shell takes it, with the paths that were used."""
        build = self.build_of(self.variant_of(cell))
        prepared = self.prepared(cell.input_id)
        bin_path = (build.path if build else None) or (self.plan.program or ("{bin}",))[0]
        tuning = f"{self.record_dir}/tuning.json" if self.record_dir else "{tuning}"
        slots = {
            "bin": bin_path,
            "input": (prepared.path if prepared else None) or "{input}",
            "tuning": tuning,
        }
        words = [_filled(word, slots) for word in cell.command]
        env = [f"{name}={shlex.quote(value)}" for name, value in cell.env]
        stdin = ["<", shlex.quote(_filled(cell.stdin, slots))] if cell.stdin else []
        line = words[0] if cell.shell and len(words) == 1 else shlex.join(words)
        return " ".join([*env, line, *stdin])

    def replication(self, cell_ids: Iterable[str]) -> str:
        """``40×1``: rounds × runs per round over cells, a range where they differ."""
        pairs = [
            (s.n_rounds, s.n_runs)
            for c in cell_ids
            if (s := self.summary(c, self.metric)) and s.n_rounds
        ]
        if not pairs:
            return "0×0"
        rounds = span(n for n, _ in pairs)
        runs = span(round(total / n) for n, total in pairs)
        return f"{rounds}×{runs}"


def span(values: Iterable[int]) -> str:
    """``12`` where all are equal, else ``12–40``."""
    found = sorted(set(values))
    if not found:
        return "0"
    return str(found[0]) if len(found) == 1 else f"{found[0]}–{found[-1]}"


def _filled(word: Word, slots: Mapping[str, str]) -> str:
    return "".join(piece if isinstance(piece, str) else slots[piece.slot] for piece in word)
