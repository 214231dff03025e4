"""The sentences about results of several hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bench_framework.features.evidence import NOT_MEASURED
from bench_framework.features.host_comparison.results import (
    Agreement,
    HostsCompared,
    KindSummary,
    outcome,
)
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import word
from bench_framework.report.claim_blocks import listed
from bench_framework.report.numbers import percent, show_ratio
from bench_framework.units import THIN_SPACE, counted, every

STATUS: Final[Mapping[Agreement, str]] = {
    "agrees": "hosts agree",
    "depends": "host-dependent",
    "inconclusive": "inconclusive",
}
"""The status of a page, by the agreement of its comparisons."""
COUNTED: Final[Mapping[Agreement, str]] = {
    "agrees": "with one verdict on all hosts",
    "depends": "with verdicts that depend on the host",
    "inconclusive": "inconclusive on some hosts",
}
"""Words after a number of comparisons."""


def name(compared: HostsCompared) -> str:
    """Return the name of a comparison, such as ``mmap vs read (10 MiB)``."""
    where = f" ({compared.input})" if compared.input else ""
    return f"{compared.candidate} vs {compared.reference}{where}"


def say(compared: HostsCompared) -> str:
    """Return the sentence about a comparison, without a full stop."""
    groups: dict[Verdict | None, list[str]] = {}
    for result in compared.results:
        groups.setdefault(outcome(result.verdict), []).append(result.host)
    parts = [
        f"{NOT_MEASURED if verdict is None else word(verdict, compared.metric)} on "
        f"{_hosts(hosts, compared)}"
        for verdict, hosts in groups.items()
    ]
    head = " depends on the host" if compared.agreement == "depends" else ""
    return f"{name(compared)}{head}: {'; '.join(parts)}"


def _hosts(hosts: list[str], compared: HostsCompared) -> str:
    count = len(compared.results)
    if count > 1 and len(hosts) == count:
        return every(count, "host")
    return listed(hosts, separator=", ")


def summary(kind: KindSummary, margin: float) -> str:
    """Return the sentence about the random effects of a kind of hosts, with a full stop."""
    ratio = show_ratio(*kind.interval.figures, margin, keep=False)
    return (
        f"Random effects over {counted(len(kind.hosts), 'host')} of kind {kind.kind}: mean ratio "
        f"{ratio} (95{THIN_SPACE}% CI), standard deviation between hosts {percent(kind.between)}."
    )
