"""The documents that `fleet` prints with ``--json``, and `run` and `gate` for several hosts."""

from dataclasses import dataclass

from bench_framework.extensions.fleet.host_comparison import HostComparison
from bench_framework.extensions.fleet.host_run import HostOutcome
from bench_framework.extensions.fleet.hosts import HostStatus
from bench_framework.model.documents.plan import fields_of
from bench_framework.workflow.documents import FailureDocument, RunDocument, run_document


@dataclass(frozen=True, slots=True)
class StatusDocument:
    """The result of `fleet status`."""

    hosts: tuple[HostStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDocument:
    """A host without a record, because an error ended its run."""

    host: str
    error: FailureDocument | None
    replaced_by: str | None
    """The host that measured its part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRunDocument(RunDocument):
    """The run of a host."""

    host: str
    error: None
    replaced_by: str | None


@dataclass(frozen=True, slots=True)
class HostsDocument:
    """The result of `run` on several hosts."""

    exit_code: int
    hosts: tuple[HostDocument | HostRunDocument, ...]
    comparison: HostComparison | None


AnyFleet = StatusDocument | HostComparison | HostsDocument


def document(result: HostOutcome) -> HostDocument | HostRunDocument:
    """Return the document of the run on a host."""
    host, replaced_by = result.host, result.replaced_by or None
    if result.outcome is not None:
        run = fields_of(run_document(result.outcome))
        return HostRunDocument(**run, host=host, error=None, replaced_by=replaced_by)
    error = result.error
    failure = FailureDocument(error.code, error.message, error.fix) if error else None
    return HostDocument(host=host, error=failure, replaced_by=replaced_by)
