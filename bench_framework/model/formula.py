"""Formulas over named cells, such as ``min(rate(generate), rate(write))``.

Python's parser reads the text. Numbers, names, ``+ - * /`` and the functions below are the only
nodes of the syntax tree that are accepted. Units are checked, and `eval` is not used.
"""

import ast
import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase

FormulaUnit = Literal["bytes/s", "s", "ratio"]
Dimension = tuple[int, int]
"""Exponents of bytes and of seconds."""
Values = Mapping[str, Mapping[str, float]]
"""The values of one round: ``rate`` and ``time`` by cell name or `phase_key`, and ``row``."""
Compute = Callable[[Values], float]

LONGEST: Final = 500
"""Largest number of characters of a formula."""
_RATE, _TIME, _PLAIN = (1, -1), (0, 1), (0, 0)
_UNITS: Final[dict[Dimension, FormulaUnit]] = {_RATE: "bytes/s", _TIME: "s", _PLAIN: "ratio"}
_OF_CELLS: Final[dict[str, Dimension]] = {"rate": _RATE, "time": _TIME}

_FUNCTIONS: Final[dict[str, Callable[[list[float]], float]]] = {
    "min": min,
    "max": max,
    # The total rate of stages that run one after the other.
    "harmonic": lambda values: 1 / math.fsum(1 / value for value in values),
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class FormulaError(ValueError):
    """A formula that is invalid, or whose units are inconsistent; `phrase` is the reason."""

    def __init__(self, code: FaultCode, *details: str | int) -> None:
        super().__init__(code, *details)
        self.phrase = Phrase(code, details)


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula with consistent units."""

    text: str
    unit: FormulaUnit
    cells: tuple[str, ...]
    """Names of the cells that it uses."""
    rows: tuple[str, ...]
    """Names of the other formulas that it uses."""
    phases: tuple[tuple[str, str], ...]
    """The phases of cells that it uses, as keys of `value`."""
    _tree: ast.expr
    _compute: Compute

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two cells of ``time(a) / time(b)``, which is a comparison of cells, else `None`."""
        match self._tree:
            case ast.BinOp(
                left=ast.Call(func=ast.Name(id="time"), args=[ast.Name(id=above)]),
                op=ast.Div(),
                right=ast.Call(func=ast.Name(id="time"), args=[ast.Name(id=below)]),
            ):
                return above, below
        return None

    def value(
        self, rates: Mapping[str, float], times: Mapping[str, float], rows: Mapping[str, float]
    ) -> float:
        """Return the value for one round: bytes per second, seconds, or a ratio.

        `rates` are in bytes per second and `times` in seconds, by cell name, or by `phase_key`
        for a phase of a cell.

        Raises:
            KeyError: a value is missing.
            ZeroDivisionError: a divisor is zero.
        """
        return self._compute({"rate": rates, "time": times, "row": rows})


def parse(text: str, rows: Mapping[str, FormulaUnit] | None = None) -> Formula:
    """Parse a formula and check its units.

    `rows` has the units of the formulas that it may use, by name.

    Raises `FormulaError`: the formula is invalid.
    """
    if len(text) > LONGEST:
        raise FormulaError(FaultCode.LONGER_THAN, LONGEST)
    try:
        tree = ast.parse(text.replace("×", "*").replace("÷", "/").strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(FaultCode.NOT_A_FORMULA) from None
    reader = _Reader(rows or {})
    try:
        dimension, compute = reader.read(tree)
    except RecursionError:
        raise FormulaError(FaultCode.NESTED_TOO_DEEPLY) from None
    if dimension not in _UNITS:
        raise FormulaError(FaultCode.OTHER_UNIT)
    cells, used, phases = tuple(reader.cells), tuple(reader.used), tuple(reader.phases)
    return Formula(text, _UNITS[dimension], cells, used, phases, tree, compute)


def phase_key(cell: str, phase: str) -> str:
    """Return the key of a phase of a cell, which no cell has as its name."""
    return f"{cell}, {phase}"


class _Reader:
    """A visitor of a syntax tree that checks dimensions and collects the names in use."""

    def __init__(self, rows: Mapping[str, FormulaUnit]) -> None:
        self._rows = rows
        self.cells: dict[str, None] = {}
        self.phases: dict[tuple[str, str], None] = {}
        self.used: dict[str, None] = {}

    def read(self, node: ast.expr) -> tuple[Dimension, Compute]:
        """Return the dimension of a part, and the function that computes its value."""
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                if not abs(value) <= sys.float_info.max:  # a float cannot represent it
                    raise FormulaError(FaultCode.NUMBER_TOO_LARGE)
                return _PLAIN, lambda _, number=float(value): number
            case ast.Name(id=name):
                return self._row(name), lambda values: values["row"][name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                dimension, compute = self.read(operand)
                return dimension, lambda values: -compute(values)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
                return self._arithmetic(sign, left, right)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name, args)
        raise FormulaError(FaultCode.NOT_ALLOWED, ast.unparse(node))

    def _row(self, name: str) -> Dimension:
        if name not in self._rows:
            raise FormulaError(FaultCode.NO_FORMULA_ABOVE, name)
        self.used[name] = None
        return next(dimension for dimension, unit in _UNITS.items() if unit == self._rows[name])

    def _arithmetic(
        self, sign: ast.operator, left: ast.expr, right: ast.expr
    ) -> tuple[Dimension, Compute]:
        (a, first), (b, second) = self.read(left), self.read(right)
        function = _ARITHMETIC[type(sign)]
        if isinstance(sign, ast.Mult):
            dimension = (a[0] + b[0], a[1] + b[1])
        elif isinstance(sign, ast.Div):
            if isinstance(right, ast.Constant) and not right.value:
                raise FormulaError(FaultCode.DIVIDED_BY_ZERO, ast.unparse(left))
            dimension = (a[0] - b[0], a[1] - b[1])
        else:
            dimension = _same([left, right], [a, b])
        return dimension, lambda values: function(first(values), second(values))

    def _call(self, name: str, args: list[ast.expr]) -> tuple[Dimension, Compute]:
        if name in _OF_CELLS:
            match args:
                case [ast.Name(id=cell)]:
                    key = cell
                case [ast.Name(id=cell), ast.Name(id=phase)]:
                    key = phase_key(cell, phase)
                    self.phases[cell, phase] = None
                case _:
                    raise FormulaError(FaultCode.TAKES_CELL, name)
            self.cells[cell] = None
            return _OF_CELLS[name], lambda values: values[name][key]
        if name not in _FUNCTIONS:
            known = ", ".join((*_OF_CELLS, *_FUNCTIONS))
            raise FormulaError(FaultCode.NO_FUNCTION, name, known)
        if not args:
            raise FormulaError(FaultCode.TAKES_VALUES, name)
        dimensions, parts = zip(*map(self.read, args), strict=True)
        function = _FUNCTIONS[name]
        return _same(args, dimensions), lambda values: function([part(values) for part in parts])


def _same(nodes: Sequence[ast.expr], dimensions: Sequence[Dimension]) -> Dimension:
    for node, dimension in zip(nodes, dimensions, strict=True):
        if dimension != dimensions[0]:
            raise FormulaError(FaultCode.UNITS_DIFFER, ast.unparse(nodes[0]), ast.unparse(node))
    return dimensions[0]
