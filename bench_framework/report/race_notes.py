"""Where the cells of a race stopped: for the table, the check list and the section on run quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Check, Heading
from bench_framework.report.claim_blocks import sentence

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def stopped(data: ReportData, cell_id: str) -> str:
    """The note of a row: ``"dropped after round 18, slower than B"``; empty for what was measured to the end."""
    race = data.judgement.race
    lost = next((lost for lost in race.lost if lost.cell_id == cell_id), None) if race else None
    if lost is None:
        return ""
    if not lost.beaten:
        return f"measured up to round {lost.round}"
    to = f": worse than {data.label(lost.to_cell_id)}" if lost.to_cell_id else ""
    return f"dropped after round {lost.round}{to}"


def check(data: ReportData) -> tuple[Check, ...]:
    """What a race spared, and that nobody left it before a look could tell."""
    race = data.judgement.race
    if race is None:
        return ()
    beaten = [lost for lost in race.lost if lost.beaten]
    unexplained = [lost for lost in beaten if lost.to_cell_id is None]
    figure = f"{race.runs} of {race.fixed} runs; {len(beaten)} dropped, {len(race.lost) - len(beaten)} done early"
    if unexplained:
        names = ", ".join(data.label(lost.cell_id) for lost in unexplained)
        return (
            Check(
                "warn",
                "who left the race is beaten",
                f"{figure}; what beat {names} has failed since",
            ),
        )
    return (Check("pass", "who left the race is beaten", figure),)


def blocks(data: ReportData) -> tuple[Block, ...]:
    """A sentence for every cell that a race measured no further."""
    claims = data.claims("dropped", "idle")
    if not claims:
        return ()
    return (Heading("Where the race let go", "race"), Bullets(tuple(sentence(c) for c in claims)))
