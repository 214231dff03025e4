"""Fuzzing of the readers with damaged files of a corpus. Only errors that benchctl defines are allowed.

The bytes of a file are cut, repeated and replaced; a JSON document also gets other values in random places.
"""

import contextlib
import copy
import json
import random
import re
import signal
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness import ROOT, Attack, Box, Failed
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from bench_framework.errors import BenchError
from bench_framework.execution import hyperfine, worker
from bench_framework.extensions.importers.compute import judge_imported
from bench_framework.extensions.importers.model import Imported, plan_of
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import embedded, records, run_table, tables
from bench_framework.store.sessions import read_session
from bench_framework.store.source import Source
from bench_framework.workflow.records.integrity import journal_differences, table_differences
from bench_framework.workflow.records.verification import verify_page, verify_record

Damages = tuple[Callable[[list[bytes]], st.SearchStrategy[bytes]], ...]

FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = 100
"""Files between two checks of the time."""
LONGEST_S = 20.0
"""Processor time after which a file counts as one that hangs benchctl."""
WORDS = "\0 \n \r \" ' , : { } [ ] \\ - e null true NaN Infinity -1 1e999 \ud800 \ufeff \\ud800 &a *a <<: | > ? ---"
BYTES = [
    *(word.encode("utf-8", "surrogatepass") for word in WORDS.split(" ")),
    *(b" ", b"9" * 400, b"[" * 3000, b"{a: " * 500, b"x" * 200_000),
]
VALUES = json.loads(
    "[null, true, -1, 0, 1, 2147483648, 9223372036854775808, 1e30, -0.0, 0.5, 1e-320, 1e308, NaN, Infinity,"
    '"", "0", "x", "../../x", "\\u001b[31m", "\\ud800", [], [[]], [null], {}, {"": 0}]'
)


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON document."""
    pairs: Any = enumerate(document) if isinstance(document, list) else ()
    pairs = document.items() if isinstance(document, dict) else pairs
    return [path, *(place for key, value in pairs for place in places(value, (*path, key)))]


@st.composite
def damaged_bytes(draw: st.DrawFn, corpus: list[bytes]) -> bytes:
    text = draw(st.sampled_from(corpus))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(
            st.integers(start, min(len(text), start + draw(st.sampled_from([0, 1, 8, 200]))))
        )
        middle = draw(st.sampled_from([*BYTES, text[start:end] * 2]) | st.binary(max_size=4))
        text = text[:start] + middle + text[end:]
    return text


@st.composite
def damaged_json(draw: st.DrawFn, corpus: list[bytes]) -> bytes:
    """Return a file of which one line, or the whole, is a JSON document with other values."""
    text = draw(st.sampled_from(corpus))
    lines = text.splitlines(keepends=True)
    at = draw(st.integers(0, len(lines) - 1))
    try:
        document, rest = json.loads(lines[at]), (b"".join(lines[:at]), b"".join(lines[at + 1 :]))
    except ValueError:
        document, rest = json.loads(text), (b"", b"")
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(document)))
        value = copy.deepcopy(draw(st.sampled_from(VALUES)))
        if not path:
            document = value
            continue
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        if draw(st.booleans()) and isinstance(inner, dict):
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
    return rest[0] + json.dumps(document, separators=(",", ":")).encode() + b"\n" + rest[1]


def scenario(_: Path, content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    expand(load(FIXTURES / "scenarios" / "fuzz.yaml", text=text))


def journal(record: Path, content: bytes) -> None:
    (record / "journal.jsonl").write_bytes(content)
    with records.open_record(record) as opened:
        tables.table_texts(Source(opened.plan, opened.contents, None))
        journal_differences(opened)


def table(record: Path, content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    with records.open_record(record) as opened:
        table_differences(
            text, tables.table_texts(Source(opened.plan, opened.contents, None))["runs"]
        )
        run_table.read(text, opened.plan, opened.contents.builds)


def importer(_: Path, content: bytes) -> None:
    session = read_session(content, "f", 1)
    at, label = "2026-01-01T00:00:00Z", session.commands[0].label
    imported = Imported(1, "r", "n", at, "0", label, (session,))
    judge_imported(plan_of(imported), imported)


def export(_: Path, content: bytes) -> None:
    hyperfine.parse(content)


def receipts(_: Path, content: bytes) -> None:
    lines = content.splitlines()
    worker.read_replies(lines, len(lines))


def page(text: str, part: re.Match[str], record: Path, content: bytes) -> None:
    """Verify a page in which one of its compressed parts is damaged."""
    outside = record.parents[2] / "page.html"
    outside.write_text(text[: part.start(1)] + embedded._packed(content) + text[part.end(1) :])
    verify_page(outside)


def record_file(name: str, record: Path, content: bytes) -> None:
    (record / name).write_bytes(content)
    verify_record(record.parent, str(record))


def fuzz(
    target: Callable[[bytes], None], strategy: st.SearchStrategy[bytes], seconds: float
) -> int:
    """Call a target with damaged files for some seconds of processor time. Return their number.

    Raises:
        Failed: another error than benchctl's, or a hang, with the smallest content that gives it.
    """
    tried, last, number, deadline = 0, b"", 0, time.process_time() + seconds

    def hang(*_: object) -> None:
        raise RuntimeError(f"no result after {LONGEST_S:.0f} s")

    signal.signal(signal.SIGPROF, hang)

    def check(content: bytes) -> None:
        nonlocal tried, last
        tried, last = tried + 1, content
        signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
        try:
            with contextlib.suppress(BenchError):
                target(content)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    limits = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    while time.process_time() < deadline:
        number += 1
        try:
            seed(number)(limits(given(strategy)(check)))()
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__, limit=-2))
            what = f"{type(error).__name__}: {error}"
            raise Failed(f"file {tried}: {what[:400]}\n{where}\n{last[:400]!r}") from error
    return tried


def attacks(folder: Path, seconds: float) -> list[Attack]:
    box = Box.make(folder / "fuzz")
    box.expect("run", "attacked.yaml")
    files = {path.name: [path.read_bytes()] for path in box.records[0].iterdir() if path.is_file()}

    def attack(
        name: str, target: Callable[[Path, bytes], None], corpus: list[bytes], damages: Damages
    ) -> Attack:
        def case(path: Path, _: int, __: random.Random) -> str:
            record = box.copy(path).records[0]
            strategy = st.one_of(*(damage(corpus) for damage in damages))
            return f"{fuzz(partial(target, record), strategy, seconds)} files"

        return Attack(f"fuzzing: {name}", case, 1)

    def corpus(*patterns: str) -> list[bytes]:
        return [path.read_bytes() for name in patterns for path in sorted(ROOT.glob(name))]

    html = files["report.html"][0].decode()
    frame, runs = embedded._RECORD.search(html), embedded._RUNS.search(html)
    assert frame is not None
    assert runs is not None
    unpacked = [embedded._unpacked(part[1]).encode() for part in (frame, runs)]
    text, both = (damaged_bytes,), (damaged_bytes, damaged_json)
    exports = corpus("tests/fixtures/hyperfine/*.json")
    scenarios = corpus("tests/fixtures/scenarios/*.yaml", "scenarios/*.yaml")
    answers = corpus("tests/fixtures/protocol/*answer*.json")
    return [
        attack("scenario", scenario, scenarios, text),
        attack("journal", journal, files["journal.jsonl"], both),
        attack("`runs.csv`", table, files["runs.csv"], text),
        attack("imported file", importer, exports, both),
        attack("export of hyperfine", export, exports, both),
        attack("receipts of workers", receipts, answers, both),
        attack(
            "plan and looks in a page, verified", partial(page, html, frame), unpacked[:1], both
        ),
        attack("runs in a page, verified", partial(page, html, runs), unpacked[1:], text),
        *(
            attack(f"`{name}`, verified", partial(record_file, name), files[name], both)
            for name in ("journal.jsonl", "plan.json", "claims.json", "manifest.json", "env.json")
        ),
    ]
