"""Figures that were measured elsewhere: from files to a set in ``results/``, and every command that opens one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework import assets
from bench_framework.errors import UsageError
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.workflow.page_verification import page_differences
from bench_framework.workflow.pages import FORMATS, Format, Pages
from bench_framework.workflow.verification import Verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.imported import Imported, Session
    from bench_framework.model.judgement import Judgement
    from bench_framework.report import Document
    from bench_framework.store.imports import ImportedSet
    from bench_framework.workflow.comparison import ComparedTable

NAMES: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
SECTIONS: Final = ("S02", "S03")
METRICS: Final = (WALL, CPU, PEAK_RSS)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import may be told.

    Attributes:
        results: folder of the records.
        name: of the set; that of the first file if `None`.
        baseline: label of the command that others are compared with; the first of the first file if `None`.
    """

    results: Path = Path("results")
    name: str | None = None
    baseline: str | None = None


def import_files(files: Sequence[Path], options: ImportOptions) -> Pages:
    """Read files, judge them, and write the set with its report; nothing is written if one of them is wrong.

    Raises:
        UsageError: BX100, BX450 to BX454: a file, a label or a name is wrong.
        MachineError: BX235, the set cannot be written.
    """
    from bench_framework.analysis.blocks_in_turn import judge_imported
    from bench_framework.execution.host import utc_now
    from bench_framework.model.imported import Imported
    from bench_framework.store import imports, journal, records
    from bench_framework.store.importers import sessions as reader
    from bench_framework.version import __version__

    name = _name(options.name, files)
    for path in (options.results.absolute(), *files):
        records.require_unicode(path)
    contents = [reader.read_bytes(path) for path in files]
    labels = _labels(files)
    found = tuple(
        reader.read_session(content, label, number)
        for number, (content, label) in enumerate(zip(contents, labels, strict=True), 1)
    )
    baseline = _chosen_baseline(found, options)
    at = utc_now()
    with imports.new_folder(options.results, name, at) as (final, draft):
        imported = Imported(
            journal.SCHEMA_VERSION,
            final.name,
            name,
            at,
            __version__,
            baseline,
            found,
        )
        judgement = judge_imported(imported)
        written = imports.ImportedSet(draft, imported)
        sources = {s.source: content for s, content in zip(found, contents, strict=True)}
        written.save(judgement, sources)
        pages = _write_pages(written, judgement, _shown(final), FORMATS)
    files_written = tuple(final / path.name for path in pages.files)
    return Pages(final.absolute(), files_written, pages.document)


def _name(wanted: str | None, files: Sequence[Path]) -> str:
    from bench_framework.store.importers.sessions import slug

    name = wanted if wanted is not None else slug(files[0].stem)
    if NAMES.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is no name for a set",
            effect="nothing was imported",
            help="--name takes letters, digits, dots, hyphens and underscores, beginning with a letter or digit",
        )
    return name


