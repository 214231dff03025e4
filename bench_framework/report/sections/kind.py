"""What every section is: a code of the catalogue, what it needs, and what it says without it."""

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
        code: such as ``S03`` (REPORTS 1.6).
        needs: the data without which it has nothing to show, in words for the reference.
        build: its blocks; an empty tuple where the data are missing.
        fallback: the line printed instead, or an empty text where the section is left out.
        without: the line that “Not measured” prints of a section that is left out.
    """

    code: str
    anchor: str
    title: str
    needs: str
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
