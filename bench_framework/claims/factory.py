"""Claims about facts of a record: scaling, memory, coverage, missing measurements."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bench_framework.claims import value_phrases
from bench_framework.compare import cell_state, same_programs
from bench_framework.model.judgement import CellState, Claim, Derived, Judgement, NoiseFloor, Scope
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan import Plan, Role
from bench_framework.model.run import Build, PreparedInput
from bench_framework.model.verdict import Verdict

MOST_NAMED: Final = 4
LEAST_SIZES: Final = 3
"""The smallest number of input sizes for which the scaling is reported."""


class Names:
    """The names of cells and inputs in sentences."""

    def __init__(self, plan: Plan, states: Sequence[CellState] = ()) -> None:
        self.plan = plan
        self.cells = {c.id: c for c in plan.cells}
        self._cold = cell_state.cold_inputs(plan, states)

    def scope(self, input_id: str) -> Scope:
        """Return the input if there are several, and the cache if every run started cold."""
        item = (("input", self.plan.input(input_id).label),) if len(self.plan.inputs) > 1 else ()
        return (*item, ("cache", "cold")) if input_id in self._cold else item

    def label(self, cell_id: str) -> str:
        """Return the name of a cell: the label of its variant."""
        cell = self.cells[cell_id]
        label = self.plan.variant(cell.variant_id).label
        return f"{label} (control)" if cell.role is Role.CONTROL else label

    def names(self, cell_ids: Sequence[str]) -> str:
        """Return the names of variants; at most the first four if there are many."""
        labels = [self.label(cell) for cell in cell_ids]
        if len(labels) <= MOST_NAMED + 1:
            return ", ".join(labels)
        return f"{', '.join(labels[:MOST_NAMED])} and {len(labels) - MOST_NAMED} more"


class Facts(Names):
    """Writer of the claims that are not comparisons."""

    def __init__(
        self,
        plan: Plan,
        judgement: Judgement,
        builds: Mapping[str, Build],
        inputs: Sequence[PreparedInput],
    ) -> None:
        super().__init__(plan, judgement.states)
        self._judgement, self._builds = judgement, builds
        self._sizes = {i.input_id: i.size_bytes for i in inputs}
        self._medians = {(s.cell_id, s.metric): s for s in judgement.summaries}

    def write(self) -> Iterator[Claim]:
        """Yield the claims in the order of the report."""
        yield from self._scaling()
        yield from self._memory_shares()
        yield from map(self._derived, (d for d in self._judgement.derived if d.value is not None))
        yield from same_programs.claims(self.plan, self._builds)
        yield self.coverage()
        yield from self._not_measured()

    def noise_floor(self, f: NoiseFloor) -> Claim:
        """Return the claim about a noise floor."""
        values: dict[str, float | int | str] = {"tripped": 1} if f.tripped else {}
        control = self.plan.control_cell(f.input_id)
        return Claim(
            "",
            "noise-floor",
            "control",
            metric=f.metric,
            scope=self.scope(f.input_id),
            estimate=f.fraction,
            noise_floor=f.fraction,
            cells=(control.id,) if control else (),
            values=values,
        )

    def _scaling(self) -> Iterator[Claim]:
        segments = Counter((s.variant_id, s.metric) for s in self._judgement.scaling)
        for s in self._judgement.scaling:
            if segments[s.variant_id, s.metric] < LEAST_SIZES - 1:
                continue
            ends = (s.from_input_id, s.to_input_id)
            start, end = (self.plan.input(i).label for i in ends)
            arms = (c for c in self.plan.cells if c.role is not Role.CONTROL)
            yield Claim(
                "",
                "scaling",
                self.plan.variant(s.variant_id).label,
                metric=s.metric,
                scope=(("input", f"{start} to {end}"),),
                estimate=s.exponent,
                lo=s.lo,
                hi=s.hi,
                level=s.level,
                cells=tuple(
                    c.id for c in arms if c.variant_id == s.variant_id and c.input_id in ends
                ),
                values={"from": start, "to": end, "word": s.word},
            )

    def _memory_shares(self) -> Iterator[Claim]:
        for cell in self.plan.cells:
            peak = self._medians.get((cell.id, PEAK_RSS))
            if peak is None or cell.role is Role.CONTROL:
                continue
            size = self._sizes.get(cell.input_id)
            values: dict[str, float | int | str] = {
                "size": value_phrases.size(peak.median, self.plan.unit_family)
            }
            if size:
                values["share"] = peak.median / size
            yield Claim(
                "",
                "memory-share",
                self.label(cell.id),
                metric=PEAK_RSS,
                scope=self.scope(cell.input_id),
                estimate=peak.median,
                lo=peak.lo,
                hi=peak.hi,
                level=0.95 if peak.lo is not None else None,
                rounds=peak.n_rounds,
                runs=peak.n_runs,
                cells=(cell.id,),
                values=values,
            )

    def _derived(self, row: Derived) -> Claim:
        return Claim(
            "",
            "derived",
            row.name.replace("_", " "),
            scope=self.scope(row.input_id),
            estimate=row.value,
            lo=row.lo,
            hi=row.hi,
            level=row.level if row.lo is not None else None,
            rounds=row.rounds,
            margin=self.plan.judge.margin_of(WALL) if row.judged else None,
            cells=row.cell_ids,
            values={
                "formula": row.formula,
                "unit": row.unit,
                "family": self.plan.unit_family,
                **({"assuming": row.assuming} if row.assuming else {}),
                **self._smallest_rate(row),
            },
        )

    def _smallest_rate(self, row: Derived) -> dict[str, float]:
        """Return the smallest rate of an input, which sets the unit of all of its rates."""
        kind = (row.input_id, "bytes/s", "")
        rows = (d for d in self._judgement.derived if (d.input_id, d.unit, d.assuming) == kind)
        rates = [d.value for d in rows if d.value is not None]
        return {"smallest": min(rates)} if row.unit == "bytes/s" and not row.assuming else {}

    def coverage(self) -> Claim:
        """Return the number of planned cells by state."""
        states = [
            s for s in self._judgement.states if self.cells[s.cell_id].role is not Role.CONTROL
        ]
        counts = Counter(s.state.replace("-", " ") for s in states)
        values: dict[str, float | int | str] = {"planned": len(states), "measured": 0, **counts}
        values["excluded"] = len(self.plan.holes)
        return Claim("", "coverage", "this record", values=values)

    def _not_measured(self) -> Iterator[Claim]:
        """Yield the excluded combinations, grouped by rule, and the cells without measurements."""
        axes = {name for item in self.plan.inputs for name, _ in item.values}
        holes: dict[tuple[str, str], list[str]] = {}
        for hole in self.plan.holes:
            where = " ".join(f"{name}={value}" for name, value in hole.values if name not in axes)
            place = " ".join(f"{name}={value}" for name, value in hole.values if name in axes)
            holes.setdefault((where or place, hole.reason), []).append(place if where else "")
        for (where, reason), places in holes.items():
            at = ", ".join(dict.fromkeys(p for p in places if p))
            subject = f"{where}, {at}" if at else where
            yield Claim("", "not-measured", subject, values={"reason": reason})
        for state in self._judgement.states:
            if state.state in ("failed", "not-started"):
                yield self._missing(state)

    def _missing(self, state: CellState) -> Claim:
        label = self.cells[state.cell_id].label
        verdict = Verdict.FAILED if state.state == "failed" else None
        values = {"reason": state.reason or state.state}
        return Claim(
            "", "not-measured", label, verdict=verdict, cells=(state.cell_id,), values=values
        )
