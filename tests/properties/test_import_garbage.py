"""Any content of an imported file is read and judged, or refused with one code and no other error."""

import json
import math

from hypothesis import given, settings, strategies as st

from bench_framework.errors import UsageError
from bench_framework.extensions.importers.model import Imported
from bench_framework.extensions.importers.record_kind import load
from bench_framework.features.document import build_document
from bench_framework.model.record.sessions import HarnessSession
from bench_framework.store import wire
from bench_framework.store.sessions import read_session
from tests.unit.checklist.conftest import report_of

CODES = {"BX451", "BX452", "BX453", "BX454"}
LEAVES = (
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8)
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4), max_leaves=6)
KEYS = ("command", "times", "user", "system", "memory_usage_byte", "exit_codes", "measurements")
RESULT = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=7)
EXPORT = st.fixed_dictionaries(
    {"results": st.lists(RESULT, max_size=3) | VALUES},
    optional={"schema_version": st.integers(0, 3) | VALUES},
)
CELL = (
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=6)
    | st.floats().map(repr)
    | st.sampled_from(
        ["ms", "s", "µs", "1", "0", "-1", "nan", "inf", "1e400", "1_0", "", " ", '"', "|", "٣"]
    )
)
TIMES = st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=6)


def read(content: bytes) -> HarnessSession | None:
    codes: list[str] = []
    try:
        return read_session(content, "f", 1)
    except UsageError as error:
        codes.append(error.code)
    assert set(codes) <= CODES
    return None


def judge(session: HarnessSession) -> None:
    """Judge an imported set: it survives a round trip, has a page, and contains no NaN."""
    imported = Imported(
        1, "r", "n", "2026-01-01T00:00:00Z", "0", session.commands[0].label, (session,)
    )
    assert load(wire.dump(Imported, imported).encode()).imported == imported
    data = report_of(imported)
    judged = data.judgement
    build_document(data)
    for comparison in judged.comparisons:
        if comparison.shown is not None:
            assert not math.isnan(comparison.shown.ratio)
            assert comparison.shown.lo <= comparison.shown.ratio <= comparison.shown.hi
    for claim in judged.claims:
        assert claim.text.startswith("Within one session, not interleaved")


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    if content.strip() and (session := read(content)) is not None:
        judge(session)


@given(EXPORT)
@settings(max_examples=3 * settings().max_examples)
def test_any_json_of_hyperfines_keys(document: object) -> None:
    if (session := read(json.dumps(document).encode("utf-8", "surrogatepass"))) is not None:
        judge(session)


@given(st.lists(st.lists(CELL, min_size=5, max_size=5), max_size=4))
@settings(max_examples=3 * settings().max_examples)
def test_any_cells_of_a_table(rows: list[list[str]]) -> None:
    text = "\n".join(["label,mean,sd,n,unit", *(",".join(row) for row in rows)])
    if (session := read(text.encode())) is not None:
        judge(session)


@given(st.lists(TIMES, min_size=2, max_size=4))
def test_any_times_are_judged(times: list[list[float]]) -> None:
    results = [
        {
            "command": f"c{n}",
            "times": runs,
            "user": 0.0,
            "system": 0.0,
            "exit_codes": [0] * len(runs),
        }
        for n, runs in enumerate(times)
    ]
    session = read(json.dumps({"results": results}).encode())
    assert session is not None
    judge(session)
