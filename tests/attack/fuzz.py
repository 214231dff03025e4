"""Fuzzing of the readers with damaged files of a corpus. Only benchctl's own errors are allowed.

The bytes of a file are cut, repeated and replaced; a JSON document also gets other values in random places.
"""

from __future__ import annotations

import copy
import json
import math
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

from harness import ROOT, Attack, Box, Failed
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench_framework.errors import BenchError
from bench_framework.execution import hyperfine, worker
from bench_framework.features.imported.compute import judge_imported
from bench_framework.model.imported import Imported, plan_of
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import imports, run_table, tables
from bench_framework.store.importers.sessions import read_session
from bench_framework.store.source import Source
from bench_framework.workflow import journal_check
from bench_framework.workflow.verification import table_differences, verify_record

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = 100
"""Examples between two looks at the clock."""
BYTES = [
    *(
        b"",
        b"\0",
        b"\n",
        b"\r",
        b'"',
        b"'",
        b",",
        b":",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\\",
        b"-",
        b"e",
        b"9" * 400,
    ),
    *(
        b"null",
        b"true",
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e999",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\\ud800",
    ),
    *(
        b"&a ",
        b"*a",
        b"!!int ",
        b"<<: ",
        b"|",
        b">",
        b"? ",
        b"---\n",
        b"%YAML 1.1\n",
        b"\t",
        b"[" * 3000,
        b"{a: " * 500,
    ),
]
VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, -0.0, 0.5, 1e-320, 1e308, math.nan, math.inf),
    *("", "0", "x", "../../x", "\x1b[31m", "\ud800", "x" * 2000, [], [[]], [None], {}, {"": 0}),
]


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON document."""
    pairs = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
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


def scenario(content: bytes) -> None:
    expand(
        load(FIXTURES / "scenarios" / "fuzz.yaml", text=content.decode("utf-8", "surrogateescape"))
    )


def journal(record: Path, content: bytes) -> None:
    (record / "journal.jsonl").write_bytes(content)
    with imports.open_record(record) as opened:
        tables.table_texts(Source(opened.plan, opened.contents, None))
        journal_check.journal_differences(opened)


def table(record: Path, expected: str, content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    table_differences(text, expected)
    with imports.open_record(record) as opened:
        run_table.read(text, opened.plan, opened.contents.builds)


def importer(content: bytes) -> None:
    session = read_session(content, "f", 1)
    label = session.commands[0].label
    imported = Imported(1, "r", "n", "2026-01-01T00:00:00Z", "0", label, (session,))
    judge_imported(plan_of(imported), imported)


def export(content: bytes) -> None:
    hyperfine.parse(content)


def receipts(content: bytes) -> None:
    lines = content.splitlines()
    worker.read_replies(lines, len(lines))


def record_file(record: Path, name: str, content: bytes) -> None:
    (record / name).write_bytes(content)
    verify_record(record.parent, str(record))


def fuzz(target: Callable[[bytes], None], corpus: list[bytes], seconds: float, start: int) -> int:
    """Call a target with damaged files for some seconds. Return their number.

    Raises:
        Failed: another error than benchctl's, with the smallest content that gives it.
    """
    strategy = damaged_bytes(corpus)
    try:
        for text in corpus:
            json.loads(text.splitlines()[0] if b"\n" in text.strip() else text)
        strategy |= damaged_json(corpus)
    except ValueError:
        pass  # YAML and CSV are damaged as bytes only
    tried, last, deadline = 0, b"", time.monotonic() + seconds

    def check(content: bytes) -> None:
        nonlocal tried, last
        tried, last = tried + 1, content
        try:
            target(content)
        except BenchError:
            return

    number = start
    while time.monotonic() < deadline:
        number += 1
        limits = settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        try:
            seed(number)(limits(given(strategy)(check)))()
        except Exception as error:
            raise Failed(
                f"{tried} tries; content {last[:600]!r}: {traceback.format_exc()[-1500:]}"
            ) from error
    return tried


def attacks(folder: Path, seconds: float, shards: int) -> list[Attack]:
    box = Box.make(folder / "fuzz")
    box.expect("run", "attacked.yaml")
    record = box.records[0]
    texts = {path.name: path.read_bytes() for path in record.iterdir() if path.is_file()}

    def opened(path: Path, target: Callable[..., None], *values: object) -> Callable[[bytes], None]:
        """Return a target that writes into its own copy of the record."""
        return partial(target, box.copy(path).records[0], *values)

    def read(*names: str) -> list[bytes]:
        return [path.read_bytes() for name in names for path in sorted(ROOT.glob(name))]

    expected = texts["runs.csv"].decode()
    targets: dict[str, tuple[Callable[[Path], Callable[[bytes], None]], list[bytes]]] = {
        "scenario": (
            lambda _: scenario,
            read("tests/fixtures/scenarios/*.yaml", "scenarios/*.yaml"),
        ),
        "journal": (lambda path: opened(path, journal), [texts["journal.jsonl"]]),
        "`runs.csv`": (lambda path: opened(path, table, expected), [texts["runs.csv"]]),
        "imported file": (lambda _: importer, read("tests/fixtures/hyperfine/*.json")),
        "export of hyperfine": (lambda _: export, read("tests/fixtures/hyperfine/*.json")),
        "receipts": (lambda _: receipts, read("tests/fixtures/protocol/*answer*.json")),
        **{
            f"`{name}`, verified": (
                lambda path, name=name: opened(path, record_file, name),
                [texts[name]],
            )
            for name in ("journal.jsonl", "plan.json", "claims.json", "manifest.json", "env.json")
        },
    }
    return [
        Attack(f"fuzzing: {name}", _case(make, corpus, seconds), shards)
        for name, (make, corpus) in targets.items()
    ]


def _case(
    make: Callable[[Path], Callable[[bytes], None]], corpus: list[bytes], seconds: float
) -> Callable[[Path, int, random.Random], str]:
    def case(path: Path, number: int, _: random.Random) -> str:
        return f"{fuzz(make(path), corpus, seconds, number * 10**6)} files"

    return case
