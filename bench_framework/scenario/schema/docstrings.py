"""The docstrings under the keys of the language, read from the source when somebody asks for them.

pydantic reads them too (`use_attribute_docstrings`), but those of every model whenever it is imported; only the JSON
Schema and the message about a missing key need them.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel


@cache
def of(part: type[BaseModel]) -> dict[str, str]:
    """Field to its docstring, for the fields that have one.

    Raises:
        OSError: the package was installed without its sources.
    """
    kind = next(
        node
        for node in _source(part.__module__).body
        if isinstance(node, ast.ClassDef) and node.name == part.__name__
    )
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in itertools.pairwise(kind.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.target.id in part.model_fields
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _source(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))
