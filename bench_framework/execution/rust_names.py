"""Decoder of Rust's symbol mangling v0, with the output of `rustc-demangle` without hashes. Pure.

Source: RFC 2603 and https://doc.rust-lang.org/rustc/symbol-mangling/v0.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

DEEPEST: Final = 200
LONGEST: Final = 4000
"""Limit of the work per symbol: back references can make a short symbol endless."""
_BASIC: Final = {
    "a": "i8",
    "b": "bool",
    "c": "char",
    "d": "f64",
    "e": "str",
    "f": "f32",
    "h": "u8",
    "i": "isize",
    "j": "usize",
    "l": "i32",
    "m": "u32",
    "n": "i128",
    "o": "u128",
    "s": "i16",
    "t": "u16",
    "u": "()",
    "v": "...",
    "x": "i64",
    "y": "u64",
    "z": "!",
    "p": "_",
}
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_POINTERS: Final = {"R": "&", "Q": "&mut ", "P": "*const ", "O": "*mut "}
_SIGNED: Final = frozenset("anilsx")


class Unreadable(Exception):  # noqa: N818 -- the caller keeps the symbol unchanged
    """The symbol does not use this mangling, or its name is too long."""


def demangle(symbol: str) -> str:
    """Decode a symbol such as ``_RNvC6_123foo3bar``. Raises `Unreadable`."""
    body = symbol.removeprefix("_").removeprefix("_").removeprefix("R")
    text, dot, tail = body.partition(".")
    if not text or not text.isascii() or text[0].isdigit():
        raise Unreadable(symbol)
    try:
        reader = _Reader(text)
        name = reader.path(in_value=True)
        if reader.at < len(text):
            reader.path(in_value=False)  # the crate that instantiated a generic function
    except (IndexError, ValueError, OverflowError) as error:
        raise Unreadable(symbol) from error
    if reader.at != len(text):
        raise Unreadable(symbol)
    return name + (dot + tail if tail and not tail.startswith("llvm.") else "")


class _Reader:
    """A cursor over the symbol after its ``_R``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._depth = 0
        self._written = 0

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _eat(self, char: str) -> bool:
        if self.text[self.at : self.at + 1] == char:
            self.at += 1
            return True
        return False

    def _enter(self) -> None:
        self._depth += 1
        self._written += 1
        if self._depth > DEEPEST or self._written > LONGEST:
            raise Unreadable(self.text)

    def _base62(self) -> int:
        """Read a base-62 number: ``_`` is 0, ``0_`` is 1."""
        if self._eat("_"):
            return 0
        value = 0
        while not self._eat("_"):
            value = value * 62 + _DIGITS.index(self._take())
        return value + 1

    def _disambiguator(self) -> int:
        return self._base62() + 1 if self._eat("s") else 0

    def _number(self) -> int:
        start = self.at
        if self._eat("0"):
            return 0
        while self.text[self.at : self.at + 1].isdigit():
            self.at += 1
        return int(self.text[start : self.at])

    def _identifier(self) -> tuple[str, int]:
        """Read a name and its disambiguator."""
        index = self._disambiguator()
        return self._bare(), index

    def _bare(self) -> str:
        unicode = self._eat("u")
        length = self._number()
        self._eat("_")
        name = self.text[self.at : self.at + length]
        if len(name) != length:
            raise Unreadable(self.text)
        self.at += length
        if not unicode:
            return name
        plain, _, coded = name.rpartition("_")
        try:
            return f"{plain}-{coded}".lstrip("-").encode().decode("punycode")
        except UnicodeError as error:
            raise Unreadable(self.text) from error

    def path(self, *, in_value: bool) -> str:
        """Read a path; in the name of a value generic arguments are written ``::<…>``."""
        self._enter()
        try:
            return self._path(self._take(), in_value=in_value)
        finally:
            self._depth -= 1

    def _path(self, tag: str, *, in_value: bool) -> str:
        match tag:
            case "C":
                return self._identifier()[0]
            case "M" | "X":
                self._disambiguator()
                self.path(in_value=False)  # path of the impl block
                return self._implementation(trait=tag == "X")
            case "Y":
                return self._implementation(trait=True)
            case "N":
                return self._nested(in_value=in_value)
            case "I":
                head = self.path(in_value=in_value)
                arguments = self._until_end(self._argument)
                return f"{head}{'::' if in_value else ''}<{', '.join(arguments)}>"
            case "B":
                return self._back(lambda: self.path(in_value=in_value))
            case _:
                raise Unreadable(self.text)

    def _implementation(self, *, trait: bool) -> str:
        self_type = self._type()
        return f"<{self_type} as {self.path(in_value=False)}>" if trait else f"<{self_type}>"

    def _nested(self, *, in_value: bool) -> str:
        space = self._take()
        head = self.path(in_value=in_value)
        name, index = self._identifier()
        if space.isupper():
            kind = {"C": "closure", "S": "shim"}.get(space, space)
            return f"{head}::{{{kind}{':' + name if name else ''}#{index}}}"
        if not space.islower():
            raise Unreadable(self.text)
        return f"{head}::{name}" if name else head

    def _back(self, read: Callable[[], str]) -> str:
        """Follow a back reference and read from there."""
        start = self.at - 1
        target = self._base62()
        if target >= start:
            raise Unreadable(self.text)
        after, self.at = self.at, target
        self._enter()
        try:
            return read()
        finally:
            self._depth -= 1
            self.at = after

    def _until_end(self, read: Callable[[], str]) -> list[str]:
        items: list[str] = []
        while not self._eat("E"):
            items.append(read())
        return items

    def _argument(self) -> str:
        if self._eat("L"):
            self._base62()
            return "'_"
        return self._constant() if self._eat("K") else self._type()

    def _type(self) -> str:
        self._enter()
        try:
            return self._kind(self._take())
        finally:
            self._depth -= 1

    def _kind(self, tag: str) -> str:
        if tag in _BASIC:
            return _BASIC[tag]
        match tag:
            case "A":
                item = self._type()
                return f"[{item}; {self._constant()}]"
            case "S":
                return f"[{self._type()}]"
            case "T":
                items = self._until_end(self._type)
                return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
            case "R" | "Q" | "P" | "O":
                if tag in "RQ" and self._eat("L"):
                    self._base62()
                return f"{_POINTERS[tag]}{self._type()}"
            case "F" | "D":
                return self._function() if tag == "F" else self._dynamic()
            case "B":
                return self._back(self._type)
            case _:
                return self._path(tag, in_value=False)

    def _function(self) -> str:
        if self._eat("G"):
            self._base62()
        head = "unsafe " if self._eat("U") else ""
        if self._eat("K"):
            head += f'extern "{"C" if self._eat("C") else self._bare().replace("_", "-")}" '
        given = ", ".join(self._until_end(self._type))
        result = self._type()
        return f"{head}fn({given}){'' if result == '()' else f' -> {result}'}"

    def _dynamic(self) -> str:
        if self._eat("G"):
            self._base62()
        traits = self._until_end(self._trait)
        if not self._eat("L"):
            raise Unreadable(self.text)
        self._base62()
        return f"dyn {' + '.join(traits)}"

    def _trait(self) -> str:
        head = self.path(in_value=False)
        bound: list[str] = []
        while self._eat("p"):
            name = self._bare()
            bound.append(f"{name} = {self._type()}")
        if not bound:
            return head
        if head.endswith(">"):
            return f"{head[:-1]}, {', '.join(bound)}>"
        return f"{head}<{', '.join(bound)}>"

    def _constant(self) -> str:
        tag = self._take()
        if tag == "B":
            return self._back(self._constant)
        if tag == "p":
            return "_"
        if tag not in "abchijlmnostxy":
            raise Unreadable(self.text)  # structures and strings: rare, and not in stable Rust yet
        negative = self._eat("n")
        end = self.text.index("_", self.at)
        value = int(self.text[self.at : end] or "0", 16)
        self.at = end + 1
        if tag == "b":
            return "true" if value else "false"
        if tag == "c":
            return repr(chr(value))
        return f"{'-' if negative and tag in _SIGNED else ''}{value}"
