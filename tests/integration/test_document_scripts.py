"""The scripts of docs/reference/documents.md, with documents that the commands print."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import valid
from tests.integration.test_gate import Folder

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "documents.md"
LONGEST = 15


@pytest.mark.slow
def test_the_scripts_read_the_documents_of_run_gate_and_history(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    best, worse, changes = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert max(script.count("\n") for script in (best, worse, changes)) <= LONGEST
    faster, slower = Folder(tmp_path, 0.04), tmp_path / "slower"
    document = faster("run", "gated.yaml", "--json").stdout
    words = output(best, document)
    assert re.fullmatch(r".*: head takes 0\.8\d\d \[0\.\d{3}, 0\.\d{3}\] of the time\n", words)
    history = valid("history", faster("history", "gated", "--json").stdout)
    assert output(changes, json.dumps(history)) == ""
    shift = {
        "before": 0,
        "at": 1,
        "after": 1,
        "ratio": 1.1,
        "lo": 1.05,
        "hi": 1.2,
        "confidence": 0.999,
    }
    records = {
        "before_record": "a",
        "after_record": "b",
        "before_revision": "1f2",
        "after_revision": None,
    }
    for change in ({"confirmed": True}, {"confirmed": False}):
        history["series"][0]["changes"].append({**shift, **records, **change})
    document = json.dumps(history)
    assert valid("history", document)
    label = history["series"][0]["label"]
    expected = f"{label}: × 1.100 between 1f2 and record b\n"
    assert output(changes, document) == expected
    slower.mkdir()
    gate = Folder(slower, 0.055)("run", "gated.yaml", "--gate").returncode
    assert gate == 1
    document = (Folder(slower, 0.055).records[0] / "gate.json").read_text(encoding="utf-8")
    assert "slower than base" in output(worse, document, code=1)
    assert max(pair["level"] for pair in valid("gate", document)["pairs"]) == 0.9975


def output(script: str, document: str, code: int = 0) -> str:
    """Run a script with a document on stdin, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script], input=document, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout
