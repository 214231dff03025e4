"""Test that modules do not import each other in a circle, that features are independent, and the length of modules.

Lazy imports and those for types count.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import bench_framework

ROOT = Path(bench_framework.__file__).parent
PACKAGE = ROOT.name
JUDGE_WHOLE_RECORDS = {"gate"}
"""Features that use others."""
MOST_LINES = 400
"""The largest number of lines of a module."""


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


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    modules = module_names()
    return {name: set(imported_by(path, modules)) - {name} for name, path in modules.items()}


def reached_from(starts: set[str], graph: dict[str, set[str]]) -> set[str]:
    """Return modules with all that they import, also through other modules."""
    reached: set[str] = set()
    waiting = set(starts)
    while waiting:
        reached |= waiting
        waiting = {name for module in waiting for name in graph.get(module, ())} - reached
    return reached


def test_features_do_not_import_each_other() -> None:
    graph = import_graph()
    packages = {p.parent.name for p in ROOT.glob("features/*/__init__.py")} - JUDGE_WHOLE_RECORDS
    assert packages
    modules = {
        feature: {name for name in graph if f"{name}.".startswith(f"{PACKAGE}.features.{feature}.")}
        for feature in packages
    }
    for feature, starts in modules.items():
        reached = reached_from(starts, graph)
        others = {other for other in packages - {feature} if modules[other] & reached}
        assert not others, f"{feature} imports {', '.join(sorted(others))}"


def test_no_circle_of_imports() -> None:
    graph = import_graph()
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from error
    assert len(order) >= len(graph)


def test_no_module_is_too_long() -> None:
    lines = {
        name: path.read_text(encoding="utf-8").count("\n") for name, path in module_names().items()
    }
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
