"""Tests of the scenarios that a folder contains, and of the names for which editors know the schema."""

import json
import re
from pathlib import Path

from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.workflow.scenarios.new_files import existing_scenario
from bench_framework.workflow.scenarios.suite_files import BENCH_SUFFIXES, scenarios_in
from bench_framework.workflow.suites.measuring import Subject

ROOT = Path(__file__).parents[3]


def test_a_folder_has_scenarios_by_their_keys_or_by_their_names(tmp_path: Path) -> None:
    files = {
        "a.yaml": "version: 1\n",
        "accepted.yaml": "accepted: []\n",
        "broken.bench.yaml": "nmae: x\n",
        "c.bench.yml": "version: 1\n",
        ".hidden.bench.yaml": "version: 1\n",
        "notes.txt": "version: 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = [path.name for path in scenarios_in(tmp_path)]
    assert names == ["a.yaml", "broken.bench.yaml", "c.bench.yml"]


def test_the_only_scenario_of_a_folder_is_none_of_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "accepted.yaml").write_text("accepted: []\n")
    (tmp_path / "io.yml").write_text("version: 1\n")
    assert existing_scenario(tmp_path) == tmp_path / "io.yml"


def test_the_entry_for_schemastore_names_the_same_files() -> None:
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    entry = json.loads(block)
    assert [*entry] == ["name", "description", "fileMatch", "url"]
    assert tuple(name.removeprefix("*") for name in entry["fileMatch"]) == BENCH_SUFFIXES
    assert (ROOT / entry["url"].partition("/main/")[2]).is_file()


def test_another_commit_is_another_program_although_it_names_the_plan_otherwise() -> None:
    before = Subject("plan", "sources", None)
    for now, code in (
        (Subject("plan of another commit", "others", None), ReasonCode.OTHER_PROGRAMS),
        (Subject("other plan", "sources", None), ReasonCode.OTHER_SCENARIO),
    ):
        assert before.change(now) == Reason(code)
    assert before.change(before) is None
