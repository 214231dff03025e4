"""The words of reasons: complete, and without effect on any decision."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import bench_framework
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.reasons import ONE_PROGRAM, Reason, ReasonCode
from bench_framework.store import wire
from bench_framework.text import reasons
from bench_framework.text.reasons import phrase, phrases
from bench_framework.units import THIN_SPACE

PACKAGE = Path(bench_framework.__file__).parent


def test_each_code_has_one_phrase_and_each_phrase_is_used() -> None:
    codes = [*ReasonCode, *PhraseCode, *FaultCode, *ExtensionCode]
    assert sorted(phrases()) == sorted(codes)
    assert all(text and text == text.strip() and text[-1] != "." for text in phrases().values())
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    unused = [code for code in codes if f"{type(code).__name__}.{code.name}" not in source]
    assert not unused


def test_a_phrase_has_its_detail_and_its_place() -> None:
    reason = Reason(ReasonCode.UNKNOWN_METRIC, "{place}", "in r1")
    assert phrase(reason) == "in r1: {place} is not known"
    assert phrase(Reason(ReasonCode.UNAVAILABLE, "no {place}", "io={detail}")) == (
        "io={detail} is not available here: no {place}"
    )
    assert phrase(None) == ""


def test_a_number_has_the_format_of_its_phrase_and_the_text_of_an_older_record_stays() -> None:
    reason = Reason(ReasonCode.MORE_THAN_ACCEPTED, 0.025)
    assert phrase(reason) == "more than the 2.5\u202f% that are accepted"
    assert phrase(replace(reason, detail="2.5\u202f%")) == phrase(reason)
    assert phrase(Reason(ReasonCode.RUNS_FAILED, 1, "the baseline")) == "the baseline: 1 run failed"
    details = (0.025, 3, "2.5\u202f%", (3, 0.5, "x"), ONE_PROGRAM, (ONE_PROGRAM, 1))
    for detail in details:
        stored = wire.dump(Reason, replace(reason, detail=detail))
        assert wire.load(Reason, "claims.json", stored) == replace(reason, detail=detail)


def test_a_phrase_can_have_words_in_place_of_an_empty_part() -> None:
    assert phrase(Reason(ReasonCode.RUN_FAILED)) == "failed"
    assert phrase(Reason(ReasonCode.RUN_FAILED, "exit status 1")) == "exit status 1"


def test_a_reason_can_be_a_part_of_another_one() -> None:
    cause = Reason(ReasonCode.RUNS_FAILED, 2, "the baseline")
    assert phrase(Reason(ReasonCode.SECOND_INCONCLUSIVE, cause)).endswith(
        "the second one: the baseline: 2 runs failed"
    )


def test_a_phrase_can_have_all_parts_with_a_separator() -> None:
    axes = [Reason(ReasonCode.AXIS_DIFFERS, (axis, "mmap", "read")) for axis in "ab"]
    for code, separator in ((ReasonCode.MODE_DIFFERS, "; "), (ReasonCode.LIST, ", ")):
        reason = Reason(code, tuple(axes))
        assert phrase(reason) == separator.join(map(phrase, axes))
        assert wire.load(Reason, "claims.json", wire.dump(Reason, reason)) == reason


def test_a_list_of_names_has_a_limit() -> None:
    text = phrase(Reason(ReasonCode.OUTPUT_VARIES, tuple("abcdefg")))
    assert text.startswith("the output of a, b, c, d and 3 more varies")


def test_the_words_of_a_reason_change_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = wire.adapter(Reason).dump_json(ONE_PROGRAM)
    monkeypatch.setattr(reasons, "phrases", lambda: dict.fromkeys(ReasonCode, "other words"))
    assert phrase(ONE_PROGRAM) == "other words"
    assert wire.adapter(Reason).validate_json(stored) == ONE_PROGRAM
    assert replace(ONE_PROGRAM, detail="x") != ONE_PROGRAM


def test_no_code_compares_the_words_of_a_reason() -> None:
    """Find `phrase(…)` in a comparison, and strings that are compared with a reason."""
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
                words = any(side.startswith(("phrase(", "phrases(")) for side in sides)
                about = any(side.split(".")[-1] in {"reason", "reasons"} for side in sides)
                text = any(side[:1] in "'\"" and len(side) > 2 for side in sides)
                if words or (about and text):
                    wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"startswith", "partition", "replace", "removeprefix"}
                and ast.unparse(node.func.value).split(".")[-1] == "reason"
            ):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert not wrong


def test_a_count_of_one_has_no_plural() -> None:
    few = Reason(ReasonCode.TOO_FEW_FOR_INTERVAL, (1, 0.995))
    assert phrase(few) == f"an interval at 99.5{THIN_SPACE}% needs more than 1 round"
