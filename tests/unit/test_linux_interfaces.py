"""Test that only `execution.machine` uses what only Linux has, so that a port to another system is one folder."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bench_framework
from tests.build import require

ROOT = Path(bench_framework.__file__).parent
FOLDER = ROOT / "execution" / "machine"
LIST = Path(__file__).parents[1] / "fakes" / "another_system" / "linux_names.py"
WORDS = re.compile(r"(?<![\w.])/(?:proc|sys|run/lock)\b|\bcgroup|LD_PRELOAD=|\.so$|\bELF$")
PROGRAMS = frozenset(
    {
        "chrt",
        "ip",
        "lscpu",
        "numactl",
        "nsenter",
        "setarch",
        "sysctl",
        "systemctl",
        "taskset",
        "unshare",
    }
)
"""Programs that only Linux has. perf and valgrind are looked for, and their absence is reported."""
EXCEPTIONS = {
    ("extensions/audit/wording.py", "/proc"),  # a word of pages that it reads
}
IDENTIFIERS = {"ctypes": "*", "platform": "system libc_ver freedesktop_os_release"}
"""System calls of the C library, and questions about the system."""


def linux_names() -> dict[str, frozenset[str]]:
    spec = require(importlib.util.spec_from_file_location("linux_names", LIST))
    module = importlib.util.module_from_spec(spec)
    require(spec.loader).exec_module(module)
    both = {**module.NAMES, **IDENTIFIERS}
    return {name: frozenset(names.split()) for name, names in both.items()}


def uses(text: str, names: dict[str, frozenset[str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of what only Linux has; docstrings and comments do not count."""
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                match = WORDS.search(node.value)
                if match or node.value in PROGRAMS:
                    yield node.lineno, match[0] if match else node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in names.get(node.value.id, ()):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            linux = names[node.module]
            yield from ((node.lineno, a.name) for a in node.names if {a.name, "*"} & linux)
        elif isinstance(node, ast.Import):
            yield from (
                (node.lineno, alias.name)
                for alias in node.names
                if "*" in names.get(alias.name.partition(".")[0], ())
            )


def test_only_the_machine_uses_what_only_linux_has() -> None:
    names = linux_names()
    others = {}
    for path in ROOT.rglob("*.py"):
        if FOLDER not in path.parents and "_assets" not in path.parts:
            place = path.relative_to(ROOT).as_posix()
            words = {what for _, what in uses(path.read_text(encoding="utf-8"), names)}
            if words := {what for what in words if (place, what) not in EXCEPTIONS}:
                others[place] = words
    assert others == {}
    sources = {path for kind in ("c", "rs", "S") for path in ROOT.rglob(f"*.{kind}")}
    assert {p for p in sources if FOLDER not in p.parents and "_assets" not in p.parts} == set()


@pytest.mark.parametrize(
    "line",
    [
        "open('/proc/self/stat')",
        "Path('/sys') / name",
        "os.sched_getaffinity(0)",
        "from os import pidfd_open",
        "import ctypes",
        "resource.prlimit(0, 1)",
        "run(['setarch', '-R'])",
        "signal.SIGRTMIN",
        "os.open(path, os.O_DIRECT)",
    ],
)
def test_a_use_is_found(line: str) -> None:
    assert len(list(uses(line, linux_names()))) == 1
