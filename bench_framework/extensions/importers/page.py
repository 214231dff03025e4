"""The report of an imported set: the ordinary results, and the limits of such a file."""

import shlex
from dataclasses import replace
from typing import Final

from bench_framework.extensions.importers.model import Imported
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Input
from bench_framework.model.record.sessions import Series, SessionCommand
from bench_framework.report import blocks
from bench_framework.report.blocks import (
    Cell,
    Check,
    Column,
    Document,
    MastheadLine,
    Row,
    Section,
    Sentence,
    Table,
)
from bench_framework.report.claim_blocks import MAIN_KINDS, leading_claim, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.figure import answer_figure, result_input
from bench_framework.report.sections.headline import ALL_RESULTS, HEADLINE
from bench_framework.report.sections.masthead import verdict_glossary
from bench_framework.report.sections.memory import MEMORY
from bench_framework.report.table_cells import CI, Scale
from bench_framework.store.harnesses import readers
from bench_framework.text.numbers import (
    DASH,
    column_decimals,
    format_moment,
    format_percent,
    measured_decimals,
    time_unit,
)
from bench_framework.units import counted

FORMATS: Final = {
    "hyperfine-1": "JSON of hyperfine 1.x",
    "hyperfine-2": "JSON of hyperfine 2.x",
    "runs": "table with one row per run",
    "table": "table of published figures",
}
LEGEND: Final = (
    "Ratios are those of geometric means and need not be the quotient of two times.",
    (
        "n: sessions × runs. Each command ran in one block: no interval here covers drift between "
        "the commands."
    ),
)
BOLD: Final = "Bold: the best group, which no other command of this session is shown to beat."
CANNOT: Final = (
    "Whether the machine drifted between two commands: a difference of the means may be the machine's.",
    "The noise floor of this machine: no control ran.",
    "Whether the commands did the same work: no output is in the files.",
    "Which binary ran, with which path, allocator or features, on which machine and from which cache.",
    "Anything that may stop a change: an imported set is never judged by a gate.",
)
"""The results that need measurements in rounds."""
_MEMORY: Final[dict[blocks.Mark, str]] = {
    "fail": "hyperfine 1.x: a running maximum, left out",
    "pass": "measured per run",
    "unknown": "not in the files, or one figure for all runs",
}
_TWO_SIDED: Final = 1.96


def build(data: ReportData, imported: Imported, only: tuple[str, ...] = ()) -> Document:
    """Return the document of a set. If codes are given, it has only these sections."""
    main = _headline(data, imported)
    leading = leading_claim(data)
    # Table and figure are about the session of the first sentence.
    results = sorted(data.claims(*MAIN_KINDS), key=lambda claim: claim is not leading)
    first, *rest = map(sentence, (*results, *data.claims("sessions", "limits")))
    figure = answer_figure(data)
    lead = blocks.Paragraph((first,), lead=True)
    lines = (lead, *([figure] if figure else []), blocks.Bullets(tuple(rest)))
    answer = Section("S02", "answer", "Answer", lines, terminal="all")
    sections = [answer, *([main] if main is not None else []), _results(data, imported)]
    if any(c.family == "memory" for c in data.judgement.comparisons):
        memory = MEMORY.section(data)
        sections += [memory] if memory is not None else []
    checks = _checks(imported)
    quality = (blocks.Checklist(checks),)
    sections.append(Section("S21", "quality", "Data quality", quality, "appendix"))
    about = blocks.Paragraph(
        (Sentence("Figures measured one command after the other cannot show:"),)
    )
    cannot = (about, blocks.Bullets(tuple(map(Sentence, CANNOT))))
    sections.append(_origin(imported))
    sections.append(Section("S25", "not-measured", "What these files cannot show", cannot))
    margin = format_percent(data.plan.judge.margin)
    files, commands = len(imported.sessions), len(data.plan.cells)
    moment = format_moment(imported.imported_at)
    return Document(
        title=imported.name,
        question=data.plan.question,
        status=data.judgement.status,
        masthead=_masthead(data, imported),
        run_line=f"{imported.name}  imported {moment}  {counted(files, 'file')}, "
        f"{counted(commands, 'command')}  in blocks, not interleaved  margin {margin}",
        sections=tuple(s for s in sections if not only or s.code in only),
        claims=data.judgement.claims,
        glossary=verdict_glossary(data.plan.judge.margin),
        files=data.page_files,
    )


