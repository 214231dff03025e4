"""YAML text as plain data with the positions of keys and values, and messages about its syntax."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Self, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError

from bench_framework.errors import Position, Problem
from bench_framework.foreign import MAX_SCENARIO_BYTES
from bench_framework.text.errors import ErrorText

MAX_NODES: Final = 20_000
"""Largest number of values after alias expansion (limits a "billion laughs" file)."""

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SHORT: Final = 3
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
_CORE_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("null", "bool", "int", "float", "str", "timestamp", "seq", "map", "merge", "value")
)


class Scalar(str):
    """A scalar as written: ``010``, ``1e3``, ``no``. The key that reads it decides its type."""

    __slots__ = ("plain",)
    plain: bool
    """True for a scalar without quotes, which may be a number, a boolean or null."""

    def __new__(cls, text: str, *, plain: bool = False) -> Self:
        """Create a scalar of this text."""
        scalar = super().__new__(cls, text)
        scalar.plain = plain
        return scalar


def is_null(value: Any) -> bool:
    """Return whether a value is a scalar that YAML 1.2 reads as null."""
    return isinstance(value, Scalar) and value.plain and value in {"", "~", "null", "Null", "NULL"}


Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root."""


@dataclass(slots=True)
class Place:
    """Position of a value, and the places of the values that it contains."""

    file: str
    value: Position
    key: Position | None = None
    children: dict[str | int, Place] = field(default_factory=dict)

    def at(self, path: Sequence[str | int]) -> Place:
        """Return the place at `path`. Parts that are not in the document are skipped."""
        place = self
        for part in path:
            place = place.children.get(part, place)
        return place


@dataclass(slots=True)
class YamlFile:
    """Plain data (`dict`, `list`, `Scalar`) with their places, and the problems so far."""

    data: Any
    place: Place
    sources: dict[str, str]
    problems: list[Problem] = field(default_factory=list)

    def key_problem(self, path: Path, key: str, /, **values: Any) -> Problem:
        """Return a problem that points at the key at `path`, or at its value in a list."""
        place = self.place.at(path)
        return Problem.create(key, place.file, place.key or place.value, **values)

    def text_problem(self, path: Path, text: ErrorText, *, of_key: bool = False) -> Problem:
        """Return a problem whose text exists already, at the value or the key at `path`."""
        place = self.place.at(path)
        at = (of_key and place.key) or place.value
        return Problem(text.code, text.message, place.file, at, text.label, fix=text.fix)

    def value_problem(self, path: Path, key: str, /, **values: Any) -> Problem:
        """Return a problem that points at the value at `path`."""
        place = self.place.at(path)
        return Problem.create(key, place.file, place.value, **values)


class Unreadable(Exception):  # noqa: N818 -- `load` turns it into a problem
    """A text that is not a YAML document, so that nothing else can be checked."""

    def __init__(self, key: str, file: str, at: Position | None = None, /, **values: Any) -> None:
        self.problem = Problem.create(key, file, at, **values)
        super().__init__(self.problem.message)


def parse(text: str, file: str, before: int = 0) -> YamlFile:
    """Read one YAML 1.2 document. Raises `Unreadable`: its first error (BC001 to BC007).

    `before` is the number of characters before the text in its first line.
    """
    if len(text) > MAX_SCENARIO_BYTES:
        raise too_large(file)
    builder = _DocumentBuilder(file, LineStarts(text, before))
    try:
        data, place = builder.build(_composed(text, file, builder.lines))
    except RecursionError:
        raise Unreadable("BC006.nested-too-deeply", file) from None
    return YamlFile(data, place, {file: text}, builder.problems)


