"""The history of a scenario: one series per configuration, and its changes. Immutable, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bench_framework.model.reasons import Reason
from bench_framework.model.record.machine import Fingerprint
from bench_framework.units import UnitFamily


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The value of a configuration in one record. Values are in the stored unit of the metric."""

    place: int
    """Position in the history, equal for all configurations of one revision and record."""
    record: str
    """Id of the record."""
    started: str
    """Start of the record, UTC, ISO 8601."""
    revision: str | None
    """Full id of the commit, or version; null for a program that was not built."""
    dirty: bool | None
    """True if the crate had uncommitted changes."""
    value: float
    """Median of the configuration; of a candidate, the baseline's × their typical ratio."""
    lo: float | None
    """Lower end of the 95 % interval of the median within its record, relative to the value."""
    hi: float | None
    """Upper end of it."""
    program: str
    """Digest of code, command and input. Points with equal digests measured the same program."""
    task: str
    """Digest of command and input. Points with other digests are not compared."""
    level: float = 0.0
    """The value without the change of the machine that anchors show."""
    fitted: float = 0.0
    """Mean level between two changes."""
    outlier: bool = False
    """True if this record alone differs from those before and after. It is in no mean."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A lasting change. The positions are indices of points."""

    before: int
    """Last point that is before the change for certain."""
    at: int
    """First point after the change, by the best fit."""
    after: int
    """First point that is after the change for certain."""
    ratio: float
    """Mean level after ÷ before, with its 95 % interval."""
    lo: float
    """Lower end of its 95 % interval."""
    hi: float
    """Upper end of it."""
    confidence: float
    """1 − the probability of such a change anywhere in a history without changes."""
    confirmed: bool
    """False if there is only one record before or after the change."""
    before_record: str = ""
    """Id of the record of `before`."""
    before_revision: str | None = None
    """Its commit or version; null for a program that was not built."""
    after_record: str = ""
    """Id of the record of `after`."""
    after_revision: str | None = None
    """Its commit or version; null for a program that was not built."""


@dataclass(frozen=True, slots=True)
class HistorySeries:
    """The points of one configuration in the order of the history."""

    id: str
    """Twelve hex digits of its axis values, equal in all records."""
    label: str
    """Label of the configuration."""
    values: Mapping[str, str]
    """Axis values of the configuration."""
    points: tuple[HistoryPoint, ...]
    """The values in order."""
    changes: tuple[Shift, ...] = ()
    """Lasting changes in order."""
    breaks: tuple[int, ...] = ()
    """First points with another command or input than before."""
    noise: float | None = None
    """Standard deviation between records, as a fraction; null with too few records."""
    detectable: float | None = None
    """Smallest change that the next record alone would show in 80 % of all cases."""

    def records(self, since: int = 0) -> int:
        """Return the number of records from a point on. A record of several revisions has several points."""
        return len({point.record for point in self.points[since:]})


@dataclass(frozen=True, slots=True)
class History:
    """The series of a scenario on machines with one fingerprint."""

    scenario: str
    """Name of the scenario."""
    metric: str
    """Name of the metric."""
    unit_family: UnitFamily
    """Kind of unit of the metric."""
    order: Literal["revision", "time"]
    """Order of the points: that of the commits, or of the records' start times."""
    machine: Fingerprint
    """Facts of the machines that measured it."""
    records: int
    """Number of records."""
    level: float
    """Largest probability of a false change in any series, if the noise is normally distributed."""
    series: tuple[HistorySeries, ...]
    """Series of each configuration."""
    left_out: tuple[tuple[str, Reason], ...] = ()
    """Record and reason for each record that is not used."""

    def changed(self, last: int) -> tuple[tuple[HistorySeries, Shift], ...]:
        """Return the confirmed changes that begin in the last records of their series."""
        return tuple(
            (one, change)
            for one in self.series
            for change in one.changes
            if change.confirmed and one.records(change.at) <= last
        )
