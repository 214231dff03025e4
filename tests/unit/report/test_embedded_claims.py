"""The table of claims that a page carries: nothing is lost, nothing that does not hold together is read."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench_framework.model.judgement import Claim
from bench_framework.model.verdict import Verdict
from bench_framework.report.render.embedding import packed, unpacked
from bench_framework.report.render.html import embedded_claims, safe_json

if TYPE_CHECKING:
    from bench_framework.report import ReportData

words = st.text(max_size=12)
numbers = st.floats(allow_nan=False) | st.integers(-9, 9)


def read(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    return unpacked(json.loads(safe_json(packed(claims))))


def claim(text: str, subject: str = "a", reference: str | None = "b", **more: Any) -> Claim:
    scope = more.pop("scope", ())
    return Claim("c1", "comparison", subject, reference, "wall", scope, None, text=text, **more)


def test_the_claims_of_a_record_come_back_whole(data: ReportData) -> None:
    claims = data.judgement.claims
    assert read(claims) == claims
    assert [type(c.verdict) for c in read(claims)] == [type(c.verdict) for c in claims]


def test_they_weigh_a_third_of_what_they_do_written_out(data: ReportData) -> None:
    claims = data.judgement.claims
    written = safe_json([asdict(c) for c in claims])
    assert len(safe_json(packed(claims)).encode()) * 3 < len(written.encode())


@given(text=words, subject=words, reference=st.none() | words, value=numbers, said=words)
@example(text="{s}{{}}{", subject="{s}", reference="{}", value=1, said="1")
@example(
    text="rayon+x against rayon: 2.5 % [\u22121.5, +3.0]",
    subject="rayon",
    reference="rayon+x",
    value=1.0,
    said="",
)
@example(text="12a12b12", subject="12", reference="1", value=True, said="\u2028</script>")
@example(text="", subject="", reference="", value=0.1, said="{}")
def test_any_sentence_comes_back(
    text: str, subject: str, reference: str | None, value: float, said: str
) -> None:
    one = claim(text, subject, reference, estimate=value, rounds=1, values={said: value, "word": said})
    two = claim(
        text + text, subject, reference, lo=1.0, level=1, scope=(("input", said),), cells=(said, text)
    )
    found = read((one, two))
    assert found == (one, two)
    # 1, 1.0 and true are equal in Python, and not the same figure.
    assert [safe_json(asdict(c)) for c in found] == [safe_json(asdict(c)) for c in (one, two)]


def test_every_verdict_comes_back() -> None:
    claims = tuple(Claim(f"c{n}", "k", "", None, None, (), verdict) for n, verdict in enumerate(Verdict))
    assert read(claims) == claims


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: t.update(form=2), "form 2"),
        (lambda t: t.pop("shared"), "does not hold together"),
        (lambda t: t["shared"].clear(), "does not hold together"),
        (lambda t: t["rows"][0].pop(), "fields instead of"),
        (lambda t: t["rows"][0].append(t["rows"][0].pop() + " 9"), "a word too many"),
        (lambda t: t["rows"][0].append(t["rows"][0].pop().split()[0]), "lacks a word"),
        (lambda t: t["fields"].__setitem__(0, "other"), "does not hold together"),
    ],
)
def test_a_table_that_was_tampered_with_is_refused(spoil: Any, said: str) -> None:
    table = packed((claim("a needs 1.5 % more than b"),))
    spoil(table)
    with pytest.raises(ValueError, match=said):
        unpacked(table)


def test_a_page_without_claims_says_so() -> None:
    with pytest.raises(ValueError, match="carries no claims"):
        embedded_claims("<!doctype html>")