def _composed(text: str, file: str, lines: LineStarts) -> Any:
    try:
        # Not thread-safe and not reusable after an error: one reader per document.
        reader = YAML(typ="safe", pure=True)
        # YAML 1.2 permits to use the name of an anchor again. An alias means the last one.
        reader.composer.warn_double_anchors = False
        root = reader.compose(text)
    except ReaderError as error:
        raise _bad_character(error, file, lines) from None
    except MarkedYAMLError as error:
        raise _broken(error, text, file, lines) from None
    except (YAMLError, ValueError, AssertionError, LookupError, AttributeError, TypeError) as error:
        # The YAML reader raises these for some invalid texts.
        raise Unreadable("BC001.not-yaml", file, error=error) from None
    if root is None:
        raise Unreadable("BC005", file)
    return root


class _DocumentBuilder:
    def __init__(self, file: str, lines: LineStarts) -> None:
        self.file = file
        self.lines = lines
        self.problems: list[Problem] = []
        self._nodes = 0
        self._open: set[int] = set()

    def build(self, node: Node, name: str = "") -> tuple[Any, Place]:
        """Return the plain data and places of a node. `name` is its path, for messages."""
        self._nodes += 1
        place = Place(self.file, self.lines.position(node.start_mark.index, node.end_mark.index))
        if self._nodes > MAX_NODES:
            key = "BC006.too-many-values"
            raise Unreadable(key, self.file, place.value, max_nodes=MAX_NODES)
        if id(node) in self._open:
            raise Unreadable("BC001.recursive-alias", self.file, place.value)
        if str(node.tag) not in _CORE_TAGS:
            self._report("BC001.tag-not-supported", place.value, tag=node.tag)
        if isinstance(node, ScalarNode):
            return self._scalar(node, place.value), place
        self._open.add(id(node))
        data: Any
        if isinstance(node, MappingNode):
            data = self._mapping(node, place, name)
        else:
            data = []
            for index, child in enumerate(node.value):
                item, place.children[index] = self.build(child, f"{name}[{index}]")
                data.append(item)
        self._open.discard(id(node))
        return data, place

    def _scalar(self, node: ScalarNode, at: Position) -> Scalar:
        # JSON, which YAML contains, escapes characters beyond U+FFFF as pairs.
        text = _PAIR.sub(
            lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), str(node.value)
        )
        if _UNWRITABLE.search(text):
            self._report("BC001.invalid-character-in-command", at)
            text = _UNWRITABLE.sub("?", text)
        # `!!str 5`: the tag for text has the effect of quotes.
        length = node.end_mark.index - node.start_mark.index
        tagged = str(node.tag) == "tag:yaml.org,2002:str" and length != len(str(node.value))
        return Scalar(text, plain=node.style is None and not tagged)

    def _mapping(self, node: MappingNode, place: Place, name: str) -> dict[str, Any]:
        data: dict[str, Any] = {}
        merged: list[tuple[Any, Place]] = []
        for key_node, value_node in node.value:
            at = self.lines.position(key_node.start_mark.index, key_node.end_mark.index)
            if not isinstance(key_node, ScalarNode):
                self._report("BC102.key-not-text", at)
                continue
            key = str(self._scalar(key_node, at))
            value, child = self.build(value_node, f"{name}.{key}" if name else key)
            child.key = at
            if value_node.start_mark.index == value_node.end_mark.index:
                child.value = at  # an empty value has no position, so point at the key
            if key == "<<" and key_node.style is None:
                merged.extend(self._merge_parts(value, child))
            elif key in data:
                first = place.children[key]
                also = ((first.key or first.value, "first definition"),)
                parent = f" in `{name}`" if name else ""
                self._report("BC104.key-twice", at, also=also, key=key, place=parent)
            else:
                data[key], place.children[key] = value, child
        for source, origin in merged:
            for key, value in source.items():
                if key not in data:
                    data[key], place.children[key] = value, origin.children[key]
        return data

    def _merge_parts(self, value: Any, child: Place) -> list[tuple[Any, Place]]:
        parts = [(value, child)]
        if isinstance(value, list):
            parts = [(v, child.children[i]) for i, v in enumerate(value)]
        if all(isinstance(part, dict) for part, _ in parts):
            return parts
        self._report("BC102.merge-of-other-value", child.value)
        return []

    def _report(self, key: str, at: Position, /, **values: Any) -> None:
        self.problems.append(Problem.create(key, self.file, at, **values))


