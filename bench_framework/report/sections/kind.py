"""Kinds of sections: code, title, blocks, and the line that replaces missing data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Fallback, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.report.context import ReportData


@dataclass(frozen=True, slots=True)
class SectionKind:
    """One kind of section.

    Attributes:
        code: such as ``S03``.
        about: its content, for the table in ``docs/reference/report.md``.
        build: returns its blocks; an empty tuple if the data are missing.
        fallback: returns the line printed instead; empty if the section is left out.
        without: the line in “Not measured” about a section that is left out.
    """

    code: str
    anchor: str
    title: str
    about: str
    build: Callable[[ReportData], tuple[Block, ...]]
    fallback: Callable[[ReportData], str]
    without: str = ""

    def section(self, data: ReportData) -> Section | None:
        """Return the section, with its fallback line if the data are missing, or `None`."""
        blocks = self.build(data)
        if not blocks:
            line = self.fallback(data)
            if not line:
                return None
            blocks = (Fallback(line),)
        return Section(self.code, self.anchor, self.title, blocks)


def left_out(_: ReportData) -> str:
    """Return no line, because “Not measured” lists the section."""
    return ""


def always(line: str) -> Callable[[ReportData], str]:
    """Return a fallback that does not depend on the record."""

    def words(_: ReportData) -> str:
        return line

    return words
