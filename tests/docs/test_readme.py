"""Tests that README and docs name no machine, and that the README contains the commands of CI."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_two_setup_commands() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("benchctl run scenarios/quickstart.yaml")
    assert commands[1].endswith("nox")


def test_no_page_contains_a_path_of_a_developer_machine() -> None:
    text = "".join(
        p.read_text(encoding="utf-8") for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    )
    assert "/root/" not in text
    assert "/work/" not in text