def _headline(data: ReportData, imported: Imported) -> Section | None:
    """Return the results of the main session, and the changes in all sessions."""
    main, item = HEADLINE.section(data), result_input(data)
    if main is None or item is None:
        return main
    raw = all(imported.commands[cell.id][0].raw for cell in data.plan.cells_of(item.id))
    bold = any(
        row.strong for block in main.blocks if isinstance(block, Table) for row in block.rows
    )
    captions = (
        f"Time by command, {item.label}: {'median over runs' if raw else 'mean'}. "
        + ("Bold: best." if bold else ""),
        f"Change of time relative to the baseline by session, with {CI}s.",
    )
    tables = zip(main.blocks, captions, strict=False)
    return replace(
        main,
        blocks=tuple(
            replace(table, caption=caption.strip()) if isinstance(table, Table) else table
            for table, caption in tables
        ),
    )


def _results(data: ReportData, imported: Imported) -> Section:
    """Return the results with mean and spread; the caption states how they were measured."""
    items = {f"all-{n}": item for n, item in enumerate(data.plan.inputs, 1)}
    tables = {f"{anchor}-table": item for anchor, item in items.items()}
    content: list[blocks.Block] = []
    for block in ALL_RESULTS.build(data):
        if isinstance(block, Table) and (item := tables.get(block.anchor)) is not None:
            content.append(_table(data, imported, item, block))
            if claims := data.claims("comparison", "memory", item=item):
                sentences = blocks.Bullets(tuple(map(sentence, claims)))
                title = "Every comparison of this session as a sentence"
                content.append(blocks.Details(title, (sentences,)))
        elif isinstance(block, blocks.Heading):
            name = data.input_name(items[block.anchor])
            content.append(replace(block, text=f"Session {name}"))
        else:
            content.append(block)
    kind = ALL_RESULTS
    return Section(kind.code, kind.anchor, kind.title, tuple(content), kind.place)


def _table(data: ReportData, imported: Imported, item: Input, table: Table) -> Table:
    cells = data.plan.cells_of(item.id)
    commands = {cell.label: imported.commands[cell.id][1] for cell in cells}
    known = [wall for command in commands.values() if (wall := command.series_of(WALL)) is not None]
    base = commands.get(data.plan.baseline.label)
    baseline = base.series_of(WALL) if base else None
    unit, scale = time_unit((baseline or known[0]).mean if known else 1.0)
    most = column_decimals(measured_decimals(wall.mean, *_ends(wall), scale) for wall in known)
    ids = {cell.id for cell in cells}
    headline = (c for c in data.judgement.comparisons if c.family == "headline")
    compared = [c for c in headline if c.cell_id in ids]
    raw = all(imported.commands[c.id][0].raw for c in cells)
    source = "the runs" if raw else "mean, sd and n (delta method)"
    caption = (
        f"Time by command, {item.label}; {counted(len(compared), 'comparison')}, Holm-adjusted "
        f"within the session, family-wise level {format_percent(data.plan.judge.level)}, "
        f"margin {format_percent(data.plan.judge.margin)}; Welch's test on the log scale of {source}."
    )
    added = (Column(f"Time, mean, {unit}", "decimal"), Column(f"sd, {unit}", "decimal", drop=2))
    n = [column.title for column in table.columns].index("n")
    form = Scale(unit, scale, most, time_unit)
    rows = tuple(_row(row, commands[row.cells[0].text], form, n) for row in table.rows)
    columns = (table.columns[0], *added, *table.columns[2:])
    legend = (*LEGEND, BOLD) if any(row.strong for row in rows) else LEGEND
    return replace(table, caption=caption, columns=columns, rows=rows, legend=legend)


