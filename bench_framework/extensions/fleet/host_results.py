"""Results of one scenario on several hosts: their comparison, and its pages."""

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.extensions.fleet.host_comparison import (
    HostComparison,
    HostRecord,
    compare_hosts,
)
from bench_framework.extensions.fleet.page import document, with_sentences
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.faults import FaultCode
from bench_framework.report.blocks import Document
from bench_framework.report.render import html, markdown
from bench_framework.report.render.templates import Templates
from bench_framework.store import finding, layout
from bench_framework.store.records import Record
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.pages import record_host
from bench_framework.workflow.records.integrity import corruption_reported

_FEWEST: Final = 2
_FOLDER: Final = "hosts"
"""Start of the name of a folder with pages, next to the records of the scenario."""


@dataclass(frozen=True, slots=True)
class HostPage:
    """A comparison of hosts, and the document that shows it."""

    comparison: HostComparison
    document: Document

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write ``hosts.html``, ``hosts.md`` and ``hosts.json``. Return their paths.

        Raises `MachineError` (BX235): writing failed.
        """
        templates = Templates()
        records = {host.name: host.record_id for host in self.comparison.hosts}
        origin = {"scenario": self.comparison.scenario, "records": records}
        texts = {
            "hosts.html": html.render_page(self.document, templates, {}, origin),
            "hosts.md": markdown.render(self.document, templates),
            "hosts.json": document_text(self.comparison),
        }
        layout.write_all(folder, texts)
        return tuple(folder / name for name in texts)


def pages_of(results: Path, page: HostPage) -> Path:
    """Return the folder for the pages of a run on several hosts."""
    newest = max((host.record_id for host in page.comparison.hosts), key=layout.order_key)
    return results / page.comparison.scenario / f"{_FOLDER}-{newest}"


def compare_records_of_hosts(results: Path, names: Sequence[str]) -> HostPage:
    """Compare records of one scenario that different hosts measured. Nothing is written.

    The order of the hosts is that of the names.

    Raises:
        UsageError: BX101, there is no such record; BX135, the records are of one host, or of different
            scenarios, revisions or inputs.
        RecordError: BX411, a record is damaged; BX413, a record has no results; BX455, one was imported.
    """
    if len(names) < _FEWEST:
        raise UsageError("BX135.one-record")
    folders = [finding.resolve_measured(results, name) for name in names]
    with contextlib.ExitStack() as stack:
        for folder in folders:
            stack.enter_context(corruption_reported(folder))
        records = [stack.enter_context(Record.open(folder)) for folder in folders]
        hosts = [_host_record(record) for record in records]
        _require_different_hosts(records, hosts)
        for record in records[1:]:
            _require_same(records[0], record)
        comparison = with_sentences(compare_hosts(hosts))
        return HostPage(comparison, document(comparison))


def _host_record(record: Record) -> HostRecord:
    judged = record.judged()
    if judged is None:
        raise RecordError(
            "BX413.no-results-of-record", path=record.path, command=record.plan.command
        )
    machine = record_host(record)
    name = record.plan.invocation.host or machine.host_id
    return HostRecord(name, record.id, machine, record.plan, judged.judgement)


def _require_different_hosts(records: Sequence[Record], hosts: Sequence[HostRecord]) -> None:
    """Refuse two records of one host, and two hosts of one name. Raises `UsageError` (BX135)."""
    pairs = itertools.combinations(zip(records, hosts, strict=True), 2)
    for (other, before), (record, host) in pairs:
        if (host_id := host.machine.host_id) == before.machine.host_id:
            raise UsageError(
                "BX135.same-host",
                details=((phrase_of(ExtensionCode.HOST_ID), host_id),),
                first=other.path,
                second=record.path,
            )
        if host.host == before.host:
            raise UsageError(
                "BX135.same-name", first=other.path, second=record.path, host=host.host
            )


def require_same_work(first: Record, folder: Path) -> None:
    """Refuse a record of other work than the first one. Raises `UsageError` (BX135)."""
    with Record.open(folder) as other:
        _require_same(first, other)


def _require_same(first: Record, other: Record) -> None:
    before, after = _work(first), _work(other)
    for what, value in before.items():
        if after.get(what, value) != value:
            raise UsageError(
                "BX135.other-work",
                details=(("first", value), ("other", after[what])),
                first=first.path,
                second=other.path,
                what=what,
            )


def _work(record: Record) -> Mapping[str, str]:
    """Return what must be equal on all hosts, by its name. The programs may differ."""
    plan = record.plan
    given = plan.revisions
    base, head = (given.base, given.head) if given is not None else ("none", "none")
    work = {
        "scenario": f"{plan.name} ({plan.scenario_sha256[:12]})",
        phrase_of(ExtensionCode.BASE_REVISION): str(base)[:12],
        phrase_of(ExtensionCode.HEAD_REVISION): str(head)[:12],
    }
    for item in record.contents.inputs:
        if item.sha256:
            label = phrase_of(FaultCode.OF_INPUT, plan.input(item.input_id).label)
            work[label.rstrip()] = item.sha256[:12]
    return work
