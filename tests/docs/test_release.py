"""Tests that versions agree, that a release needs its section and address, and that actions are pinned."""

import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / ".ci" / "release.py"))
problems: Callable[[Path, str, str], Iterator[str]] = SCRIPT["problems"]


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Return the versions, the change log and the addresses of a repository that can be released."""
    for name in (*SCRIPT["VERSIONS"], "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    versions = set(SCRIPT["versions"](ROOT).values())
    assert len(versions) == 1, versions
    for name, old, new in (
        ("pyproject.toml", "OWNER/NAME", "acme/bench"),
        (
            "CHANGELOG.md",
            "## [Unreleased]\n",
            f"## [Unreleased]\n\n## [{versions.pop()}] - 2027-01-01\n",
        ),
    ):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    return tmp_path


def test_a_release_agrees_with_its_tag_its_section_and_its_repository(ready: Path) -> None:
    version = SCRIPT["versions"](ready)["pyproject.toml"]
    assert list(problems(ready, f"v{version}", "acme/bench")) == []
    assert SCRIPT["notes"](ready, version).startswith("### Added")
    for name in SCRIPT["VERSIONS"]:
        text = (ready / name).read_text(encoding="utf-8")
        (ready / name).write_text(text.replace(version, "9.9.9"), encoding="utf-8")
        assert list(problems(ready, f"v{version}", "acme/bench")) == [
            f"{name} has the version 9.9.9, and the tag is v{version}"
        ]
        (ready / name).write_text(text, encoding="utf-8")
    assert any("no section" in text for text in problems(ready, "v9.9.9", "acme/bench"))
    assert "not in acme/bench2" in "".join(problems(ready, f"v{version}", "acme/bench2"))


def test_every_action_is_pinned_to_one_commit() -> None:
    files = [*ROOT.glob(".github/**/*.yml"), *ROOT.glob("templates/ci/*.yml"), ROOT / "action.yml"]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    used = {line for line in re.findall(r"uses: (.*)", text) if line != "%action"}
    pins = [re.fullmatch(r"([\w./-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used]
    assert all(pins), used
    names = [pin[1] for pin in pins if pin]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("citation-file-format", "CITATION.cff"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-workflows", ".github/workflows/*.yml"),
    ],
)
def test_files_of_the_repository_follow_their_schema(schema: str, pattern: str) -> None:
    files = sorted(map(str, ROOT.glob(pattern)))
    assert files
    call = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*call, *files], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
