"""The page of ``benchctl fleet compare``: a table per comparison, with one row per host."""

from collections import Counter
from dataclasses import replace
from typing import Final

from bench_framework.extensions.fleet.host_comparison import (
    FEWEST,
    Agreement,
    HostComparison,
    HostResult,
    HostsCompared,
    KindSummary,
    outcome,
)
from bench_framework.features.results import NOT_MEASURED
from bench_framework.model.verdict import Verdict
from bench_framework.report import blocks
from bench_framework.report.blocks import (
    Column,
    Document,
    MastheadLine,
    Row,
    Section,
    Sentence,
    Table,
)
from bench_framework.report.sections.masthead import verdict_glossary
from bench_framework.report.table_cells import CI, interval_cells, verdict_cell
from bench_framework.text.names import capital, first_items
from bench_framework.text.numbers import DASH, percent, show_ratio
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun, word
from bench_framework.units import THIN_SPACE, counted, every

_AGREEMENT: Final[dict[Agreement, tuple[str, str]]] = {
    "agrees": ("hosts agree", "with one verdict on all hosts"),
    "depends": ("host-dependent", "with verdicts that depend on the host"),
    "overlap": ("verdicts differ", "with other verdicts and overlapping intervals"),
    "inconclusive": ("inconclusive", "inconclusive on some hosts"),
}
"""Agreement → status of a page, and words after a number of comparisons."""
_TERMS: Final = (
    ("kind", "hosts with equal CPU, number of cores, memory, kernel and governor"),
    (
        "random effects",
        "a mean of the ratios of hosts of one kind, whose true ratios may differ from each other",
    ),
)


def with_sentences(compared: HostComparison) -> HostComparison:
    """Return the results of several hosts with a sentence about each comparison."""
    written = tuple(replace(one, text=_say(one)) for one in compared.comparisons)
    return replace(compared, comparisons=written)


def _name(compared: HostsCompared) -> str:
    """Return the name of a comparison, such as ``mmap vs read (10 MiB)``."""
    where = f" ({compared.input})" if compared.input else ""
    return f"{compared.candidate} vs {compared.reference}{where}"


def _say(compared: HostsCompared) -> str:
    """Return the sentence about a comparison, without a full stop."""
    groups: dict[Verdict | None, list[str]] = {}
    for result in compared.results:
        groups.setdefault(outcome(result.verdict), []).append(result.host)
    count, parts = len(compared.results), []
    for verdict, hosts in groups.items():
        where = first_items(hosts, separator=", ")
        if 1 < count == len(hosts):
            where = every(count, "host")
        text = phrase(NOT_MEASURED) if verdict is None else word(verdict, compared.metric)
        parts.append(f"{text} on {where}")
    head = " depends on the host" if compared.agreement == "depends" else ""
    text = f"{_name(compared)}{head}: {'; '.join(parts)}"
    if compared.agreement == "overlap":
        return f"{text}. The intervals overlap, so the ratios may be equal"
    return text


def _summary(kind: KindSummary, compared: HostsCompared) -> str:
    """Return the sentence about the random effects of a kind of hosts, with a full stop."""
    interval = kind.interval.of_values(higher=compared.higher)
    ratio = show_ratio(*interval.figures, compared.margin, keep=False)
    return (
        f"Random effects over {counted(len(kind.hosts), 'host')} of kind {kind.kind}: mean ratio "
        f"{ratio} (95{THIN_SPACE}% CI), standard deviation between hosts {percent(kind.between)}."
    )


def document(compared: HostComparison) -> Document:
    """Return the page about the results of several hosts."""
    status = _AGREEMENT[compared.agreement][0] if compared.comparisons else "not comparable"
    if compared.comparisons and compared.split:
        status = "inputs on different hosts"
    hosts = counted(len(compared.hosts), "host")
    names = ", ".join(host.name for host in compared.hosts)
    counts = Counter(one.agreement for one in compared.comparisons)
    states = (f"{counts[key]} {text}" for key, (_, text) in _AGREEMENT.items() if counts[key])
    numbers = counted(len(compared.comparisons), "comparison")
    line = f"{compared.scenario}  {hosts}  {numbers}"
    line += "" if compared.split else f": {', '.join(states)}"
    content = [block for n, one in enumerate(compared.comparisons, 1) for block in _blocks(n, one)]
    if not content:
        content.append(blocks.Fallback("The records have no comparison."))
    elif not compared.split and not any(one.kinds for one in compared.comparisons):
        needed = counted(FEWEST, "host")
        content.append(
            blocks.Fallback(f"No random-effects summary: it needs {needed} of one kind.")
        )
    sections = (
        Section("S10", "by-host", "Results by host", tuple(content), terminal="all"),
        Section("S10", "hosts", "Hosts", (_hosts(compared),), terminal="all"),
    )
    return Document(
        title=compared.scenario,
        question=compared.question,
        status=status,
        masthead=(MastheadLine("Host", names, top=names),),
        run_line=line if compared.comparisons else f"{compared.scenario}  {hosts}",
        sections=sections,
        claims=(),
        glossary=verdict_glossary(compared.margin),
        terms=_TERMS,
    )


def _blocks(number: int, one: HostsCompared) -> tuple[blocks.Block, ...]:
    caption = (
        f"{_name(one)}: {noun(one.metric)} by host. Ratios are {one.candidate} ÷ {one.reference}, "
        "each within one host. Verdicts are those of the records."
    )
    columns = (
        Column("Host"),
        Column("Ratio", "decimal"),
        Column(CI, drop=1),
        Column("Verdict"),
        Column("Notes", prose=True),
    )
    rows = tuple(_row(one, result) for result in one.results)
    note = " ".join(_summary(kind, one) for kind in one.kinds)
    anchor, stub = f"by-host-{number}", _name(one)
    table = Table(anchor, caption, columns, rows, sortable=False, stub=stub, note=note)
    return blocks.KeyFinding(Sentence(f"{_say(one)}.")), table.without_empty_columns()


def _row(one: HostsCompared, result: HostResult) -> Row:
    verdict, reason = result.verdict, phrase(result.reason)
    if verdict is None:
        return Row.build(result.host, DASH, "", DASH, reason, reason=reason)
    interval = result.interval and result.interval.of_values(higher=one.higher)
    ratio = interval_cells(interval, verdict, one.margin)
    mark = verdict_cell(verdict, one.metric)
    return Row.build(result.host, *ratio, mark, reason, verdict=verdict, reason=reason)


def _hosts(compared: HostComparison) -> Table:
    facts = list(compared.hosts[0].kind.facts)
    columns = (
        Column("Host"),
        Column("Record", drop=1),
        *(Column(capital(fact), drop=n) for n, fact in enumerate(facts, 3)),
        Column("Kind", drop=2),
    )
    rows = (
        Row.build(host.name, host.record_id, *host.kind.facts.values(), host.kind.digest)
        for host in compared.hosts
    )
    caption = "Hosts and their records. Hosts of one kind have equal values from CPU to governor."
    return Table("hosts-table", caption, columns, tuple(rows), sortable=False)
