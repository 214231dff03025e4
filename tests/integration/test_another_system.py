"""On another system than Linux, a command says so before it measures, or works without what only Linux has."""

import os
import re
from pathlib import Path

import pytest

from tests.files import write_files
from tests.integration.processes import FAKES, ROOT, benchctl, isolated
from tests.integration.test_extensions import SCENARIO, project

WORKING = (
    "validate scenario.yaml",
    "plan scenario.yaml",
    "init quickstart",
    "compare @last",
    "report @last",
    "verify @last",
    "export @last",
    "audit page.md",
    "site out",
    "import bench.json",
    "history",
    "baseline list",
    "clean --yes",
    "schema",
    "help BC410",
)
MEASURING = (
    "run scenario.yaml",
    "ab true false",
    "sweep n=1,2 -- echo {n}",
    "ablate --crate crate --features simd -- x",
    "try scenario.yaml",
    "profile @last",
    "gate scenario.yaml -S measure.rounds=9",
    "doctor",
    "doctor --tune",
    "doctor --aa",
    "fleet worker tcp://127.0.0.1:1",
    "init --crate crate",
    "bisect crate.yaml --good HEAD~1",
    "gate crate.yaml --base HEAD~1",
)
MESSAGE = re.compile(
    r"error\[BC410\]: \w+ [^\n]*; this is Darwin\n   effect   nothing was \w+\n   fix      [^\n]*\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("macos")
    (folder / "tmp").mkdir()
    benchctl(project(folder), "run", "scenario.yaml", code=0)
    (folder / "page.md").write_text("It is twice as fast.\n")
    times = '{"results": [{"command": "x", "user": 1, "system": 0, "times": [1, 1], "exit_codes": [0, 0]}]}'
    (folder / "bench.json").write_text(times)
    manifest = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[features]\nsimd = []\n'
    write_files(folder / "crate", {"src/main.rs": "fn main() {}\n", "Cargo.toml": manifest})
    worker = "worker: {crate: crate}"
    (folder / "crate.yaml").write_text(SCENARIO.replace("worker: {command: [/bin/echo]}", worker))
    return folder


def environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join(map(str, (FAKES / "another_system", ROOT)))
    return isolated(folder, PYTHONPATH=path, TMPDIR=str(folder / "tmp"))


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.parametrize("words", WORKING)
def test_a_command_that_measures_nothing_works(folder: Path, words: str) -> None:
    benchctl(folder, *words.split(), env=environment(folder), code=0)


@pytest.mark.parametrize("words", MEASURING)
@pytest.mark.slow
def test_a_command_that_measures_ends_with_one_error(folder: Path, words: str) -> None:
    before = sorted(folder.rglob("*"))
    done = benchctl(folder, *words.split(), env=environment(folder), code=3)
    assert MESSAGE.fullmatch(done.stderr), done.stderr
    assert not done.stdout
    assert sorted(folder.rglob("*")) == before


def test_each_command_is_tried(folder: Path) -> None:
    done = benchctl(folder, "help", env=environment(folder), code=0)
    commands = set(
        re.findall(r"[a-z]+", done.stdout.partition("commands:")[2].partition("codes:")[0])
    )
    assert {words.split()[0] for words in (*WORKING, *MEASURING)} == commands
