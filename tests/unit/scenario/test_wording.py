"""Tests of the words of a scenario in place of those of an earlier version."""

from collections import Counter
from dataclasses import fields

from bench_framework.model.plan.plan import Plan
from bench_framework.scenario import wording


def test_each_field_of_a_plan_is_words_or_decides_or_is_that_of_the_record() -> None:
    lists = (wording._WORDS, wording._DECIDING, wording._RECORDED, dict(wording._PARTS))
    names = Counter(name for group in lists for name in group)
    assert names == Counter(field.name for field in fields(Plan))
