"""Tests that docs/licences.md lists every dependency, and that each licence permits the use."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(Path(__file__).parent))
import licences

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


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def test_every_declared_python_package_is_listed_and_pinned_for_ci() -> None:
    """Packages that these need depend on their versions, which only CI fixes."""
    text = (licences.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert names(project["dependencies"]) <= {row[0] for row in ROWS if len(row) == 2}
    pins = (licences.ROOT / ".ci" / "requirements.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==\S+ .*\\\n +--hash=sha256:", pins, flags=re.MULTILINE))
    assert names(project["dependencies"] + project["optional-dependencies"]["dev"]) <= pinned


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_licence_is_a_permissive_one_or_offers_one(row: list[str]) -> None:
    assert PERMISSIVE.search(row[-1]), row
    assert not re.search(r"GPL", re.sub(r"OR L?GPL[\w.-]*", "", row[-1])), row
