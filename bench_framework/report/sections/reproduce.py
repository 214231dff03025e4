"""Section "Inputs and commands": inputs, seeds, and the commands that were timed."""

import shlex
from collections import defaultdict

from bench_framework.masking import home_as_tilde
from bench_framework.model.plan.plan import Cell as PlanCell, Role
from bench_framework.report.blocks import (
    Block,
    Cell,
    Code,
    Details,
    Facts,
    Row,
    Table,
    left,
    numeric,
)
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import value_cell
from bench_framework.text.numbers import DASH, format_size, grouped
from bench_framework.units import THIN_SPACE, counted


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the seeds, the inputs, and the timed commands."""
    later = f"those of a later version of the scenario, sha256 {data.wording}"
    facts = (
        ("Scenario", f"{data.plan.name}, sha256 {data.plan.scenario_sha256}"),
        *((("Labels and texts", later),) if data.wording else ()),
        ("Record", data.contents.header.record_id),
        ("Seed of the execution order", str(data.plan.measure.seed)),
    )
    timed = Details(
        "The timed commands, with INPUT in place of its path",
        (Code("\n".join(_commands(data)), "sh"),),
    )
    inputs = [_inputs(data)] if data.contents.inputs else []
    return (Facts(facts), *inputs, timed)


def _commands(data: ReportData) -> list[str]:
    """Return each command once, below the configurations that run it."""
    cells: defaultdict[str, list[PlanCell]] = defaultdict(list)
    for cell in data.plan.cells:
        command, prepared = data.command(cell), data.prepared(cell.input_id)
        path = (shlex.join(prepared.files) or prepared.path) if prepared else ""
        cells[command.replace(path, "INPUT") if path else command].append(cell)
    lines = []
    for command, group in cells.items():
        arms = [c for c in group if c.role is not Role.CONTROL] or group
        shared = len({cell.input_id for cell in arms}) == len(data.plan.inputs)
        labels = (data.variant_of(c).label if shared else c.label for c in arms)
        names = dict.fromkeys(" ".join(label.splitlines()) for label in labels)
        lines.append(f"# {' = '.join(names)}\n{home_as_tilde(command)}")
    return lines


def _inputs(data: ReportData) -> Table:
    rows = []
    for item, prepared in ((i, data.prepared(i.id)) for i in data.plan.inputs):
        if prepared is None:
            continue
        size, count = prepared.size_bytes, prepared.file_count
        files = f" ({counted(count, 'file')})" if count is not None else ""
        source = Cell(f"{prepared.family or DASH}{files}")
        if item.dataset is not None and item.dataset.command:
            source = Cell(item.dataset.command_line, code=True)
        rows.append(
            Row.build(
                data.input_name(item),
                source,
                value_cell(prepared.seed, str),
                value_cell(size, lambda n: f"{grouped(n, THIN_SPACE)}\u202fB"),
                value_cell(size, lambda n: format_size(n, data.plan.unit_family)),
                Cell((prepared.sha256 or DASH)[:16], code=prepared.sha256 is not None),
                Cell(home_as_tilde(prepared.path or DASH), code=prepared.path is not None),
            )
        )
    columns = (
        *left("Input", "Generator or file"),
        *numeric("Seed", "Bytes", "Size"),
        *left("sha256", "Path of INPUT"),
    )
    return Table("inputs", "Inputs on disk.", columns, tuple(rows), sortable=False)


COMMANDS = SectionKind(
    "S24", "commands", "Inputs and commands", "inputs, seeds, and the timed commands", build
)
