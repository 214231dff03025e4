"""The site of ``benchctl site``: pages of all records that any host of static files can publish.

`STATE` in the folder lists the records that the pages contain, with digests. It is written last, and every
few seconds while reports are rendered, then without the digest of the other pages. So the next run
keeps the reports of a run that was interrupted, and writes the other pages. Only files that are
benchctl's are overwritten or removed.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError, RecordError, UsageError
from bench_framework.execution import process
from bench_framework.execution.build.revisions import Git
from bench_framework.execution.machine import host
from bench_framework.extensions.history import site_pages as render
from bench_framework.extensions.history.model import History
from bench_framework.extensions.history.record_summary import read_summary
from bench_framework.extensions.history.series import scenario_history
from bench_framework.extensions.history.site_pages import SiteRecord
from bench_framework.features.document import build_document
from bench_framework.foreign import is_below, parse_json, read_regular
from bench_framework.model.metrics import WALL
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.machine import fingerprint
from bench_framework.report.claim_blocks import MAIN_KINDS
from bench_framework.report.render.templates import Templates
from bench_framework.store import finding, layout, manifest
from bench_framework.store.records import open_record
from bench_framework.version import __version__
from bench_framework.workflow.pages import APPENDIX, PAGE, judge_record, render_files, report_data
from bench_framework.workflow.records.integrity import corruption_reported

STATE: Final = ".benchctl-site.json"
VERSION: Final = 3
INDEX: Final = "index.html"
SAVE_S: Final = 5.0
"""Interval in seconds at which the reports that are rendered are noted in `STATE`."""
MARK: Final = b'content="benchctl'
"""Text near the start of each page that benchctl wrote."""
HEAD: Final = 4096
FEWEST: Final = 2
"""Fewest records of a machine for a chart."""
_FILE: Final = re.compile(
    rf"{re.escape(PAGE)}|{re.escape(APPENDIX)}|profiles/\w+/(?:flame\.svg|difference\.svg|folded\.txt|top\.csv)"
)
"""Files of a record on the site: the report, its appendix, and the files to which they link."""
_TEMPLATES: Final = ("site.html.j2", "site.css", "site.js", "report.css", "report.js")


@dataclass(frozen=True, slots=True)
class Site:
    """The result of `site`. Paths are relative to the folder."""

    folder: str
    """Folder of the site."""
    records: int
    """Number of records in it."""
    written: tuple[str, ...]
    """Files that were written."""
    removed: tuple[str, ...]
    """Files that were removed."""
    left_out: tuple[tuple[str, Reason], ...]
    """Record and reason for each record that the site does not contain."""


def write_site(
    results: Path,
    out: Path,
    *,
    remote: str = "",
    notify: Callable[[int, int], object] = lambda _done, _all: None,
) -> Site:
    """Write or update the site of all finished records under `results`.

    `remote` is the https URL of the repository whose commits the pages link to, or another text for
    no links. `notify` gets the number of reports that are rendered, and of those to render.

    Raises:
        UsageError: BX101, there is no finished record; BX103, a file of the site exists and is not
            benchctl's; BX104, one of the folders contains the other.
        MachineError: BX235, writing failed.
    """
    here, there = results.resolve(), out.resolve()
    if here.is_relative_to(there) or there.is_relative_to(here):
        raise UsageError("BX104.site-in-results", out=out, results=results)
    templates, commits = Templates(), render.Commits.from_remote(remote)
    look = _digest("\0".join((__version__, commits.base, *map(templates.text, _TEMPLATES))))
    old_look, old = _read_state(out)
    left_out = dict[str, Reason]()
    digests = dict(_digests(results, left_out))
    unchanged = {
        name: record
        for name, (digest, record) in old.items()
        if digests.get(name) == digest and all((out / name / f).is_file() for f in record.files)
    }
    _require_ours(out, [INDEX, *(f"{name.partition('/')[0]}/{INDEX}" for name in digests)])
    changing = {name: digest for name, digest in digests.items() if name not in unchanged}
    new = _render(results, out, changing, old, left_out, notify)
    records = unchanged | new
    if not records:
        raise UsageError("BX101.no-finished-record-under", results=results)
    gone = [name for name in old if name not in records]
    changed = {name.partition("/")[0] for name in (*new, *gone)}
    order = sorted(records.values(), key=lambda r: (r.scenario, *layout.order_key(r.id)))
    scenarios = {name: [*group] for name, group in groupby(order, key=lambda r: r.scenario)}
    stale = [
        name
        for name in scenarios
        if name in changed or look != old_look or not (out / name / INDEX).is_file()
    ]
    pages = [f"{name}/{INDEX}" for name in stale]
    if pages or changed or not (out / INDEX).is_file():
        pages.append(INDEX)
    rendered = [f"{name}/{file}" for name, record in new.items() for file in record.files]
    with layout.writing(out):
        for path in (out / file for file in (*rendered, *pages, STATE)):
            for part in path.parent.glob(f".{path.name}.*.part"):  # of a killed process
                part.unlink(missing_ok=True)
    for name in stale:
        members = scenarios[name]
        text = render.render_scenario(templates, members, _histories(results, members), commits)
        layout.write_whole(out / name / INDEX, text)
    if INDEX in pages:
        layout.write_whole(out / INDEX, render.render_index(templates, scenarios, commits))
    files = [f"{name}/{file}" for name in gone for file in old[name][1].files]
    files += [f"{name}/{INDEX}" for name in sorted(changed - scenarios.keys())]
    removed = tuple(_remove(out, files))
    if pages:
        _write_state(out, look, {name: (digests[name], records[name]) for name in records})
    return Site(str(out), len(records), (*rendered, *pages), removed, tuple(left_out.items()))


def _render(
    results: Path,
    out: Path,
    digests: dict[str, str],
    old: dict[str, tuple[str, SiteRecord]],
    left_out: dict[str, Reason],
    notify: Callable[[int, int], object],
) -> dict[str, SiteRecord]:
    """Render reports, and note in `STATE` which ones, also if the user stops it."""
    new: dict[str, SiteRecord] = {}

    def save() -> None:
        done = {name: (digests[name], record) for name, record in new.items()}
        _write_state(out, "", old | done)

    saved = host.seconds()
    try:
        for number, name in enumerate(digests):
            notify(number, len(digests))
            try:
                new[name] = _write_record(results / name, out / name)
            except RecordError as error:
                left_out[name] = Reason(ReasonCode.ERROR, (error.code, error.message))
            if host.seconds() - saved >= SAVE_S:
                save()
                saved = host.seconds()
    finally:
        if new:
            save()
    return new


def origin() -> str:
    """Return the remote `origin` of the repository in the current folder; empty without one."""
    with process.Launcher() as launcher:
        return Git(launcher, host.environment()).try_run("remote", "get-url", "origin") or ""


def _digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _read_state(out: Path) -> tuple[str, dict[str, tuple[str, SiteRecord]]]:
    """Return the content of `STATE`; empty for a new site, and for one of another version.

    It is a digest of what all pages depend on, and by ``SCENARIO/ID`` the digest of the record's
    manifest and what the pages show.
    """
    try:
        content = parse_json(read_regular(out / STATE))
        records = {
            name: (str(digest), SiteRecord(**entry))
            for name, (digest, entry) in content["records"].items()
            if _is_name(name) and all(map(_FILE.fullmatch, entry["files"]))
        }
        return (str(content["look"]), records) if content["version"] == VERSION else ("", {})
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return "", {}


def _write_state(out: Path, look: str, records: dict[str, tuple[str, SiteRecord]]) -> None:
    stored = {name: [digest, asdict(record)] for name, (digest, record) in sorted(records.items())}
    state = {"version": VERSION, "look": look, "records": stored}
    layout.write_whole(out / STATE, json.dumps(state, ensure_ascii=False) + "\n")


def _is_name(name: str) -> bool:
    """Return whether a text is ``SCENARIO/ID``, so that it cannot be a path elsewhere."""
    scenario, _, record = name.partition("/")
    return scenario != INDEX and is_below(scenario) and layout.is_record_id(record)


def _digests(results: Path, left_out: dict[str, Reason]) -> Iterator[tuple[str, str]]:
    for folder in finding.find_records(results, without_rounds=True):
        name = f"{folder.parent.name}/{folder.name}"
        try:
            if _is_name(name):
                # Another version renders other pages of the same record.
                text = f"{__version__}\n".encode() + read_regular(folder / layout.MANIFEST)
                yield name, _digest(text)
        except FileNotFoundError:
            left_out[name] = Reason(ReasonCode.UNFINISHED)
        except OSError as error:
            left_out[name] = Reason(ReasonCode.MANIFEST_UNREADABLE, str(error.strerror))


def _write_record(folder: Path, out: Path) -> SiteRecord:
    """Render the pages of a record into the site, and return what the other pages show of it.

    The pages of a record from elsewhere may contain anything, so none is copied, and none uses the
    record's own templates.

    Raises `RecordError`: the record is damaged or was changed.
    """
    for one in manifest.check_manifest(folder):
        if manifest.is_measured(one.path) or one.path == layout.CLAIMS:
            raise RecordError("BX415.changed", name=one.path)
    entry = _entry(folder)
    with open_record(folder) as record, corruption_reported(folder):
        data = report_data(record, record.judgement() or judge_record(record))
        files = render_files(data, build_document(data), formats=("html",))
    layout.write_all(out, files)
    return replace(entry, files=sorted(files))


def _entry(folder: Path) -> SiteRecord:
    """Read what the pages show of a record. Raises `RecordError`: it is damaged."""
    try:
        judgement = parse_json(read_regular(folder / layout.CLAIMS))["judgement"]
        if finding.kind_of(folder) is not None:
            record = open_record(folder)
            header, revisions, machine = record.contents.header, [], ""
            question = record.plan.question
        else:
            summary = read_summary(folder, WALL)
            header = summary.header
            revisions = [b.revision for b in summary.prepared.builds if b.revision]
            machine = fingerprint(summary.prepared.host).digest
            question = parse_json(summary.plan)["question"]
        claims = {claim["fact"]["kind"]: claim["text"] for claim in reversed(judgement["claims"])}
        answers = [claims[kind] for kind in ("answer", *MAIN_KINDS) if kind in claims]
        return SiteRecord(
            folder.parent.name,
            folder.name,
            header.started_at,
            str(question),
            str(judgement["status"]),
            next(iter(answers), ""),
            [*dict.fromkeys(revisions)],
            machine,
            [],
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RecordError("BX411.history-entry-damaged", error=error) from error


def _histories(results: Path, records: list[SiteRecord]) -> list[History]:
    """Return the history of each machine with several records, the one with most records first."""
    counts = Counter(record.machine for record in records if record.machine)
    histories = []
    for machine, count in counts.most_common():
        if count >= FEWEST:
            with suppress(BenchError):  # nothing in these records can be in a series
                histories.append(scenario_history(results, records[0].scenario, machine=machine))
    return histories


def _require_ours(out: Path, pages: list[str]) -> None:
    """Refuse to overwrite a page that is not benchctl's. Raises `UsageError`, BX103."""
    if out.exists() and not out.is_dir():
        raise UsageError("BX103.not-a-folder", out=out)
    for path in (out / page for page in pages):
        try:
            ours = not path.exists() or MARK in read_regular(path)[:HEAD]
        except OSError:
            ours = False
        if not ours:
            raise UsageError("BX103.foreign-file", path=path)


def _remove(out: Path, files: list[str]) -> Iterator[str]:
    """Remove files, and folders that become empty. Yield the files."""
    with layout.writing(out):
        for file in files:
            (out / file).unlink(missing_ok=True)
            yield file
            for folder in Path(file).parents[:-1]:
                if (out / folder).is_dir() and not any((out / folder).iterdir()):
                    (out / folder).rmdir()
