"""Kinds of sections: code, title, place, blocks, and the reason for a missing section."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from bench_framework.model.plan.plan import Input
from bench_framework.report.blocks import Block, Heading, Place, Section, Table, Terminal
from bench_framework.report.context import ReportData


@dataclass(frozen=True, slots=True)
class SectionKind:
    """One kind of section.

    Attributes:
        code: such as ``S03``.
        about: its content, for the table in ``docs/reference/report.md``.
        build: returns its blocks; an empty tuple if there is nothing to report. The section is
            then omitted.
        missing: reason for an omitted section, for the last line of the appendix, or a function
            that returns it; empty if the line does not list the section.
    """

    code: str
    anchor: str
    title: str
    about: str
    build: Callable[[ReportData], tuple[Block, ...]]
    missing: Callable[[ReportData], str] | str = ""
    place: Place = "appendix"
    terminal: Terminal = "nothing"

    def section(self, data: ReportData) -> Section | None:
        """Return the section, or `None` if there is nothing to report."""
        stated: set[str] = set()
        blocks = tuple(
            _shortened(block, stated) if isinstance(block, Table) else block
            for block in self.build(data)
        )
        if not blocks:
            return None
        return Section(self.code, self.anchor, self.title, blocks, self.place, self.terminal)

    def reason(self, data: ReportData) -> str:
        """Return the reason for the missing section, in lower case and without a full stop."""
        return self.missing if isinstance(self.missing, str) else self.missing(data)


def _shortened(table: Table, stated: set[str]) -> Table:
    """Return the table without empty columns and without lines of earlier legends."""
    legend = tuple(line for line in table.legend if line not in stated)
    stated.update(legend)
    return replace(table.without_empty_columns(), legend=legend)


def input_heading(data: ReportData, item: Input, anchor: str) -> list[Heading]:
    """Return the heading of the blocks about an input, or nothing if it is the only one."""
    several = len(data.plan.inputs) > 1
    return [Heading(f"Input {data.input_name(item)}", anchor)] if several else []


def per_input(
    data: ReportData, name: str, build: Callable[[Input, str], Iterable[Block | None]]
) -> tuple[Block, ...]:
    """Return the blocks of each input that has some, below its heading.

    `build` takes the input and the anchor of its heading, such as ``memory-1``, and may return
    `None` in place of a block.
    """
    blocks: list[Block] = []
    for number, item in enumerate(data.plan.inputs, 1):
        anchor = f"{name}-{number}"
        if parts := [block for block in build(item, anchor) if block is not None]:
            blocks += [*input_heading(data, item, anchor), *parts]
    return tuple(blocks)
