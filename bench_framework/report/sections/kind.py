"""A kind of section: its code, title and blocks, and the line that is printed without its data."""

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
        about: what it shows, for the table in ``docs/reference/report.md``.
        build: its blocks; an empty tuple where the data are missing.
        fallback: the line printed instead, or an empty text where the section is left out.
        without: the line that “Not measured” prints of a section that is left out.
    """

    code: str
    anchor: str
    title: str
    about: str
    build: Callable[[ReportData], tuple[Block, ...]]
    fallback: Callable[[ReportData], str]
    without: str = ""

    def section(self, data: ReportData) -> Section | None:
        """The section, its fallback line, or nothing."""
        blocks = self.build(data)
        if not blocks:
            line = self.fallback(data)
            if not line:
                return None
            blocks = (Fallback(line),)
        return Section(self.code, self.anchor, self.title, blocks)


def left_out(_: ReportData) -> str:
    """No line in the section's place: “Not measured” tells what is missing."""
    return ""


def always(line: str) -> Callable[[ReportData], str]:
    """A fallback that does not depend on the record."""

    def words(_: ReportData) -> str:
        return line

    return words
