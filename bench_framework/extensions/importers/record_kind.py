"""The kind of record that `benchctl import` writes."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from bench_framework.errors import UsageError
from bench_framework.extensions.importers import FILE
from bench_framework.extensions.importers.compute import judge_imported
from bench_framework.extensions.importers.model import Imported, plan_of
from bench_framework.foreign import read_regular
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.judgement import Judgement
from bench_framework.report.blocks import Document
from bench_framework.store import lines, wire
from bench_framework.store.kinds import Figures, Run, RunCounts
from bench_framework.store.sessions import read_session
from bench_framework.text.reasons import phrase_of


class ImportedFigures(Figures):
    """A set of imported sessions as a record."""

    file = FILE

    def __init__(self, imported: Imported) -> None:
        self.imported = imported
        names, at = (imported.record_id, imported.name), imported.imported_at
        self.header = lines.Header(imported.schema_version, *names, "", "", at, imported.benchctl)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the set: commands are variants, sessions are inputs."""
        return plan_of(self.imported)

    def judge(self, plan: Plan) -> Judgement:
        """Judge the commands of `plan` by Welch's test."""
        return judge_imported(plan, self.imported)

    def document(self, data: Any, only: tuple[str, ...]) -> Document:
        """Return the report on the set."""
        from bench_framework.extensions.importers.page import build

        return build(data, self.imported, only)

    def counts(self, cell_id: str) -> RunCounts:
        """Return the numbers of runs of a command, 0 if the file does not state how many ended well."""
        command = self.imported.commands[cell_id][1]
        return RunCounts(command.runs or 0, command.failed)

    def runs(self) -> Iterator[Run]:
        """Yield the runs of each command and metric."""
        for cell_id, (_, command) in self.imported.commands.items():
            for series in command.series:
                for number, value in enumerate(series.values, 1):
                    yield Run(cell_id, series.metric, number, value)

    def origin(self) -> dict[str, object]:
        """Return the names and digests of the files."""
        return {
            "record_id": self.imported.record_id,
            "name": self.imported.name,
            "imported_at": self.imported.imported_at,
            "files": {session.source: session.sha256 for session in self.imported.sessions},
        }

    def differences(self, folder: Path) -> list[str]:
        """Return the figures in a folder that do not match its files."""
        lines = []
        for number, session in enumerate(self.imported.sessions, 1):
            try:
                again = read_session(read_regular(folder / session.source), session.label, number)
            except OSError:
                lines.append(phrase_of(ExtensionCode.SOURCE_UNREADABLE, session.source))
            except UsageError as error:
                lines.append(f"{session.source}: {error.message}")
            else:
                if again != session:
                    lines.append(phrase_of(ExtensionCode.OTHER_FIGURES, FILE, session.source))
        return lines


def load(text: bytes) -> ImportedFigures:
    """Read ``imported.json``. Raises `RecordError` (BX411): it is damaged."""
    return ImportedFigures(wire.load(Imported, FILE, text))
