"""The data of a report, and the queries that its sections share."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from bench_framework.compare.cell_state import exact_value, other_outputs
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import WALL, is_exact
from bench_framework.model.plan.arguments import INPUT, filled
from bench_framework.model.plan.plan import Cell, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.description import Description, announced_metrics
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import (
    Block,
    Build,
    Event,
    Host,
    PreparedInput,
    outputs_differ,
)
from bench_framework.model.result.judgement import (
    BestGroup,
    CellState,
    Comparison,
    Judgement,
    NoiseFloor,
    Summary,
    baseline_comparisons,
    judged_pairs,
)
from bench_framework.model.verdict import Interval
from bench_framework.store.journal import Contents
from bench_framework.text.figures import in_times
from bench_framework.text.numbers import DASH, format_percent


@dataclass(frozen=True)
class ReportData:
    """A record and its judgement. The same values give the same bytes of a report.

    The class has no slots, because the indexes below are cached once per report.

    Attributes:
        contents: the record as measured, with its host. Its events are warnings of plan, build and execution;
            the judgement contains those of the analysis.
        commands: commands to reproduce the record, such as ``("benchctl run", …)`` as text.
        record_dir: scenario and id, as in ``benchctl profile search/20260302T1704Z``; empty if it is
            not on disk. It is not the path of the record's folder, which may be moved.
        scenario_text: the scenario as read, embedded so that a report can be run again.
    """

    plan: Plan
    judgement: Judgement
    contents: Contents
    commands: tuple[str, ...] = ()
    record_dir: str = ""
    scenario_text: str = ""
    tuning: Mapping[str, Any] | None = None
    """Output of `plan.tuning`."""
    profiles: tuple[Profile, ...] = ()
    """Profiles of the samplers, in the order of the plan's configurations."""
    gate: str = ""
    """Result of the gate in words; empty if none judged the record."""
    wording: str = ""
    """Digest of the scenario whose words replace those of the record; empty for the record's own."""

    @cached_property
    def _summaries(self) -> dict[tuple[str, Metric], Summary]:
        return {(s.cell_id, s.metric): s for s in self.judgement.summaries}

    @cached_property
    def _comparisons(self) -> dict[tuple[str, Metric], Comparison]:
        return baseline_comparisons(self.plan, self.judgement.comparisons)

    @cached_property
    def _states(self) -> dict[str, CellState]:
        return {state.cell_id: state for state in self.judgement.states}

    @cached_property
    def _claims_of_pairs(self) -> dict[tuple[frozenset[str], str | None], Claim]:
        return {(frozenset(c.cells), c.metric): c for c in self.claims("comparison", "reference")}

    @cached_property
    def _claims(self) -> dict[tuple[str, str | None], Claim]:
        return {
            (c.cells[0], c.metric): c
            for c in reversed(self.judgement.claims)
            if c.kind in {"comparison", "memory"} and c.cells
        }

    @property
    def sessions(self) -> int:
        """Return the number of sessions that were measured, or begun."""
        rounds = max((state.rounds for state in self.judgement.states), default=0)
        return self.plan.measure.sessions_in(rounds)

    @property
    def metric(self) -> Metric:
        """Return the metric of the headline."""
        return self.plan.judge.headline

    @property
    def margin(self) -> float:
        """Return the margin of the headline metric, as a fraction."""
        return self.plan.judge.margin_of(self.metric)

    def arms(self, input_id: str) -> tuple[Cell, ...]:
        """Return baseline and candidates of an input, without the A/A control."""
        return tuple(cell for cell in self.plan.cells_of(input_id) if cell.role is not Role.CONTROL)

    def measured(self, input_id: str) -> tuple[Cell, ...]:
        """Return baseline and candidates of an input that were measured."""
        return tuple(c for c in self.arms(input_id) if self.state(c.id).state == "measured")

    def variant_of(self, cell: Cell) -> Variant:
        """Return the variant of a configuration."""
        return self.plan.variant(cell.variant_id)

    def label(self, cell_id: str) -> str:
        """Return the label of a configuration's variant."""
        return self.variant_of(self.plan.cell(cell_id)).label

    def baseline_on(self, item: Input) -> Variant:
        """Return the baseline of an input. At two revisions, each input has a separate one."""
        cell = self.plan.baseline_cell(item.id)
        return self.variant_of(cell) if cell is not None else self.plan.baseline

    def is_baseline(self, variant_id: str) -> bool:
        """Return whether a variant is the (first) baseline, or the baseline of an input."""
        return variant_id == self.plan.baseline_id or any(
            cell.variant_id == variant_id and cell.role is Role.BASELINE for cell in self.plan.cells
        )

    @property
    def level(self) -> str:
        """Return the family-wise level of the results, such as ``5 %``."""
        return format_percent(self.judgement.looks.level)

    def summary(self, cell_id: str, metric: Metric) -> Summary | None:
        """Return the summary of a metric of a configuration. That of a binary has one value."""
        return self._summaries.get((cell_id, metric)) or self._of_binary(cell_id, metric)

    def _of_binary(self, cell_id: str, metric: Metric) -> Summary | None:
        build = self.build_of(self.variant_of(self.plan.cell(cell_id)))
        value = exact_value(build, metric)
        if value is None:
            return None
        ends = value, value
        return Summary(cell_id, metric, 0, 0, 0, value, *ends, value, None, *ends, None)

    def baseline_summary(self, input_id: str, metric: Metric) -> Summary | None:
        """Return the summary of a metric of the baseline of an input."""
        baseline = self.plan.baseline_cell(input_id)
        return self.summary(baseline.id, metric) if baseline is not None else None

    def summaries(self, cells: Iterable[Cell], metric: Metric) -> list[Summary]:
        """Return the summaries of a metric of those configurations that have one."""
        return [s for cell in cells if (s := self.summary(cell.id, metric)) is not None]

    def comparison(self, cell_id: str, metric: Metric) -> Comparison | None:
        """Return the comparison of a configuration with its baseline."""
        return self._comparisons.get((cell_id, metric))

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Comparison]:
        """The comparison of each pair of cells in the main metric, in both orders."""
        return judged_pairs(self.judgement.every)[self.metric]

    @cached_property
    def in_times(self) -> bool:
        """True if changes of the main metric are factors on the whole page, see `figures.in_times`."""
        return in_times(self.plan, self.judgement.comparisons)

    def control(self, input_id: str, metric: Metric) -> Comparison | None:
        """Return the comparison of the A/A control with the baseline."""
        control = self.plan.control_cell(input_id)
        key = ("control", control.id if control else "", metric)
        comparisons = self.judgement.comparisons
        return next((c for c in comparisons if (c.family, c.cell_id, c.metric) == key), None)

    def state(self, cell_id: str) -> CellState:
        """Return the state of a configuration."""
        return self._states.get(cell_id, CellState(cell_id, "not-started", 0, 0))

    def floor(self, input_id: str, metric: Metric) -> NoiseFloor | None:
        """Return the noise floor of an input."""
        floors = self.judgement.floors
        return next((f for f in floors if f.input_id == input_id and f.metric == metric), None)

    def best(self, input_id: str) -> BestGroup | None:
        """Return the best group of an input by the headline metric, `None` without comparisons."""
        groups = (g for g in self.judgement.best if g.input_id == input_id and g.cell_ids)
        return next((g for g in groups if g.metric == self.metric), None)

    def ahead(self, input_id: str) -> frozenset[str]:
        """Return the best group's configurations, none if these are all of the measured ones."""
        group = self.best(input_id)
        best = frozenset(group.cell_ids if group else ())
        for cell in self.arms(input_id):
            compared = self.comparison(cell.id, self.metric)
            judged = cell.role is Role.BASELINE or (compared and compared.shown)
            if judged and cell.id not in best:
                return best
        return frozenset()

    def prepared(self, input_id: str) -> PreparedInput | None:
        """Return the dataset on disk."""
        return next((p for p in self.contents.inputs if p.input_id == input_id), None)

    def input_bytes(self, input_id: str) -> int | None:
        """Return the size of an input in bytes: measured if available, else planned."""
        prepared, dataset = self.prepared(input_id), self.plan.input(input_id).dataset
        planned = dataset.size_bytes if dataset else None
        return (prepared.size_bytes if prepared else None) or planned

    def handled_bytes(self, input_id: str) -> int | None:
        """Return the bytes that every run processed.

        It is the size of the input, or for programs without input the number that all workers
        report.
        """
        cells = {cell.id for cell in self.plan.cells_of(input_id)}
        sizes = {r.bytes for b in self.measured_blocks if b.cell_id in cells for r in b.receipts}
        size = self.input_bytes(input_id)
        return sizes.pop() if size is None and len(sizes) == 1 else size

    def build_of(self, variant: Variant) -> Build | None:
        """Return the build of a variant."""
        return next((b for b in self.contents.builds if b.id == variant.build_id), None)

    @property
    def host(self) -> Host:
        """Return the machine that measured the record."""
        assert self.contents.host is not None
        return self.contents.host

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Return every sample of the plan, also those of warm-up rounds, in the order of execution.

        `compare` removes configurations from the plan, but not their samples from the record.
        """
        planned = {cell.id for cell in self.plan.cells}
        return tuple(block for block in self.contents.blocks if block.cell_id in planned)

    @cached_property
    def measured_blocks(self) -> tuple[Block, ...]:
        """Return the samples that count: finished, and not of a warm-up round."""
        return tuple(b for b in self.blocks if not b.warmup and b.status == "ok")

    def minutes(self, block: Block) -> float:
        """Return the minutes from the start of the first measured sample to that of another."""
        blocks = (self.measured_blocks[0], block)
        first, start = (datetime.fromisoformat(b.started_at).timestamp() for b in blocks)
        return (start - first) / 60

    @cached_property
    def all_events(self) -> tuple[Event, ...]:
        """Return warnings and remarks of execution and of analysis, without duplicates."""
        return tuple(dict.fromkeys((*self.contents.events, *self.judgement.events)))

    @property
    def warnings(self) -> tuple[Event, ...]:
        """Return the events that are warnings or errors."""
        return tuple(e for e in self.all_events if e.severity != "note")

    @property
    def outputs_differ(self) -> bool:
        """Return whether variants with other outputs than the baseline's are compared (BX334)."""
        return outputs_differ(self.contents.events)

    @cached_property
    def other_outputs(self) -> frozenset[str]:
        """Return the ids of the compared cells whose output differs from the baseline's."""
        return frozenset(cell.id for cell in other_outputs(self.plan, self.contents.events)[1])

    def claims(self, *kinds: str, item: Input | None = None) -> tuple[Claim, ...]:
        """Return claims of the given kinds in order.

        With `item`, only claims about that input. If the record has one input, no claim names it.
        """
        claims = (c for c in self.judgement.claims if c.kind in kinds)
        if item is None:
            return tuple(claims)
        unnamed = item.label if len(self.plan.inputs) == 1 else None
        return tuple(c for c in claims if dict(c.scope).get("input", unnamed) == item.label)

    def of_values(self, interval: Interval | None) -> Interval | None:
        """Return the ratio of the headline's values, `None` without a bounded one."""
        if interval is None or not interval.bounded:
            return None
        return interval.of_values(higher=self.higher)

    @cached_property
    def higher(self) -> bool:
        """True if larger values of the main metric are better."""
        return self.judgement.higher(self.metric)

    def unit_of(self, metric: Metric) -> str:
        """Return the unit of a metric, otherwise ""."""
        return self.plan.unit_of(metric) or str(self.announced(metric).get("unit", ""))

    def announced(self, metric: Metric) -> Description:
        """Return what a worker announced of a metric, such as its unit; empty if it did not."""
        for build in self.contents.builds:
            for entry in announced_metrics(build):
                if entry["name"] == metric:
                    return entry
        return {}

    def claim_of(self, cell_id: str, metric: Metric) -> Claim | None:
        """Return the claim that compares a configuration with the baseline, or `None`."""
        return self._claims.get((cell_id, metric))

    def claim_id(self, cell_id: str, metric: Metric) -> str | None:
        """Return the id of the claim that compares a configuration with the baseline."""
        claim = self.claim_of(cell_id, metric)
        return claim.id if claim else None

    def claim_id_between(self, comparison: Comparison) -> str | None:
        """Return the id of the claim about a comparison with any baseline, in either order."""
        cells = frozenset((comparison.cell_id, comparison.ref_cell_id))
        claim = self._claims_of_pairs.get((cells, comparison.metric))
        return claim.id if claim else None

    @property
    def page_files(self) -> tuple[str, ...]:
        """Return the path of the page; nothing if the folder is unknown."""
        folder = self.record_dir.rstrip("/")
        return (f"{folder}/report.html",) if folder else ()

    def input_name(self, item: Input) -> str:
        """Return the label of an input, or a dash for a program without input."""
        return item.name or DASH

    def between_revisions(self, cell: Cell) -> str:
        """Return the name of a row that compares two revisions: the input or, without one, the scenario."""
        return self.plan.input(cell.input_id).name or self.plan.name

    def on_input(self, item: Input, words: str = "input ") -> str:
        """Return ``input 10MiB`` for captions, or nothing if there is no other input: the first line states it."""
        return f"{words}{item.name}" if item.name and len(self.plan.inputs) > 1 else ""

    def place(self, cell: Cell) -> str:
        """Return the label of a configuration, which names only the side at two revisions, with its input."""
        several = self.plan.revisions is not None
        where = self.on_input(self.plan.input(cell.input_id), ", ") if several else ""
        return f"{cell.label}{where}"

    def cold(self, item: Input) -> str:
        """Return ``, cold cache`` if every configuration started with one, else nothing."""
        states = [self.state(cell.id) for cell in self.measured(item.id)]
        return ", cold cache" if states and all(s.cache == "cold" for s in states) else ""

    def command(self, cell: Cell) -> str:
        """Return the command of a configuration for a shell, with the paths that were used."""
        build = next((b for b in self.contents.builds if b.id == self.plan.build_id(cell)), None)
        prepared = self.prepared(cell.input_id)
        files = prepared.files if prepared else ()
        path = (prepared.path if prepared else None) or "{input}"
        slots = {
            "bin": (build.path if build else None) or (self.plan.program or ("{bin}",))[0],
            "input": shlex.join(files) if files and cell.shell else path,
            "tuning": f"results/{self.record_dir}/tuning.json" if self.record_dir else "{tuning}",
        }
        words: list[str] = []
        for word in cell.command:
            words += files if files and word == (INPUT,) else (filled(word, slots),)
        server = cell.server and shlex.join(filled(word, slots) for word in cell.server.command)
        env = [f"{name}={shlex.quote(value)}" for name, value in cell.env]
        stdin = ["<", shlex.quote(filled(cell.stdin, slots))] if cell.stdin else []
        line = words[0] if cell.shell and len(words) == 1 else shlex.join(words)
        return " ".join([*env, *([server, "&"] if server else []), line, *stdin])

    def replication(self, cell_ids: Iterable[str]) -> str:
        """Return rounds × runs per round: ``40×1``, or a range if configurations differ."""
        return "×".join(self.rounds_and_runs(cell_ids))

    def rounds_and_runs(self, cell_ids: Iterable[str]) -> tuple[str, str]:
        """Return the rounds and the timed runs per round, each as a number or a range."""
        metric = WALL if is_exact(self.metric) else self.metric
        known = [s for c in cell_ids if (s := self.summary(c, metric)) and s.n_rounds]
        runs = span(round(s.n_runs / s.n_rounds) for s in known)
        return span(s.n_rounds for s in known), runs


def span(values: Iterable[int]) -> str:
    """Return ``12`` if all values are equal, else a range such as ``12–40``."""
    distinct = sorted(set(values))
    if not distinct:
        return "0"
    return str(distinct[0]) if len(distinct) == 1 else f"{distinct[0]}–{distinct[-1]}"
