"""Notes and checks about variants that a race dropped (docs/method.md#race)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Check, Heading
from bench_framework.report.claim_blocks import sentence

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def stopped(data: ReportData, cell_id: str) -> str:
    """Return a note such as ``"dropped after round 18: worse than B"``.

    The note is empty for a configuration that was measured to the end.
    """
    race = data.judgement.race
    lost = next((lost for lost in race.lost if lost.cell_id == cell_id), None) if race else None
    if lost is None:
        return ""
    if not lost.beaten:
        return f"measured up to round {lost.round}"
    to = f": worse than {data.label(lost.to_cell_id)}" if lost.to_cell_id else ""
    return f"dropped after round {lost.round}{to}"


def check(data: ReportData) -> tuple[Check, ...]:
    """Return the check that each dropped variant is worse than another one."""
    race = data.judgement.race
    if race is None:
        return ()
    beaten = [lost for lost in race.lost if lost.beaten]
    unexplained = [lost for lost in beaten if lost.to_cell_id is None]
    early = len(race.lost) - len(beaten)
    figure = f"{race.runs} of {race.fixed} runs; {len(beaten)} dropped, {early} finished early"
    if unexplained:
        names = ", ".join(data.label(lost.cell_id) for lost in unexplained)
        return (
            Check(
                "warn",
                "dropped variants are worse",
                f"{figure}; the variant that beat {names} failed later",
            ),
        )
    return (Check("pass", "dropped variants are worse", figure),)


def blocks(data: ReportData) -> tuple[Block, ...]:
    """Return a sentence for each configuration that the race stopped measuring."""
    claims = data.claims("dropped", "idle")
    if not claims:
        return ()
    return (Heading("Dropped from the race", "race"), Bullets(tuple(sentence(c) for c in claims)))