def _row(row: Row, command: SessionCommand, form: Scale, n: int) -> Row:
    """Return a row with mean, standard deviation and number of runs as given in the file."""
    wall, cells = command.series_of(WALL), list(row.cells)
    mean = spread = Cell(DASH)
    if wall is not None:
        mean = Cell(form.text(wall.mean), wall.mean)
        cells[n] = cells[n] if wall.n is not None else Cell("not given")
        if wall.sd is not None:
            finer = replace(form, decimals=form.decimals + 1)
            spread = Cell(finer.near(wall.mean, "{}", wall.sd), wall.sd)
    if command.failed and not row.reason:
        note = f"{counted(command.failed, 'failed run')} left out"
        cells[-1] = Cell("; ".join(part for part in (cells[-1].text, note) if part))
    return replace(row, cells=(cells[0], mean, spread, *cells[2:]))


def _ends(series: Series) -> tuple[float | None, float | None]:
    """Return the interval of the mean, which determines its digits."""
    if series.sd is None or not series.n:
        return None, None
    half = _TWO_SIDED * series.sd / series.n**0.5
    return series.mean - half, series.mean + half


def _checks(imported: Imported) -> tuple[Check, ...]:
    commands = [command for session in imported.sessions for command in session.commands]
    known = [command.runs for command in commands if command.runs is not None]
    failed = sum(command.failed for command in commands)
    least, unknown = min(known, default=0), len(commands) - len(known)
    enough: blocks.Mark = "pass" if not unknown and least > 1 else "warn"
    kinds = {session.memory for session in imported.sessions}
    memory: blocks.Mark = "pass" if "per-run" in kinds else "unknown"
    memory = "fail" if "running-maximum" in kinds else memory
    known_runs = f"{least} at least"
    known_runs += f"; not given for {counted(unknown, 'command')}" if unknown else ""
    return (
        Check("fail", "execution order", "not random: each command ran in one block"),
        Check("fail", "noise floor", "not measured: no control"),
        Check("unknown", "outputs", "not in the files"),
        Check(enough, "runs of each command", known_runs),
        Check("warn", "failed runs", f"{failed} are left out")
        if failed
        else Check("pass", "failed runs", "none"),
        Check(memory, "memory of each command", _MEMORY[memory]),
        Check("unknown", "same machine, same cache, same binary", "not in the files"),
    )


def _title(name: str) -> str:
    return FORMATS[name] if name in FORMATS else readers()[name].title


def _origin(imported: Imported) -> Section:
    pairs = tuple(
        (s.source, f"{_title(s.format)}, sha256 {s.sha256[:12]}") for s in imported.sessions
    )
    words = ["benchctl import", *(s.source for s in imported.sessions)]
    words += ["--name", shlex.quote(imported.name), "--baseline", shlex.quote(imported.baseline)]
    command = blocks.Code(" ".join(words), "sh", "In the folder of this set")
    return Section(
        "S24", "reproduce", "Source of the figures", (blocks.Facts(pairs), command), "appendix"
    )


def _masthead(data: ReportData, imported: Imported) -> tuple[MastheadLine, ...]:
    date = (
        f"imported {format_moment(imported.imported_at)}; when it was measured is not in the files"
    )
    return (
        MastheadLine("Set", f"{imported.name} ({imported.record_id})"),
        MastheadLine("Date (UTC)", date, top=date),
        MastheadLine("Host", data.host.cpu, top=data.host.cpu),
        MastheadLine("Baseline", data.plan.baseline.label, top=data.plan.baseline.label),
        MastheadLine("Files", ", ".join(s.label for s in imported.sessions)),
        MastheadLine(
            "Method",
            "Welch's test on the log scale, Holm-adjusted within each session; never a gate",
        ),
    )
