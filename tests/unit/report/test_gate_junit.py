"""``junit.xml`` is valid by both schemas that its readers use: that of Jenkins' xUnit plug-in, and that of Ant.

`validate` checks what both of them require. ``nox -s junit`` also checks the same files with the XSD of Jenkins.
"""

import importlib
import os
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest

from bench_framework.report.render import gate as gate_page, junit
from bench_framework.report.render.gate import GatePage
from tests.build import require
from tests.unit.report.report_sample import gate_page_of, gate_row

COUNT, SECONDS, TEXT = r"\d+", r"\d+\.\d{3}", r"(?s).*"
RESULTS = ("failure", "error", "skipped")
ATTRIBUTES = {
    "testsuite": {
        **dict.fromkeys(("tests", "failures", "errors", "skipped"), COUNT),
        "name": r"(?s).*\S.*",
        "hostname": r"\S+",
        "time": SECONDS,
        "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    },
    "testcase": {"name": TEXT, "classname": TEXT, "time": SECONDS},
    "failure": {"message": TEXT, "type": TEXT},
    "error": {"message": TEXT, "type": TEXT},
    "skipped": {"message": TEXT},
}
HOSTILE = 'a|b <x y="1">&amp; ]]> --> \x00\x1b[31m \u202e\ufffe\uffff \n\t \U0001f600'


def validate(text: str) -> ET.Element:
    """Return the suite of a document. Raises `AssertionError`: a schema forbids it."""
    suite = ET.fromstring(text)
    assert suite.tag == "testsuite"
    cases = suite.findall("testcase")
    ends = ("system-out", "system-err")
    assert [e.tag for e in suite] == ["properties", *["testcase"] * len(cases), *ends]
    for element in suite.iter():
        rules = ATTRIBUTES.get(element.tag, {})
        assert set(element.keys()) == set(rules), element.tag
        for name, rule in rules.items():
            assert re.fullmatch(rule, element.get(name, "")), (element.tag, name)
    # One result at most, and nothing else, is in a case of Ant's schema.
    results = [child.tag for case in cases for child in case]
    assert max([len(case) for case in cases], default=0) <= 1
    assert set(results) <= set(RESULTS)
    counts = Counter(results)
    for name, tag in zip(("failures", "errors", "skipped"), RESULTS, strict=True):
        assert int(suite.get(name, "")) == counts[tag]
    assert int(suite.get("tests", "")) == len(cases)
    for path in filter(None, os.environ.get("BENCHCTL_JUNIT_XSD", "").split(os.pathsep)):
        importlib.import_module("xmlschema").validate(text, path)
    return suite


@pytest.mark.parametrize(
    "gate",
    [
        gate_page_of(),
        gate_page_of(gate_row("passed"), gate_row("accepted", 1)),
        gate_page_of(gate_row("worse"), gate_row("passed", 1)),
        gate_page_of(
            gate_row("not-judged"), gate_row("suspicious", 1), gate_row("not-comparable", 2)
        ),
        gate_page_of(
            gate_row("failed"),
            gate_row("worse", 1),
            gate_row("not-judged", 2),
            gate_row("passed", 3),
        ),
        gate_page_of(replace(gate_row("passed"), seconds=123456.7)),
        gate_page_of(
            replace(gate_row("worse"), cell=HOSTILE, metric=HOSTILE, sentence=HOSTILE),
            replace(gate_row("passed"), cell=HOSTILE, metric=HOSTILE, sentence=HOSTILE),
            replace(gate_row("failed"), cell="", sentence=""),
            scenario=HOSTILE,
        ),
    ],
    ids=("empty", "passed", "worse", "not-judged", "all", "long", "hostile"),
)
def test_the_file_is_valid_by_both_schemas(gate: GatePage) -> None:
    suite = validate(junit.document_of(gate))
    assert len(suite.findall("testcase")) == len(gate.rows)


@pytest.mark.parametrize(
    ("state", "child", "kind"),
    [
        ("worse", "failure", "PerformanceRegression"),
        ("failed", "error", "NotMeasured"),
        ("not-judged", "skipped", None),
        ("not-comparable", "skipped", None),
        ("suspicious", "skipped", None),
    ],
)
def test_what_needs_attention_is_in_the_result_of_its_case(
    state: str, child: str, kind: str | None
) -> None:
    suite = validate(junit.document_of(gate_page_of(gate_row(state))))
    (result,) = suite[1]
    assert (result.tag, result.get("type"), result.get("message")) == (
        child,
        kind,
        f"sentence 0 of {state}",
    )
    assert result.text == f"{gate_page.STATE_WORDS[state]}: sentence 0 of {state}"
    assert (suite[1].get("time"), suite.get("timestamp")) == ("1.250", "2026-01-01T00:00:00")
    assert not suite.findtext("system-out")


def test_what_passed_is_in_the_output_of_the_suite() -> None:
    suite = validate(
        junit.document_of(
            gate_page_of(gate_row("accepted"), gate_row("worse", 1), gate_row("passed", 2))
        )
    )
    assert (suite.findtext("system-out") or "").splitlines() == [
        "head, 10MiB 0, time: worse, accepted: sentence 0 of accepted",
        "head, 10MiB 2, time: passed: sentence 2 of passed",
    ]
    assert [len(case) for case in suite.findall("testcase")] == [0, 1, 0]


def test_active_characters_of_names_are_escaped() -> None:
    text = junit.document_of(gate_page_of(replace(gate_row("worse"), cell=HOSTILE)))
    assert not set(text) & set("\x00\x1b\u202e\ufffe\uffff")
    case = require(validate(text).find("testcase"))
    assert case.get("name", "").startswith('a|b <x y="1">&amp; ]]> --> \\x00\\x1b[31m')
