"""The report of an imported set: what its files carry, and what no file of this kind can say (R13)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from bench_framework.model.words import WORDS
from bench_framework.report.blocks import (
    Block,
    Bullets,
    Check,
    Checklist,
    Code,
    Details,
    Document,
    Facts,
    Heading,
    KeyFinding,
    Mark,
    Paragraph,
    Section,
    Sentence,
)
from bench_framework.report.imported_tables import Figures, forest, session_table
from bench_framework.report.numbers import margin_text
from bench_framework.report.sentences import sentence

if TYPE_CHECKING:
    from bench_framework.model.imported import Imported
    from bench_framework.model.judgement import Judgement

MAIN: Final = ("block-main", "block-only", "block-nothing")
TIMED_BY: Final = {
    "hyperfine-1": "hyperfine 1.x",
    "hyperfine-2": "hyperfine 2.x",
    "table": "not in a table",
}
FORMATS: Final = {
    "hyperfine-1": "JSON of hyperfine 1.x",
    "hyperfine-2": "JSON of hyperfine 2.x",
    "table": "table of published figures",
}
CANNOT: Final = (
    "Whether the machine drifted between two blocks: a difference of the means may be the machine's.",
    "What this machine could have told from nothing: no control command ran.",
    "Whether the commands did the same work: no output is in the files.",
    "Which binary ran, with which path, allocator or features, on which machine and from which cache.",
    "Anything that may stop a change: an imported set is never judged by a gate.",
)
"""What must be measured in rounds to be known."""


def build(imported: Imported, judgement: Judgement, folder: str = "") -> Document:
    """The document of a set. Equal sets give equal documents.

    Args:
        imported: what the files hold.
        judgement: of it.
        folder: of the set, as a user types it; empty if it is not on disk.
    """
    figures = Figures(imported, judgement)
    sections = [_summary(judgement), _results(figures, judgement)]
    sections += [_quality(imported), _origin(imported), _unmeasured()]
    commands = sum(len(s.commands) for s in imported.sessions)
    margin = margin_text(imported.judge.margin)
    names = ("report.html", "report.md", "cells.csv", "comparisons.csv")
    return Document(
        title=imported.name,
        question="What do figures from elsewhere carry?",
        status=judgement.status,
        facts=_facts(imported),
        trust=_trust(imported),
        run_line=f"{imported.name}  imported {_moment(imported)}  {_count(len(imported.sessions), 'file')}, "
        f"{_count(commands, 'command')}  in blocks, not interleaved  margin {margin}",
        sections=tuple(sections),
        claims=judgement.claims,
        glossary=tuple((f"{w.glyph} {w.time}", w.meaning.format(margin=margin)) for w in WORDS.values()),
        files=tuple(f"{folder.rstrip('/')}/{name}" for name in names) if folder else (),
    )


def origin(imported: Imported) -> dict[str, object]:
    """What the page says of its own set, to be read by machine."""
    return {
        "record_id": imported.record_id,
        "name": imported.name,
        "imported_at": imported.imported_at,
        "files": {session.source: session.sha256 for session in imported.sessions},
    }


def _summary(judgement: Judgement) -> Section:
    mains = [c for c in judgement.claims if c.kind in MAIN]
    rest = [c for c in judgement.claims if c.kind in {"sessions", "block-limits"}]
    lead = Paragraph((sentence(mains[0]),), lead=True)
    more = tuple(sentence(c) for c in (*mains[1:], *rest))
    return Section("S02", "answer", "Summary", (lead, Bullets(more)))


def _results(figures: Figures, judgement: Judgement) -> Section:
    several = len(figures.imported.sessions) > 1
    blocks: list[Block] = []
    for number, session in enumerate(figures.imported.sessions, 1):
        if several:
            blocks.append(Heading(session.label, f"session-{number}-results"))
        if (figure := forest(figures, session, number)) is not None:
            blocks.append(figure)
        blocks.append(session_table(figures, session, number))
        ids = {command.id for command in session.commands}
        own = [c for c in judgement.claims if ids & set(c.cells)]
        key = next((c for c in own if c.kind in MAIN), None)
        if key is not None:
            blocks.append(KeyFinding(sentence(key)))
        told = tuple(sentence(c) for c in own if c.kind in {"block-comparison", "block-memory"})
        if told:
            blocks.append(Details("Every comparison of this session as a sentence", (Bullets(told),)))
    return Section("S03", "results", "Results", tuple(blocks))


def _quality(imported: Imported) -> Section:
    return Section("S21", "quality", "Can it be believed?", (Checklist(_checks(imported)),))


def _checks(imported: Imported) -> tuple[Check, ...]:
    runs = [command.runs for s in imported.sessions for command in s.commands]
    known = [n for n in runs if n is not None]
    failed = sum(command.failed for s in imported.sessions for command in s.commands)
    kinds = {s.memory for s in imported.sessions}
    enough: Mark = "pass" if len(known) == len(runs) and min(known, default=0) > 1 else "warn"
    least = min(known, default=0)
    unknown = len(runs) - len(known)
    counted = f"{least} at least" + (f"; not given for {unknown} commands" if unknown else "")
    if "running-maximum" in kinds:
        memory = Check("fail", "memory of each command", "hyperfine 1.x: a running maximum, left out")
    elif "per-run" in kinds:
        memory = Check("pass", "memory of each command", "measured per run")
    else:
        memory = Check("unknown", "memory of each command", "not in the files, or one figure for all runs")
    return (
        Check("fail", "order random", "no: each command ran in one block, and blocks do not share the drift"),
        Check("fail", "control command", "none: the noise floor is not known"),
        Check("unknown", "outputs equal", "not in the files"),
        Check(enough, "runs of each command", counted),
        Check("warn" if failed else "pass", "failed runs", f"{failed} are left out" if failed else "none"),
        memory,
        Check("unknown", "same machine, same cache, same binary", "not in the files"),
        Check("unknown", "timed by", ", ".join(dict.fromkeys(TIMED_BY[s.format] for s in imported.sessions))),
    )


def _trust(imported: Imported) -> tuple[Check, ...]:
    checks = {check.label: check for check in _checks(imported)}
    return (
        Check("fail", "order", "in blocks"),
        Check("fail", "noise floor", "not measured"),
        Check("unknown", "outputs", "not compared"),
        checks["runs of each command"],
    )


def _origin(imported: Imported) -> Section:
    pairs = tuple((s.source, f"{FORMATS[s.format]}, sha256 {s.sha256[:12]}") for s in imported.sessions)
    words = ["benchctl import", *(s.source for s in imported.sessions)]
    words += ["--name", shlex.quote(imported.name), "--baseline", shlex.quote(imported.baseline)]
    command = Code(" ".join(words), "sh", "In the folder of this set")
    return Section("S24", "reproduce", "Where it comes from", (Facts(pairs), command))


def _unmeasured() -> Section:
    items = tuple(Sentence(text) for text in CANNOT)
    lead = Paragraph((Sentence("None of this can follow from figures that were measured in blocks:"),))
    return Section("S25", "not-measured", "What these files cannot say", (lead, Bullets(items)))


def _facts(imported: Imported) -> tuple[tuple[str, str], ...]:
    facts = (
        ("Set", f"{imported.name} ({imported.record_id})"),
        ("Date (UTC)", f"imported {_moment(imported)}; when it was measured is not in the files"),
        ("Host", "not in the files"),
        ("Baseline", imported.baseline),
        ("Files", ", ".join(s.label for s in imported.sessions)),
        ("Method", "Welch on the log scale, Holm within each session; never a gate"),
    )
    return tuple((name, value) for name, value in facts if value)


def _moment(imported: Imported) -> str:
    return imported.imported_at[:16].replace("T", " ")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
