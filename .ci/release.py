"""Print the notes of a release from CHANGELOG.md, if the repository is ready for its tag.

``python .ci/release.py v0.1.0 OWNER/NAME`` fails if a version differs from the tag, if CHANGELOG.md
has no dated section for it, or if an address in pyproject.toml is not that of the repository.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

VERSIONS: Final = {
    "pyproject.toml": r'^version = "(.*)"$',
    "bench_framework/version.py": r'^__version__ = "(.*)"$',
    "native/Cargo.toml": r'^version = "(.*)"$',
    "CITATION.cff": r'^version: "?(.*?)"?$',
}
"""The files that contain the version, and the line with it."""


def versions(root: Path) -> dict[str, str]:
    """Return the version that each file contains."""
    lines = {}
    for name, pattern in VERSIONS.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        lines[name] = match[1] if match else ""
    return lines


def addresses(root: Path) -> Mapping[str, str]:
    """Return `[project.urls]`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls: dict[str, str] = project["urls"]
    return urls


def notes(root: Path, version: str) -> str:
    """Return the dated section of a version in CHANGELOG.md; empty if it is missing."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## \[|\Z)"
    match = re.search(heading, text, re.DOTALL | re.MULTILINE)
    return match[1].strip() if match else ""


def problems(root: Path, tag: str, repository: str) -> Iterator[str]:
    """Yield each reason why the tag cannot be released."""
    version = tag.removeprefix("v")
    for name, stated in versions(root).items():
        if stated != version:
            yield f"{name} has the version {stated}, and the tag is {tag}"
    if not notes(root, version):
        yield f"CHANGELOG.md has no section “## [{version}] - DATE” with a text"
    for name, url in addresses(root).items():
        if not f"{url}/".startswith(f"https://github.com/{repository}/"):
            yield f"pyproject.toml: the address of {name} is {url}, not in {repository}"


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[1]
    if reasons := list(problems(here, *sys.argv[1:])):
        sys.exit("\n".join(reasons))
    sys.stdout.write(notes(here, sys.argv[1].removeprefix("v")) + "\n")
