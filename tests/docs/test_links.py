"""Tests that links in pages, and references to docs/ in the sources, point to existing headings."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTERNAL = ("http:", "https:", "mailto:")
REPORTS = ("results/examples/", "tests/golden/")
"""Reports that benchctl wrote."""


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git tracks and that match the patterns."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def is_broken(page: Path, anchor: str) -> bool:
    if not page.exists():
        return True
    return bool(anchor) and page.suffix == ".md" and anchor not in anchors(page)


def test_links_point_to_existing_files_and_headings() -> None:
    broken = [
        (str(page.relative_to(ROOT)), target)
        for page in [p for p in tracked("*.md") if not str(p.relative_to(ROOT)).startswith(REPORTS)]
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if not target.startswith(EXTERNAL)
        and is_broken(
            page.parent / target.partition("#")[0] if target[0] != "#" else page,
            target.partition("#")[2],
        )
    ]
    assert broken == []


def test_sources_refer_to_existing_pages_and_headings() -> None:
    broken = [
        (str(source.relative_to(ROOT)), match[0])
        for source in tracked("*.py", "*.rs", "*.yaml", "*.toml", "*.j2")
        for match in re.finditer(
            r"docs/([\w/-]+\.md)(?:#([\w-]+))?", source.read_text(encoding="utf-8")
        )
        if is_broken(ROOT / "docs" / match[1], match[2] or "")
    ]
    assert broken == []
