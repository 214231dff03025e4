"""Two records that are compared: their anchors, the differences between the machines, and the result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bench_framework.compare import same_programs
from bench_framework.compare.samples import Sample
from bench_framework.compare.stage import runs_of
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.reasons import Difference
from bench_framework.model.record.machine import format_variables
from bench_framework.model.record.run import Build, Host, PreparedInput
from bench_framework.model.result.judgement import CellState, Comparison
from bench_framework.store.journal import Contents

MatchRole = Literal["anchor", "changed"]
ChangedPart = Literal["code", "unknown-code", "command", "input"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two records, with the data that the comparison needs."""

    record_id: str
    plan: Plan
    builds: Mapping[str, Build]
    inputs: Mapping[str, PreparedInput]
    """Input id → prepared input."""
    host: Host
    samples: Mapping[str, Sample]
    states: Mapping[str, CellState]
    """Cell id → state."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Cell id → its most frequent answer."""

    def build(self, cell: Cell) -> Build | None:
        """Return the build of a cell's program."""
        return self.builds.get(self.plan.build_id(cell))

    def code(self, cell: Cell) -> str | None:
        """Return the digest of a cell's code without symbol names, `None` if unknown."""
        build = self.build(cell)
        return None if build is None or not build.ok else build.code_sha256 or build.sha256

    def digest(self, cell: Cell) -> str | None:
        """Return the digest of a cell's input: empty without an input, `None` if unknown."""
        if self.plan.input(cell.input_id).dataset is None:
            return ""
        prepared = self.inputs.get(cell.input_id)
        return prepared.sha256 if prepared is not None else None


@dataclass(frozen=True, slots=True)
class BridgedCell:
    """A cell of the later record and its counterpart in the earlier record, on one metric.

    The comparison's candidate is the cell of the later record. For an anchor, the ratio is later ÷
    earlier. For a changed cell, the ratio is that of its ratios to the anchors of its record.
    """

    label: str
    """Label of the configuration in the later record."""
    input: str
    """Label of the input. It is empty if the later record has only one input."""
    role: MatchRole
    """`anchor`: equal in both records; `changed`: something differs."""
    comparison: Comparison
    """Comparison of the two cells."""
    before: float | None
    """Median over the rounds of the earlier record, in the metric's unit. For an exact metric, it
    is the value."""
    after: float | None
    """The same figure of the later record."""
    change: tuple[ChangedPart, ...] = ()
    """The parts that differ between the two cells."""


