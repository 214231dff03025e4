"""The docstrings of the keys of a scenario."""

import ast
import inspect
import itertools
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from bench_framework.scenario.schema.types import keys


def docstrings(part: type[Any]) -> dict[str, str]:
    """Return the docstring of each key that has one, read from the source code.

    pydantic's `use_attribute_docstrings` reads the docstrings of every model at import. Only the
    JSON Schema and the message about a missing key need them.

    Raises `OSError`: the package was installed without its sources.
    """
    kind = next(
        node
        for node in _source(part.__module__).body
        if isinstance(node, ast.ClassDef) and node.name == part.__name__
    )
    texts = {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(kind.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
    if is_dataclass(part):
        texts |= {f.name: f.metadata["about"] for f in fields(part) if "about" in f.metadata}
    return {key: texts[name] for key, (name, _) in keys(part).items() if name in texts}


@cache
def _source(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))
