"""Kinds of sections: code, title, blocks, and the line that replaces missing data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Fallback, Heading, Section, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData


@dataclass(frozen=True, slots=True)
class SectionKind:
    """One kind of section.

    Attributes:
        code: such as ``S03``.
        about: its content, for the table in ``docs/reference/report.md``.
        build: returns its blocks; an empty tuple if the data are missing.
        fallback: the line printed instead, or a function that returns it; empty if the section is
            left out.
        without: the line in “Not measured” about a section that is left out.
        terminal: the blocks that the terminal prints.
    """

    code: str
    anchor: str
    title: str
    about: str
    build: Callable[[ReportData], tuple[Block, ...]]
    fallback: Callable[[ReportData], str] | str = ""
    without: str = ""
    terminal: Terminal = "nothing"

    def section(self, data: ReportData) -> Section | None:
        """Return the section, with its fallback line if the data are missing, or `None`."""
        blocks = self.build(data)
        if not blocks:
            line = self.fallback if isinstance(self.fallback, str) else self.fallback(data)
            blocks = (Fallback(line),) if line else ()
        if not blocks:
            return None
        return Section(self.code, self.anchor, self.title, blocks, self.terminal)


def input_heading(data: ReportData, item: Input, anchor: str) -> list[Heading]:
    """Return the heading of the blocks about an input, or nothing if it is the only one."""
    several = len(data.plan.inputs) > 1
    return [Heading(f"Input {data.input_name(item)}", anchor)] if several else []
