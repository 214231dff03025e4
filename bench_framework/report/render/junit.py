"""The result of a gate as JUnit XML, for CI."""

import math
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Final

from bench_framework.report.render.gate import GatePage
from bench_framework.report.render.widths import visible

_TAGS: Final = {
    "worse": "failure",
    "failed": "error",
    **dict.fromkeys(("suspicious", "not-judged", "not-comparable", "skipped"), "skipped"),
}
"""Element of each state in JUnit XML. A test case without one passed."""
_TYPES: Final = {"failure": "PerformanceRegression", "error": "NotMeasured"}


def document_of(page: GatePage) -> str:
    """Return JUnit XML by the schemas of Jenkins and of Ant. `time` is the time spent on measuring."""
    return xml_text(suite_of(page))


def suite_of(page: GatePage) -> ET.Element:
    """Return the suite of tests of a gate: a test for each row."""
    rows = page.rows
    tags = Counter(_TAGS.get(row.state) for row in rows)
    suite = ET.Element(
        "testsuite",
        name=visible(page.scenario),
        tests=str(len(rows)),
        failures=str(tags["failure"]),
        errors=str(tags["error"]),
        skipped=str(tags["skipped"]),
        time=f"{math.fsum(row.seconds for row in rows):.3f}",
        timestamp=page.started[:19],
        hostname="localhost",  # records do not contain the name of the machine
    )
    ET.SubElement(suite, "properties")
    passed = []
    for row in rows:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=visible(f"{page.scenario}.{row.metric}"),
            name=visible(row.cell),
            time=f"{row.seconds:.3f}",
        )
        message = visible(row.sentence)
        text = f"{row.word}: {message}"
        if tag := _TAGS.get(row.state):
            kind = {"type": _TYPES[tag]} if tag in _TYPES else {}
            ET.SubElement(case, tag, kind, message=message).text = text
        else:
            passed.append(visible(f"{row.cell}, {row.metric}: {text}"))
    ET.SubElement(suite, "system-out").text = "\n".join(passed)
    ET.SubElement(suite, "system-err")
    return suite


def xml_text(root: ET.Element) -> str:
    """Return the text of an XML file."""
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
