"""Programs of other build systems: C with make, and a Python package in a virtual environment."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import ROOT, Done, benchctl, commit, real

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.release]
MEASURE = "judge: [wall]\ngate: {wall: 5%}\nmeasure: {budget: 60s}\n"
MAKEFILE = """
build/tool: build/libwork.so tool.c
\t$(CC) $(CFLAGS) -o $@ tool.c -Lbuild -lwork -Wl,-rpath,'$$ORIGIN'
build/libwork.so: work.c
\tmkdir -p build
\t$(CC) $(CFLAGS) -shared -fPIC -o $@ work.c
build/alone: tool.c work.c
\tmkdir -p build
\t$(CC) $(CFLAGS) -o $@ tool.c work.c
"""
TOOL = (
    '#include <stdio.h>\nunsigned long work(void);\nint main(void) { printf("%lu\\n", work()); }\n'
)
WORK = """// {note}
unsigned long work(void) {{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < {turns}000000; i++) sum = sum + (i & 1);
    return 42;
}}
"""
BACKEND = '''
"""A build backend without setuptools: it writes the wheel of the package."""
import pathlib, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = "counter-1.0-py3-none-any.whl", "counter-1.0.dist-info"
    texts = {
        "counter.py": pathlib.Path("counter.py").read_text(),
        f"{info}/METADATA": "Metadata-Version: 2.1\\\\nName: counter\\\\nVersion: 1.0\\\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\\\nRoot-Is-Purelib: true\\\\nTag: py3-none-any\\\\n",
        f"{info}/entry_points.txt": "[console_scripts]\\\\ncounter = counter:main\\\\n",
    }
    texts[f"{info}/RECORD"] = "".join(f"{name},,\\\\n" for name in [*texts, f"{info}/RECORD"])
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        for place, text in texts.items():
            wheel.writestr(place, text)
    return name
'''.replace("\\\\n", "\\n")
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "counter"
version = "1.0"
"""
COUNTER = "def main():\n    for _ in range({turns}00000):\n        pass\n    print(42)\n"


class Project:
    """A repository with a scenario, and a commit for each change of its files."""

    def __init__(self, path: Path, worker: Mapping[str, Any], files: Mapping[str, str]) -> None:
        self.path, self.folder = path, path / "project"
        scenario = {"version": 1, "name": "work", "question": "How fast?", "worker": worker}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in scenario.items())
        files = {"scenario.yaml": f"{text}{MEASURE}", ".gitignore": "results/\n", **files}
        self.commits = [self.commit(files)]

    def commit(self, files: Mapping[str, str]) -> str:
        return commit(write_files(self.folder, files))

    def __call__(self, *words: str, code: int = 0) -> Done:
        env = real(BENCHCTL_CACHE=str(self.path / "cache"), PATH=self._search_path())
        return benchctl(self.path, *words, env=env, cwd=self.folder, code=code)

    def _search_path(self) -> str:
        return f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def bisect(self) -> str:
        words = ("--good", self.commits[0], "--bad", self.commits[-1], "--json")
        answer = valid("bisect", self("bisect", "scenario.yaml", *words).stdout)
        return str(answer["commit"]["id"])


def worker(**more: Any) -> dict[str, Any]:
    return {"build": [["make", "build/alone"]], "program": "build/alone", **more}


def test_a_regression_of_a_c_program_is_found(tmp_path: Path) -> None:
    files = {"Makefile": MAKEFILE, "tool.c": TOOL, "work.c": WORK.format(note=0, turns=8)}
    project = Project(tmp_path, worker(), files)
    for number in range(1, 17):
        turns = 12 if number >= 10 else 8
        text = WORK.format(note=number, turns=turns)
        project.commits.append(project.commit({"work.c": text}))
    assert project.bisect() == project.commits[10]
    done = project(
        "gate", "--base", project.commits[9], "--head", project.commits[10], "scenario.yaml", code=1
    )
    assert "regressions found" in done.stdout
    done = project(
        "gate", "--base", project.commits[1], "--head", project.commits[2], "scenario.yaml"
    )
    assert "are the same program" in done.stdout + done.stderr
    ends = f"{project.commits[8]}..{project.commits[11]}"
    project("history", "scenario.yaml", "--backfill", ends, "-S", "measure.rounds=12")
    for record in find_records(project.folder / "results", "work"):
        assert project("verify", str(record)).returncode == 0


@pytest.mark.release
def test_a_library_of_the_build_is_part_of_the_program(tmp_path: Path) -> None:
    files = {"Makefile": MAKEFILE, "tool.c": TOOL, "work.c": WORK.format(note=0, turns=8)}
    given = worker(build=[["make", "build/tool"]], program="build/tool")
    project = Project(tmp_path, given, files)
    printed = project("try", "scenario.yaml", code=3).stderr
    assert "it loads build/libwork.so" in printed
    text = (project.folder / "scenario.yaml").read_text()
    text = text.replace('"program"', '"runtime": ["build"], "program"')
    base = project.commit({"scenario.yaml": text})
    project.commit({"work.c": WORK.format(note=0, turns=12)})
    done = project("gate", "--base", base, "--head", "main", "scenario.yaml", code=1)
    assert "regressions found" in done.stdout


@pytest.mark.release
def test_each_revision_of_a_python_package_has_an_environment(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "build.md").read_text(encoding="utf-8")
    example = next(text for text in page.split("```yaml\n") if "venv, .venv" in text)
    given = YAML(typ="safe").load(example.partition("```")[0])["worker"]
    files = {"pyproject.toml": PYPROJECT, "backend.py": BACKEND}
    project = Project(tmp_path, given, {**files, "counter.py": COUNTER.format(turns=8)})
    for number in range(1, 5):
        turns = 24 if number >= 3 else 8
        changed = {"counter.py": COUNTER.format(turns=turns), "notes.txt": str(number)}
        project.commits.append(project.commit(changed))
    assert project.bisect() == project.commits[3]
    module = ("-S", "worker.program=.venv/bin/python", "-S", 'command=["{bin}", -m, counter]')
    ends = ("--base", project.commits[1], "--head", project.commits[2])
    done = project("gate", *ends, "scenario.yaml", *module)
    assert "are the same program" in done.stdout + done.stderr
