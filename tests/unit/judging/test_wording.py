"""The sentences of claims, word for word."""

import os
import sys
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.claim_writer import say
from bench_framework.model.facts import Claim
from bench_framework.model.reasons import message
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import glyph, word

THIN = "\u202f"


def claim(
    verdict: Verdict,
    estimate: float | None = None,
    lo: float | None = None,
    hi: float | None = None,
    **more: Any,
) -> Claim:
    fields: dict[str, Any] = {
        "metric": "wall",
        "margin": 0.02,
        "kind": "comparison",
        "rounds": 40,
        **more,
    }
    return Claim(
        id="c1",
        subject="A",
        reference="B",
        scope=(),
        verdict=verdict,
        estimate=estimate,
        lo=lo,
        hi=hi,
        **fields,
    )


def plain_text(given: Claim) -> str:
    return say(given).replace(THIN, " ").replace("\u2212", "-")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (claim(Verdict.BETTER, 0.909, 0.893, 0.926), "A takes 9.1 % less time than B [7.4, 10.7]"),
        (claim(Verdict.WORSE, 1.148, 1.127, 1.170), "A is 14.8 % slower than B [12.7, 17.0]"),
        (
            claim(Verdict.BETTER_SIZE_UNCERTAIN, 0.983, 0.971, 0.994),
            (
                "A takes 1.7 % less time than B [0.6, 2.9] (the difference may be below the margin of 2 %)"
            ),
        ),
        (
            claim(Verdict.BETTER_SIZE_UNCERTAIN, 0.985, 0.982, 0.988),
            (
                "A takes 1.50 % less time than B [1.20, 1.80] "
                "(significant, but below the margin of 2 %)"
            ),
        ),
        (
            claim(Verdict.BETTER_SIZE_UNCERTAIN, 0.83, 0.74, 0.92),
            (
                "A takes 17 % less time than B [8, 26] (after correction, "
                "the difference may be below the margin of 2 %)"
            ),
        ),
        (
            claim(Verdict.EQUIVALENT, 1.004, 0.997, 1.011),
            "A is equivalent to B (within ±2 %): +0.4 % [-0.3, +1.1]",
        ),
        (
            claim(
                Verdict.INCONCLUSIVE,
                0.982,
                0.935,
                1.032,
                values={"mde": 0.108, "rounds_needed": 683},
            ),
            (
                "A vs B is inconclusive: -2 % [-7, +4]; this comparison could only detect differences of "
                "11 % or more; about 690 rounds would detect 2 %"
            ),
        ),
        (
            claim(Verdict.INCONCLUSIVE, 0.982, 0.935, 1.032, values={"mde": 0.3}),
            (
                "A vs B is inconclusive: -2 % [-7, +4]; this comparison could only detect differences of "
                "30 % or more; differences of 2 % cannot be detected with this method on this "
                "machine"
            ),
        ),
        (
            claim(Verdict.BETTER, 177 / 1698, 1 / 9.63, 1 / 9.55),
            "A is 9.59× faster than B [9.55, 9.63]",
        ),
        (claim(Verdict.WORSE, 2.31, 2.22, 2.41), "A is 2.31× slower than B [2.22, 2.41]"),
        (
            claim(Verdict.WORSE, 1.25, 1.2, 1.3, metric="cpu"),
            "A uses 25 % more CPU time than B [20, 30]",
        ),
        (
            claim(Verdict.WORSE, 2.5, 2.45, 2.55, metric="peak_rss"),
            "A uses 2.50× as much memory as B [2.45, 2.55]",
        ),
        (
            claim(Verdict.BETTER, 0.4, 0.39, 0.41, metric="peak_rss"),
            "A uses 60.0 % less memory than B [59.0, 61.0]",
        ),
        (
            claim(Verdict.EQUIVALENT, 1.0, 1.0, 1.0, metric="peak_rss", margin=0.05),
            "A is equivalent to B in memory (within ±5 %)",
        ),
        (
            claim(Verdict.OTHER_OUTPUT),
            "A printed a different result than B; its time is not compared",
        ),
        (
            claim(Verdict.NOT_COMPARABLE, reason=message("io: requested mmap, actual read")),
            "A: not comparable (io: requested mmap, actual read)",
        ),
        (
            claim(Verdict.FAILED, reason=message("exit status 101")),
            "A: failed (exit status 101)",
        ),
        (claim(Verdict.SINGLE_RUN), "A was run only once: no verdict"),
    ],
)
def test_each_verdict_has_its_sentence(given: Claim, text: str) -> None:
    assert plain_text(given) == text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_has_a_word_and_two_signs(verdict: Verdict) -> None:
    assert word(verdict, "wall")
    assert glyph(verdict)
    assert glyph(verdict, unicode=False).isascii()


def test_signs_differ_in_shape() -> None:
    for unicode in (False, True):
        assert len({glyph(v, unicode=unicode) for v in Verdict}) == len(Verdict)


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
        "claims.phrases",
        "features.claim_writer",
        "compare.samples",
        "compare.cell_state",
        "compare.medians",
        "stats.holm_family",
    ],
)
def test_words_and_digits_load_neither_numpy_nor_scipy(module: str) -> None:
    code = (
        f"import sys, bench_framework.{module}; "
        "sys.exit(bool({'numpy', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


@pytest.mark.parametrize("kind", ["gap", "idle", "effect", "memory"])
def test_every_kind_of_sentence_states_its_scope(kind: str) -> None:
    """A sentence names the input if there are several, and a cold cache if it was observed."""
    claim = Claim(
        "",
        kind,
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
        values={
            "before": 1.0,
            "after": 0.5,
            "baseline": "A",
            "cells": 2,
            "less": 2,
            "more": 0,
            "significant_in": 2,
            "pooled": 1,
        },
    )
    assert say(claim).startswith("On 10 MiB with a cold cache")
    assert not say(replace(claim, scope=())).startswith(("On ", "With "))
