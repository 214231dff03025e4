"""Extensions: one of another package adds to benchctl, and each one that comes with it can be removed."""

import json
import os
import pkgutil
import shutil
import tomllib
from pathlib import Path

import pytest

from bench_framework import extensions
from bench_framework.registry import GROUP, Registry, registry
from tests.integration.processes import ROOT, benchctl, fake_hyperfine, isolated
from tests.unit.workflow.measured_record import measured

EXAMPLE = ROOT / "tests" / "fixtures" / "extension"
BUNDLED = tuple(name for _, name, _ in pkgutil.iter_modules(extensions.__path__))
LONG = (pytest.mark.slow, pytest.mark.release)
SCENARIO = """
version: 1
name: demo
question: Which arm is faster?
worker: {command: [/bin/echo]}
axes: {arm: [base, slow]}
command: ["{bin}", "arm-{arm}"]
baseline: {arm: base}
measure: {rounds: 6, until: rounds, seed: 5}
"""
RULES = [
    {"match": "arm-base", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-slow", "wall_s": 0.06, "stdout": "42\n"},
]
BROKEN = "def register(registry):\n    raise RuntimeError('no such luck')\n"


def project(folder: Path) -> Path:
    (folder / "scenario.yaml").write_text(SCENARIO)
    fake_hyperfine(folder, RULES, clock="rounds")
    return folder


def install(source: Path, site: Path, text: str | None = None) -> dict[str, str]:
    """Write a package and its metadata as pip does, and return the environment that finds it."""
    about = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in source.glob("*/__init__.py"):
        shutil.copytree(package.parent, site / package.parent.name)
        if text is not None:
            (site / package.parent.name / "__init__.py").write_text(text)
    info = site / f"benchctl_example-{about['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {about['name']}\nVersion: {about['version']}\n")
    points = "".join(f"{name} = {at}\n" for name, at in about["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    return {"PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a folder with a record, and the environment with the example extension."""
    folder = project(tmp_path_factory.mktemp("extended"))
    env = isolated(folder, **install(EXAMPLE, folder / "site"))
    benchctl(folder, "run", "scenario.yaml", env=env, code=0)
    return folder, env


@pytest.mark.slow
def test_another_package_adds_a_command(extended: tuple[Path, dict[str, str]]) -> None:
    folder, env = extended
    page = benchctl(folder, "--help", env=env).stdout
    assert "Print the configuration with the largest median" in page
    assert benchctl(folder, "slowest", env=env).stdout == "slow\n"
    answer = json.loads(benchctl(folder, "slowest", "demo", "--json", env=env).stdout)
    assert (answer["schema_version"], answer["variant"]) == (1, "slow")
    schema = json.loads(benchctl(folder, "schema", "slowest", env=env, code=0).stdout)
    assert {*schema["properties"]} == {*answer}


def test_another_package_adds_a_section(extended: tuple[Path, dict[str, str]]) -> None:
    folder, env = extended
    assert benchctl(folder, "report", "@last", env=env).returncode == 0
    (page,) = folder.glob("results/demo/*/report.md")
    text = page.read_text(encoding="utf-8")
    assert text.index("## Results") < text.index("## Spread") < text.index("## How sure")
    rows = text.partition("## Spread")[2].partition("##")[0].splitlines()
    listed = [row.split("|")[1].strip() for row in rows if row.startswith("|")]
    assert listed[2:] == ["base", "slow"]  # without the A/A control
    assert benchctl(folder, "verify", env=env).returncode == 0
    # Without the extension, the page cannot be rendered again.
    assert "report.md" in benchctl(folder, "verify").stdout


@pytest.mark.slow
def test_another_package_adds_a_metric(extended: tuple[Path, dict[str, str]]) -> None:
    folder, env = extended
    measured(folder / "synthetic")
    words = ("--dir", "synthetic", "export", "--format", "jsonl", "--metric", "ctx_vol_per_s")
    done = benchctl(folder, *words, env=env, code=0)
    medians = {row["variant"]: row["median"] for row in map(json.loads, done.stdout.splitlines())}
    assert medians["plain"] == pytest.approx(7 / 0.05, rel=0.02)
    assert benchctl(folder, "--dir", "synthetic", "report", env=env).returncode == 0
    (page,) = folder.glob("synthetic/demo/*/appendix.md")
    assert "voluntary context switches divided by elapsed time" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_another_package_adds_formats(extended: tuple[Path, dict[str, str]]) -> None:
    folder, env = extended
    table = benchctl(folder, "export", "--format", "markdown", env=env).stdout
    assert table.startswith("variant|input|metric|median\n---|")
    (folder / "timings.json").write_text(
        '{"timings": {"a": [1.0, 1.1, 1.2], "b": [2.0, 2.1, 2.2]}}'
    )
    benchctl(folder, "import", "timings.json", env=env, code=0)
    (page,) = folder.glob("results/timings/*/appendix.md")
    assert "JSON with timings" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_extension_that_fails_is_left_out(tmp_path: Path) -> None:
    folder = project(tmp_path)
    env = isolated(folder, **install(EXAMPLE, folder / "site", BROKEN))
    done = benchctl(folder, "run", "scenario.yaml", env=env, code=0)
    assert "warning[BX137]: the extension example cannot be loaded: RuntimeError" in done.stderr


def test_extensions_of_two_installations_are_used_once(tmp_path: Path) -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "old_name-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: old_name\nVersion: 0.1.0\n")
    points = "".join(f"{name} = {at}\n" for name, at in about["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    path = f"{ROOT}{os.pathsep}{info.parent}"
    done = benchctl(
        project(tmp_path),
        "validate",
        "scenario.yaml",
        env=isolated(tmp_path, PYTHONPATH=path),
        code=0,
    )
    assert "BX137" not in done.stderr


def test_nothing_of_an_extension_is_kept_if_it_fails() -> None:
    def register(points: Registry) -> None:
        points.command("Inspect", "first", "module:first")
        raise RuntimeError("too old")

    points = Registry()
    points.include("example", register)
    assert not points.targets("command")
    assert [(f.extension, f.cause) for f in points.failures] == [
        ("example", "RuntimeError: too old")
    ]


def test_an_extension_does_not_replace_what_benchctl_has() -> None:
    points = Registry()
    points.include("first", lambda r: r.exporter("jsonl", "one:jsonl"))
    assert points.additions("exporter", {"jsonl"}) == []
    assert points.failures[0].cause == "ValueError: benchctl has the exporter `jsonl` already"


def test_two_extensions_cannot_add_the_same_name() -> None:
    points = Registry()
    points.include("first", lambda r: r.exporter("xml", "one:xml"))
    points.include("second", lambda r: r.exporter("xml", "two:xml"))
    assert points.targets("exporter")["xml"].place == "one:xml"
    assert points.failures[0].cause == "ValueError: another extension has the exporter `xml`"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of this checkout, of links, from which folders can be removed."""
    copy = tmp_path / "tree"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        ROOT / "bench_framework",
        copy / "bench_framework",
        copy_function=os.symlink,
        ignore=unwanted,
    )
    for name in ("templates", "scenarios", "docs", "native"):
        (copy / name).symlink_to(ROOT / name)
    return copy


@pytest.mark.parametrize(
    "removed",
    [*(pytest.param((name,), marks=LONG) for name in BUNDLED), BUNDLED],
    ids=" ".join,
)
@pytest.mark.slow
def test_a_removed_extension_takes_its_commands_with_it(
    removed: tuple[str, ...], tree: Path, tmp_path: Path
) -> None:
    absent, present = set[str](), set[str]()
    for target in registry().targets("command").values():
        (absent if target.extension in removed else present).add(target.name)
    assert absent, "pyproject.toml does not name it"
    for name in removed:
        shutil.rmtree(tree / "bench_framework" / "extensions" / name)
    folder = project(tmp_path)
    env = isolated(folder, PYTHONPATH=str(tree))
    page = benchctl(folder, "--help", env=env).stdout
    listed = {line.split()[1] for line in page.splitlines() if line.startswith("│ ")}
    assert present <= listed
    assert not absent & listed
    for words in (
        ("run", "scenario.yaml"),
        ("report",),
        ("verify",),
        ("compare", "@last"),
        ("export",),
    ):
        done = benchctl(folder, *words, env=env, code=0)
        assert "BX137" not in done.stderr
    for name in absent:
        assert benchctl(folder, name, env=env).returncode == 2


REGISTER = """
def register(registry):
    registry.section("copy", f"{__name__}.section:COPY", after="AFTER")
"""
SECTION = """
from bench_framework.report.blocks import Fallback
from bench_framework.report.sections.kind import SectionKind

COPY = SectionKind("X02", "ANCHOR", "Copy", "a copy", lambda data: (Fallback("text"),), place="report")
"""


@pytest.mark.parametrize(
    ("anchor", "after", "cause"),
    [
        ("results", "", "its anchor results exists"),
        ("copy", "nowhere", "nowhere does not"),
        ("environment", "results", "uses the anchor environment of another one"),
    ],
)
@pytest.mark.slow
def test_a_section_that_would_spoil_the_page_is_left_out(
    anchor: str, after: str, cause: str, tmp_path: Path
) -> None:
    folder = project(tmp_path)
    register = REGISTER.replace("AFTER", after)
    env = isolated(folder, **install(EXAMPLE, folder / "site", register))
    section = folder / "site" / "benchctl_example" / "section.py"
    section.write_text(SECTION.replace("ANCHOR", anchor))
    done = benchctl(folder, "run", "scenario.yaml", env=env, code=0)
    assert "warning[BX137]" in done.stderr
    assert cause in " ".join(done.stderr.split())
    (page,) = folder.glob("results/demo/*/report.md")
    assert "## Copy" not in page.read_text(encoding="utf-8")
