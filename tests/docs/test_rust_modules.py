"""Test that modules of a Rust crate form no circle, except a module with those below it."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = sorted(Path(__file__).parents[2].glob("native/crates/*/src"))
_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ((?:crate|super|self)\b[^;]*);", re.MULTILINE)
_TESTS = re.compile(r"#\[cfg\(test\)\]\nmod \w+ \{.*", re.DOTALL)
_GROUP = re.compile(r"([\w:]*)\{([^{}]*)\}")


def paths_of(text: str) -> list[str]:
    """Return the paths of a `use` declaration, which can have nested groups in braces."""
    text = "".join(re.sub(r"//[^\n]*|\bas \w+", "", text).split())
    while group := _GROUP.search(text):
        names = ",".join(group[1] + name for name in group[2].split(","))
        text = text[: group.start()] + names + text[group.end() :]
    return text.split(",")


def circle_of(src: Path) -> list[str]:
    """Return modules of which each uses the next one, or modules below it do; empty for none."""
    graph, files = TopologicalSorter[str](), dict[Path, list[str]]()
    for path in src.rglob("*.rs"):
        parts = path.relative_to(src).with_suffix("").parts
        files[path] = [name for name in parts if name not in {"mod", "lib", "main"}]
    for path, module in files.items():
        text = "" if "tests" in module else _TESTS.sub("", path.read_text(encoding="utf-8"))
        for used in (used for use in _USE.findall(text) for used in paths_of(use)):
            target = [] if used.startswith("crate") else module
            for name in used.removeprefix("crate").removeprefix("self").split("::"):
                target = target[:-1] if name == "super" else [*target, *filter(None, [name])]
            while target and target not in files.values():
                target = target[:-1]
            pairs = enumerate(zip(module, target, strict=False), 1)
            for n in [n for n, (one, other) in pairs if one != other][:1]:
                graph.add("::".join(module[:n]), "::".join(target[:n]))
    try:
        graph.prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


@pytest.mark.parametrize("src", CRATES, ids=lambda src: src.parent.name)
def test_no_circle_of_modules(src: Path) -> None:
    assert circle_of(src) == []


@pytest.mark.parametrize("use", ["super::super::a::{self, X}", "crate::{c,\n a::{X, Y as Z},}"])
def test_a_circle_is_found(tmp_path: Path, use: str) -> None:
    for name, text in {"a": "use crate::b;", "b": "mod d;", "b/d": f"pub use {use};"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "mod.rs").write_text(text)
    assert set(circle_of(tmp_path)) == {"a", "b"}