def suggest(word: object, known: Iterable[str]) -> str | None:
    """Return the known word nearest to a text, ignoring case, `-` and `_`."""
    if not isinstance(word, str):
        return None
    by_key = {_folded(name): name for name in known}
    cutoff = 0.5 if len(word) <= _SHORT else 0.6  # two swapped letters have a ratio of 0.5
    match = get_close_matches(_folded(word), by_key, n=1, cutoff=cutoff)
    return by_key[match[0]] if match else None


def _folded(name: str) -> str:
    return name.lower().replace("_", "-")


_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_PARTS: Final = {
    "sequence": "list",
    "mapping": "mapping",
    "scalar": "text",
    "collection": "block",
    "node": "value",
}
"""The YAML reader's terms for what it was reading, and the printed terms."""
_WORDS: Final = {
    "('<anchor>',)": "an anchor",
    "'<stream end>'": "the end of the file",
    "'<document start>'": "a new document",
    "<block end>": "the end of the block",
    "found unexpected end of stream": "the file ends within quotes",
    "mapping values are not allowed here": "unexpected `:`",
    "'": "`",
}
"""Replacements in the YAML reader's messages, applied in this order."""


class LineStarts:
    """Map from character offsets to lines and columns. Lines end with LF, CRLF or CR."""

    def __init__(self, text: str, before: int) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._lengths = [len(line) for line in split_lines(text)]
        self._before = before

    def position(self, start: int, end: int) -> Position:
        """Return the position of `start` to `end` on the first line, at least one column wide."""
        row = bisect_right(self._starts, start) - 1
        column = min(start - self._starts[row], self._lengths[row])
        length = max(1, min(end - start, self._lengths[row] - column))
        return Position(row + 1, column + 1 + (0 if row else self._before), length)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without line ends, at least one line."""
    return _LINE_END.split(text)


def too_large(file: str) -> Unreadable:
    """Return the error for a text above the size limit."""
    return Unreadable("BC006.file-too-large", file, max_bytes=MAX_SCENARIO_BYTES // 1024)


def _bad_character(error: ReaderError, file: str, lines: LineStarts) -> Unreadable:
    """Return the error for a control character or an unpaired surrogate."""
    character = error.character
    code = character if isinstance(character, int) else ord(str(character)[:1] or "?")
    at = lines.position(error.position, error.position + 1)
    return Unreadable("BC001.character-not-allowed", file, at, code=code)


def _broken(error: MarkedYAMLError, text: str, file: str, lines: LineStarts) -> Unreadable:
    """Return the error for invalid syntax, with the place where the broken part starts."""
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    problem = message = error.problem or error.context or "this is not YAML"
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    if mark is None:
        return Unreadable("BC001.syntax", file, problem=message)
    at = lines.position(mark.index, mark.index + 1)
    if text[mark.index : mark.index + 1] == "\t" and "cannot start any token" in problem:
        before = text[: mark.index].rsplit("\n", 1)[-1].strip()
        return Unreadable(
            "BC002", file, at, before="between values" if before else "for indentation"
        )
    if (error.context or "").startswith("expected a single document"):
        return Unreadable("BC007", file, at)
    also: tuple[tuple[Position, str], ...] = ()
    if context is not None and context.index != mark.index:
        parts = (word for key, word in _PARTS.items() if key in (error.context or ""))
        opened = lines.position(context.index, context.index + 1)
        also = ((opened, f"the {next(parts, 'part')} starts here"),)
    colon = problem.startswith("mapping values are not allowed")
    key = "BC001.unquoted-colon" if colon else "BC001.syntax"
    return Unreadable(key, file, at, also=also, problem=message)