def _labels(files: Sequence[Path]) -> list[str]:
    """Names of files; with their folders where two have one name."""
    names = [path.name for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


def _chosen_baseline(found: Sequence[Session], options: ImportOptions) -> str:
    """The baseline's label. Raises `UsageError`, BX453: it is in no file, or one file was given twice."""
    twice = [digest for digest, count in Counter(s.sha256 for s in found).items() if count > 1]
    if twice:
        names = ", ".join(s.label for s in found if s.sha256 == twice[0])
        raise _wrong(f"one file was given twice: {names}", "give each file once: each file is one session")
    known = list(dict.fromkeys(command.label for session in found for command in session.commands))
    if options.baseline is not None and options.baseline not in known:
        raise _wrong(
            f"--baseline {options.baseline!r} is in no file", f"the labels are: {', '.join(known[:8])}"
        )
    return options.baseline if options.baseline is not None else known[0]


def _wrong(message: str, help_text: str) -> UsageError:
    return UsageError(message, code="BX453", effect="nothing was imported", help=help_text)


def _shown(folder: Path) -> str:
    """A set's folder as the user may type it."""
    return "/".join(folder.absolute().parts[-3:])


def _write_pages(
    one: ImportedSet, judgement: Judgement, folder: str, formats: tuple[Format, ...]
) -> Pages:  # fmt: skip
    from bench_framework.report import imported as report
    from bench_framework.store import layout

    document = report.build(one.imported, judgement, folder)
    made = _rendered(one.imported, document, formats)
    for name, text in made.items():
        layout.write_whole(one.path / name, text)
    if made:
        one.seal()
    files = tuple(one.path / name for name in made if "/" not in name)
    return Pages(one.path, files, document if "term" in formats else None)


def _rendered(imported: Imported, document: Document, formats: tuple[Format, ...]) -> dict[str, str]:
    """The files of a report by their name; equal sets give equal texts."""
    from bench_framework.report import figures
    from bench_framework.report import imported as report
    from bench_framework.report.render import html, markdown

    templates = assets.template_dir()
    made: dict[str, str] = {}
    drawings = figures.drawings(document) if {"html", "md"} & set(formats) else {}
    drawn = {figure.anchor: figure for figure in document.figures() if figure.anchor in drawings}
    if "html" in formats:
        inline = {anchor: figures.inline(drawings[anchor], figure) for anchor, figure in drawn.items()}
        made["report.html"] = html.page(document, templates, inline, report.origin(imported))
    if "md" in formats:
        for anchor, figure in drawn.items():
            made[f"figures/{anchor}.svg"] = figures.standalone(drawings[anchor], figure)
        made["report.md"] = markdown.render(document, templates)
    return made


def report_imported(folder: Path, formats: tuple[Format, ...]) -> Pages:
    """Render a set again; verdicts are read, none is recomputed."""
    from bench_framework.store.imports import ImportedSet

    one = ImportedSet.open(folder)
    return _write_pages(one, one.judgement(), _shown(folder), formats)


def compare_imported(
    folder: Path, *, baseline: str | None, candidate: str | None, metrics: tuple[str, ...]
) -> ComparedTable:  # fmt: skip
    """A set with another baseline, or one candidate only; labels select, as a set has no axes.

    Raises:
        UsageError: BX106, no such label; BX107, a metric that no imported file has.
    """
    from bench_framework.analysis.blocks_in_turn import judge_imported
    from bench_framework.report import imported as report
    from bench_framework.store.imports import ImportedSet
    from bench_framework.workflow.comparison import ComparedTable

    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown:
        raise UsageError(
            f"no metric {', '.join(unknown)} in an imported set",
            code="BX107",
            help=f"metrics: {', '.join(METRICS)}",
        )
    one = ImportedSet.open(folder)
    imported, judgement = one.imported, one.judgement()
    if baseline is not None or candidate is not None:
        imported = _selected(imported, baseline, candidate)
        judgement = judge_imported(imported)
    document = report.build(imported, judgement)
    kept = tuple(s for s in document.sections if s.code in SECTIONS)
    shown = tuple(
        c for c in judgement.comparisons if c.family in {"headline", "memory"} and c.metric in metrics
    )
    return ComparedTable(shown, replace(document, sections=kept))


def _selected(imported: Imported, baseline: str | None, candidate: str | None) -> Imported:
    known = list(dict.fromkeys(command.label for s in imported.sessions for command in s.commands))
    for label in (baseline, candidate):
        if label is not None and label not in known:
            raise UsageError(
                f"{label!r} is no label of this imported set",
                code="BX106",
                details=tuple(("there is", name) for name in known[:8]),
            )
    base = baseline if baseline is not None else imported.baseline
    if base == candidate:
        raise UsageError("the candidate is the baseline", code="BX106", help="name two labels of this set")
    if candidate is not None:
        kept = [
            replace(s, commands=tuple(a for a in s.commands if a.label in {base, candidate}))
            for s in imported.sessions
        ]
        imported = replace(imported, sessions=tuple(s for s in kept if s.commands))
    return replace(imported, baseline=base)


def verify_imported(folder: Path) -> Verification:
    """Compare files with the manifest, read the sources again, judge again, and render again."""
    from bench_framework.analysis.blocks_in_turn import judge_imported
    from bench_framework.report import imported as report
    from bench_framework.store import manifest
    from bench_framework.store.importers.sessions import read_session
    from bench_framework.store.imports import ImportedSet

    listed = manifest.read_manifest(folder)
    found = [f"{mismatch.path}: {mismatch.what}" for mismatch in manifest.check_manifest(folder)]
    one = ImportedSet.open(folder)
    for number, session in enumerate(one.imported.sessions, 1):
        try:
            again_read = read_session(one.source(session.source), session.label, number)
        except UsageError as error:
            found.append(f"{session.source}: {error.message}")
            continue
        if again_read != session:
            found.append(f"imported.json: does not follow from {session.source}")
    saved, again = one.judgement(), judge_imported(one.imported)
    kept, made = ({claim.text for claim in j.claims} for j in (saved, again))
    found += [f"claims.json: does not follow from the figures: {text}" for text in sorted(kept - made)]
    found += [f"claims.json: lacks what follows from the figures: {text}" for text in sorted(made - kept)]
    if saved != again and kept == made:
        found.append("claims.json: the judgement does not follow from the figures")
    document = report.build(one.imported, saved, _shown(folder))
    for name, text in _rendered(one.imported, document, FORMATS).items():
        if (folder / name).is_file() and (there := (folder / name).read_bytes()) != text.encode():
            if name.endswith(".html"):
                lines = page_differences(there.decode("utf-8", errors="replace"))
                found += [f"{name}: {line}" for line in lines]
            found.append(f"{name}: not what the claims render to")
    return Verification(folder, len(listed), len(again.claims), tuple(found), "the figures")
