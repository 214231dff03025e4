"""Records without rounds, such as imported results of another tool, which extensions provide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_framework.model.plan.plan import Plan
from bench_framework.store import lines

if TYPE_CHECKING:
    from bench_framework.model.result.judgement import Judgement


class Run(NamedTuple):
    """The value of a metric in one run: seconds, or bytes for memory."""

    cell_id: str
    metric: str
    run: int
    """Place among the runs that ended well, from 1."""
    value: float


class RunCounts(NamedTuple):
    """The runs of a configuration that ended well, and those that failed."""

    runs: int
    failed: int


class Figures(ABC):
    """The figures of a record that has one file in place of a journal.

    The extension registers a function that takes the bytes of the file and returns the figures. The function
    raises `RecordError` (BX411) if they are damaged.

    Attributes:
        file: name of the file, as registered.
        header: ids, format and time of the record.
    """

    file: str
    header: lines.Header

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """The plan of the record, which cannot be run. Each of its inputs is a separate family."""

    @abstractmethod
    def judge(self, plan: Plan) -> Judgement:
        """Judge the configurations of `plan`, which is the plan or a part of it with another baseline."""

    @abstractmethod
    def document(self, data: Any, only: tuple[str, ...]) -> Any:
        """Return the report, a `Document`, of `ReportData`; `only` as in `build_document`."""

    @abstractmethod
    def counts(self, cell_id: str) -> RunCounts:
        """Return the number of runs of a configuration."""

    @abstractmethod
    def runs(self) -> Iterator[Run]:
        """Yield the rows of ``runs.csv``."""

    @abstractmethod
    def origin(self) -> dict[str, object]:
        """Return the source of the figures, which the page contains as JSON."""

    @abstractmethod
    def differences(self, folder: Path) -> list[str]:
        """Return a line for each figure that does not follow from the files in the folder of the record."""
