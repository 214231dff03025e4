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
    """The hosts of the scheduler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDocument:
    """A host without a record, because an error ended its run."""

    host: str
    """Name of the host."""
    error: FailureDocument | None
    """The error that ended its run."""
    replaced_by: str | None
    """The host that measured its part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRunDocument(RunDocument):
    """The run of a host."""

    host: str
    """Name of the host."""
    error: None
    """Null, because the host has a record."""
    replaced_by: str | None
    """The host that measured its part again; null without one."""


@dataclass(frozen=True, slots=True)
class HostsDocument:
    """The result of `run` on several hosts."""

    exit_code: int
    """Exit code of the command."""
    hosts: tuple[HostDocument | HostRunDocument, ...]
    """The run of each host."""
    comparison: HostComparison | None
    """Comparison of the hosts; null without one."""


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
