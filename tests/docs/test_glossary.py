"""Tests that the glossary is complete and that no module has a meaningless name."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLASSES = (
    "Variant, Input, Cell, Build, Plan, Block, Look, Summary, Receipt, Answer, Comparison, Verdict, "
    "Claim, Dataset, Axis"
)
OTHER_WORDS = (
    "Scenario, Question, Worker, Run, Round, Metric, Measurement, Sample, Record, Control, "
    "Noise floor, Imported set, session, Baseline, Margin, Gate"
)
FORBIDDEN = re.compile(
    r"(_v[0-9]+|_new|_old|_fixed|_optimized|optimized_|utils?|helpers?|common|manager|base)\b"
)


@pytest.mark.parametrize("word", f"{CLASSES}, {OTHER_WORDS}".split(", "))
def test_the_glossary_explains(word: str) -> None:
    assert f"**{word}**" in (ROOT / "docs/glossary.md").read_text(encoding="utf-8")


def test_no_module_has_a_historical_or_meaningless_name() -> None:
    modules = [*ROOT.glob("bench_framework/**/*.py"), *ROOT.glob("native/crates/*/src/**/*.rs")]
    assert len(modules) > 50
    assert [str(path) for path in modules if FORBIDDEN.fullmatch(path.stem)] == []


def test_the_classes_of_the_model_have_the_words_of_the_glossary() -> None:
    modules = (ROOT / "bench_framework/model").rglob("*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert [noun for noun in CLASSES.split(", ") if f"class {noun}" not in source] == []
