"""Tests that docs/licences.md lists every dependency, and that each licence permits the use."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("licences.py")
SPEC = importlib.util.spec_from_file_location("licences", PATH)
assert SPEC is not None
assert SPEC.loader is not None
licences = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(licences)

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in licences.PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| package", "| crate"))
]
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|Unlicense|Zlib|Python Software Foundation|PSF|0BSD|ISC)\b|MIT-CMU"
)


def test_every_crate_of_the_lock_file_is_listed() -> None:
    """Run `nox -s generate` to update the page."""
    assert [(row[0], row[1]) for row in ROWS if len(row) == 3] == licences.locked()


def test_every_python_package_is_listed_with_its_licence() -> None:
    listed = {row[0]: row[1] for row in ROWS if len(row) == 2}
    missing = [name for name, _ in licences.python_packages() if name not in listed]
    assert not missing, "run `nox -s generate` to update the page"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_licence_is_a_permissive_one_or_offers_one(row: list[str]) -> None:
    assert PERMISSIVE.search(row[-1]), row
    assert not re.search(r"GPL", re.sub(r"OR L?GPL[\w.-]*", "", row[-1])), row