@dataclass(frozen=True, slots=True)
class UnmatchedCell:
    """A cell that only one of the records has."""

    label: str
    """Label of the configuration."""
    record: str
    """Id of the record."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """The comparison of two records of one machine. It is exploratory: no gate reads it."""

    before_id: str
    """Id of the earlier record."""
    after_id: str
    """Id of the later record."""
    conditions: tuple[Difference, ...]
    """Differences of the machine that forbid a comparison of times."""
    remarks: tuple[Difference, ...]
    """Differences that are reported and do not forbid a comparison."""
    cells: tuple[BridgedCell, ...]
    """Configurations that both records have."""
    unmatched: tuple[UnmatchedCell, ...]
    """Configurations of one record only."""
    family: int
    """Number of comparisons of changed cells, which share the level."""
    level: float
    """Family-wise α."""
    margin: float
    """Differences within ± this fraction count as none."""
    forced: bool = False
    """True if the times are compared in spite of `conditions`."""


def side(record_id: str, plan: Plan, contents: Contents, host: Host) -> Side:
    """Return a record in the form that the comparison needs."""
    builds = contents.builds_by_id
    inputs = {given.input_id: given for given in contents.inputs}
    runs = runs_of(plan, contents.blocks, builds)
    states, answers = {s.cell_id: s for s in runs.states}, dict[str, str]()
    for cell, sample in runs.samples.items():
        given = [b.answer for b in sample.blocks if b.answer and b.answer.source != "none"]
        if given:
            answers[cell] = Counter(answer.digest for answer in given).most_common(1)[0][0]
    return Side(record_id, plan, builds, inputs, host, runs.samples, states, answers)


@dataclass(frozen=True, slots=True)
class Match:
    """A cell of the later record and its counterpart in the earlier one."""

    before: Cell
    after: Cell
    role: MatchRole
    change: tuple[ChangedPart, ...] = ()


def matches(before: Side, after: Side) -> tuple[Match, ...]:
    """Return every cell that both records have, in the order of the later record.

    A cell with equal code, command and input did not change, so it is an anchor. A cell with equal
    axis values that differs in code, command or input is "changed".
    """
    earlier = {cell.id: cell for cell in before.plan.cells if cell.role is not Role.CONTROL}
    same = {key: c for c in reversed(earlier.values()) if (key := _identity(before, c)) is not None}
    pairs = []
    for cell in (cell for cell in after.plan.cells if cell.role is not Role.CONTROL):
        key = _identity(after, cell)
        other = earlier.get(cell.id) or same.get(key)
        if other is None:
            continue
        if key is None or _identity(before, other) != key:
            change = _difference(before, other, after, cell)
            pairs.append(Match(other, cell, "changed", change))
        else:
            pairs.append(Match(other, cell, "anchor"))
    return tuple(pairs)


def unmatched(before: Side, after: Side, pairs: Sequence[Match]) -> tuple[UnmatchedCell, ...]:
    """Return the cells without counterpart."""
    matched_ids = {id(cell) for match in pairs for cell in (match.before, match.after)}
    return tuple(
        UnmatchedCell(name(one.plan, cell), one.record_id)
        for one in (before, after)
        for cell in one.plan.cells
        if cell.role is not Role.CONTROL and id(cell) not in matched_ids
    )


def name(plan: Plan, cell: Cell) -> str:
    """Return the name of a cell: its variant, and its input if there are several."""
    label, item = plan.variant(cell.variant_id).label, plan.input(cell.input_id).label
    return f"{label}, {item}" if len(plan.inputs) > 1 else label


def _identity(one: Side, cell: Cell) -> object | None:
    """Return the properties that identify a cell, or `None` if a digest is missing."""
    code, digest = one.code(cell), one.digest(cell)
    if code is None or digest is None:
        return None
    return code, same_programs.work(cell), digest


def _difference(before: Side, earlier: Cell, after: Side, cell: Cell) -> tuple[ChangedPart, ...]:
    code, other = before.code(earlier), after.code(cell)
    parts: list[ChangedPart] = []
    if code is None or other is None:
        parts.append("unknown-code")
    elif code != other:
        parts.append("code")
    if same_programs.work(earlier) != same_programs.work(cell):
        parts.append("command")
    if before.digest(earlier) != after.digest(cell) or before.digest(earlier) is None:
        parts.append("input")
    return tuple(parts)


def conditions(before: Host, after: Host) -> tuple[Difference, ...]:
    """Return the differences between two machines that make times not comparable."""
    return _differences(
        ("CPU", before.cpu, after.cpu),
        ("cores", before.cores, after.cores),
        ("kernel", before.kernel.split(".", 1)[0], after.kernel.split(".", 1)[0]),
        ("data_filesystem", before.data_filesystem, after.data_filesystem),
        ("results_filesystem", before.results_filesystem, after.results_filesystem),
        ("governor", before.governor, after.governor),
    )


def remarks(before: Host, after: Host) -> tuple[Difference, ...]:
    """Return differences that prevent no comparison; the anchors must show no effect."""
    old, new = (format_variables(host.variables) for host in (before, after))
    return _differences(
        ("machine", before.host_id, after.host_id),
        ("kernel", before.kernel, after.kernel),
        ("hyperfine", before.hyperfine, after.hyperfine),
        ("virtualisation", before.virtualised, after.virtualised),
        ("benchctl", before.benchctl, after.benchctl),
        ("environment", old, new),
    )


def _differences(*facts: tuple[str, object, object]) -> tuple[Difference, ...]:
    return tuple(
        Difference(what, *("" if value is None else str(value) for value in (one, other)))
        for what, one, other in facts
        if one != other
    )
