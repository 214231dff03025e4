"""Section "Reproduce": commands, inputs and seeds."""

import shlex

from bench_framework.masking import home_as_tilde
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Input, Role
from bench_framework.model.run import PreparedInput
from bench_framework.report import blocks
from bench_framework.report.context import ReportData
from bench_framework.report.numbers import DASH, grouped, show_size
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import value_cell
from bench_framework.units import counted


def build(data: ReportData) -> tuple[blocks.Block, ...]:
    """Return the commands to run, the inputs, and the timed commands."""
    commands = data.commands or (f"benchctl run {data.plan.name}",)
    facts = (
        ("Scenario", f"{data.plan.name}, sha256 {data.plan.scenario_sha256}"),
        ("Record", data.record_id),
        ("Seed of the execution order", str(data.plan.measure.seed)),
    )
    timed = blocks.Details(
        "The timed commands, with INPUT in place of its path",
        (blocks.Code("\n".join(_commands(data)), "sh"),),
    )
    inputs = [_inputs(data)] if data.inputs else []
    return (blocks.Code("\n".join(commands), "sh"), blocks.Facts(facts), *inputs, timed)


def _commands(data: ReportData) -> list[str]:
    """Return each command once, below the configurations that run it."""
    cells: dict[str, list[PlanCell]] = {}
    for cell in data.plan.cells:
        prepared = data.prepared(cell.input_id)
        command = data.command(cell)
        files = shlex.join(prepared.files) if prepared else ""
        path = files or (prepared.path if prepared else "")
        cells.setdefault(command.replace(path, "INPUT") if path else command, []).append(cell)
    lines = []
    for command, group in cells.items():
        arms = [c for c in group if c.role is not Role.CONTROL] or group
        shared = len({cell.input_id for cell in arms}) == len(data.plan.inputs)
        labels = (data.variant_of(c).label if shared else c.label for c in arms)
        names = dict.fromkeys(" ".join(label.splitlines()) for label in labels)
        lines.append(f"# {' = '.join(names)}\n{home_as_tilde(command)}")
    return lines


def _source(item: Input, prepared: PreparedInput) -> blocks.Cell:
    """Return the generator, the command or the files of an input."""
    if item.dataset is not None and item.dataset.command:
        return blocks.Cell(item.dataset.command_line, code=True)
    count = prepared.file_count
    text = f" ({counted(count, 'file')})" if count is not None else ""
    return blocks.Cell(f"{prepared.family or DASH}{text}")


def _inputs(data: ReportData) -> blocks.Table:
    rows = []
    for item in data.plan.inputs:
        prepared = data.prepared(item.id)
        if prepared is None:
            continue
        size = prepared.size_bytes
        rows.append(
            blocks.Row.build(
                data.input_name(item),
                _source(item, prepared),
                DASH if prepared.seed is None else str(prepared.seed),
                value_cell(size, lambda n: f"{grouped(n)}\u202fB"),
                value_cell(size, lambda n: show_size(n, data.plan.unit_family)),
                blocks.Cell((prepared.sha256 or DASH)[:16], code=prepared.sha256 is not None),
                blocks.Cell(home_as_tilde(prepared.path or DASH), code=prepared.path is not None),
            )
        )
    columns = (
        *blocks.left("Input", "Generator or file"),
        *blocks.numeric("Seed", "Bytes", "Size"),
        *blocks.left("sha256", "Path of INPUT"),
    )
    return blocks.Table("inputs", "Inputs on disk.", columns, tuple(rows), sortable=False)


REPRODUCE = SectionKind("S24", "reproduce", "Reproduce", "commands, inputs, seeds", build)
