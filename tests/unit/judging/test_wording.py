"""Words of verdicts, and the scope in sentences. tests/sentences.txt has the sentences."""

import os
import sys
from dataclasses import replace

import pytest

from bench_framework.model.facts import AxisEffect, Claim, Compared, Fact, GapClosed, RaceIdle
from bench_framework.model.verdict import Verdict
from bench_framework.text.words import WORDS, glyph, word
from bench_framework.text.write import say


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_has_a_word_and_two_signs(verdict: Verdict) -> None:
    assert word(verdict, "wall")
    assert glyph(verdict)
    assert WORDS[verdict].ascii.isascii()


def test_signs_differ_in_shape() -> None:
    for sign in (glyph, lambda verdict: WORDS[verdict].ascii):
        assert len({sign(v) for v in Verdict}) == len(Verdict)


@pytest.mark.parametrize(
    ("verdict", "metric", "expected"),
    [
        (Verdict.BETTER, "wall", "faster"),
        (Verdict.WORSE_SIZE_UNCERTAIN, "wall", "slower, size uncertain"),
        (Verdict.BETTER, "peak_rss", "less memory"),
        (Verdict.WORSE, "cpu", "more CPU time"),
        (Verdict.INCONCLUSIVE, "cpu", "inconclusive"),
    ],
)
def test_memory_and_cpu_time_are_less_or_more(verdict: Verdict, metric: str, expected: str) -> None:
    assert word(verdict, metric) == expected


@pytest.mark.parametrize(
    "module",
    [
        "text.write",
        "features.claim_writer",
        "compare.samples",
        "compare.cell_state",
        "compare.medians",
        "stats.holm_family",
    ],
)
def test_words_and_digits_do_not_load_numpy(module: str) -> None:
    code = (
        f"import sys, bench_framework.{module}; "
        "sys.exit(bool({'numpy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


SCOPED: tuple[Fact, ...] = (
    GapClosed(before=1.0, after=0.5, baseline="A"),
    RaceIdle(after=7),
    AxisEffect(combinations=2, better=2, worse=0, significant_in=2, pooled=True),
    Compared(kind="memory"),
)


@pytest.mark.parametrize("fact", SCOPED, ids=lambda fact: fact.kind)
def test_every_kind_of_sentence_states_its_scope(fact: Fact) -> None:
    """A sentence names the input if there are several, and a cold cache if it was observed."""
    claim = Claim(
        "B",
        "A",
        "wall",
        (("input", "10 MiB"), ("cache", "cold")),
        Verdict.BETTER,
        estimate=0.8,
        lo=0.7,
        hi=0.9,
        margin=0.02,
        rounds=20,
        fact=fact,
    )
    assert say(claim).startswith("On 10 MiB with a cold cache")
    assert say(replace(claim, scope=claim.scope[1:])).startswith("With a cold cache")
    assert not say(replace(claim, scope=())).startswith(("On ", "With "))
