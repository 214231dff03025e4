"""Test that modules do not import each other in a circle, not even lazily or for types."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import bench_framework

ROOT = Path(bench_framework.__file__).parent
PACKAGE = ROOT.name


def module_names() -> dict[str, Path]:
    """Return the modules of the package by dotted name."""
    names = {}
    for path in ROOT.rglob("*.py"):
        if "_assets" not in path.parts:
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            names[".".join(parts).removesuffix(".__init__")] = path
    return names


def imported_by(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Return the modules that a file imports: at the top, in functions and for type checkers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule != f"{PACKAGE}._native":
                    yield submodule if submodule in modules else node.module or PACKAGE
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def test_no_circle_of_imports() -> None:
    modules = module_names()
    graph = {name: set(imported_by(path, modules)) - {name} for name, path in modules.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        message = " imports ".join(reversed(error.args[1]))
        raise AssertionError(message) from error
    assert len(order) >= len(modules)
