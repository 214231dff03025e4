"""The result of an interim analysis ("look") while measuring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.model.reasons import Reason, ReasonCode

if TYPE_CHECKING:  # the measuring loop starts without the modules of results
    from bench_framework.model.result.judgement import Comparison


@dataclass(frozen=True, slots=True)
class LookOutcome:
    """The result of an interim analysis of one input while measuring."""

    stop: bool
    """True if this input needs no more rounds."""
    reason: Reason = Reason(ReasonCode.ALL_ROUNDS)  # noqa: RUF009 -- it is frozen
    """Why measuring of this input stops or continues."""
    verdicts: tuple[Comparison, ...] = ()
    """Comparisons with the baseline after this round, in plan order."""
    trailing: tuple[str, ...] = ()
    """With ``strategy: race``, the cells that are worse than another one. `model.result.race` decides
    which variants are dropped."""
    settled: tuple[str, ...] | None = ()
    """The cells that no open comparison contains; with ``strategy: race``, those of them that are
    not worse than another one; `Look.idle` of the record. `None`: not decided here."""
