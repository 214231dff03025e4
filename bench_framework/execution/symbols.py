"""Names of functions as people read them.

perf and callgrind demangle C++ and the older Rust mangling themselves; newer Rust symbols and hashes
remain, and `plain_name` demangles them. `grouped_name` unites the copies that a compiler makes of one function.
"""

import re
from functools import lru_cache
from typing import Final

from bench_framework import _native

_HASH: Final = re.compile(r"::h[0-9a-f]{16}(?=$|\.|\[|<)")
_SUFFIX: Final = re.compile(r"\.llvm\.[0-9A-F@]+$")
_MANGLED: Final = re.compile(r"__?R|_{0,2}ZN.*17h[0-9a-f]{16}E")
"""The older mangling is that of C++ too; only Rust ends a name with a hash."""
_CLONE: Final = re.compile(r"\.(?:part|constprop|isra|cold|lto_priv)(?:\.\d+)*$")
"""Suffix of a part or a copy of a function that GCC made."""
_OF_PROCESSOR: Final = re.compile(r"__((?:mem|str|wcs|wmem)[a-z]+?)_(?:avx|sse|ssse|evex|erms)\w*")
"""Variant of a function of glibc for one kind of processor."""
_NUMBERED_PART: Final = re.compile(r"\{\{?(closure|vtable\.shim|shim|constant)(?:#\d+)?\}?\}")
_WORD: Final = re.compile(r"[\w)\]}]$")
_CRATE: Final = re.compile(r"(?:[<&*\[(]|(?:mut|const|dyn|unsafe|impl) )*(?P<crate>[A-Za-z_]\w*)::")
_STANDARD: Final = frozenset({"core", "alloc", "std", "compiler_builtins", "__rustc"})
"""Crates of Rust's standard library, whose code is one row."""
MOST_NAMES: Final = 1 << 16
"""Most names that are remembered."""


def plain_name(symbol: str) -> str:
    """Return the demangled name of a symbol without hash; other text is returned as it is."""
    name = _SUFFIX.sub("", symbol.strip())
    demangled = _native.demangle(name) if _MANGLED.match(name) else None
    return _HASH.sub("", demangled or name)


def crate_of(name: str) -> str:
    """Return the crate in which a function of a plain name is defined; empty if the name has none.

    ``<A as B>::f`` belongs to the crate of ``A``. A generic function belongs to the crate that defines it, not to
    the one that uses it.
    """
    match = _CRATE.match(name)
    crate = match["crate"] if match else ""
    return "std" if crate in _STANDARD else crate


@lru_cache(maxsize=MOST_NAMES)
def grouped_name(name: str) -> str:
    """Return a plain name without generic parameters, numbers of closures and suffixes of copies.

    ``<alloc::vec::Vec<u8>>::push`` becomes ``alloc::vec::Vec::push``, ``<A<u8> as B<C>>::f`` becomes
    ``<A as B>::f``, and ``__memcpy_avx_unaligned`` becomes ``memcpy``.
    """
    name = _CLONE.sub("", name)
    if variant := _OF_PROCESSOR.fullmatch(name):
        return variant[1]
    return _NUMBERED_PART.sub(r"{\1}", _without_parameters(name))


def _without_parameters(name: str) -> str:
    """Return a name without generic parameters; unchanged if its brackets do not match."""
    out = ""
    starts: list[int] = []  # where each bracket that is kept begins
    place = 0
    while place < len(name):
        char = name[place]
        if char == "<" and out.endswith("operator"):
            return name
        if char == "<" and (_WORD.search(out) or out.endswith("::")):
            end = _closing(name, place)
            if end is None:
                return name
            out, place = out.removesuffix("::"), end
        elif char == "<":
            starts.append(len(out))
            out += char
        elif char == ">" and not out.endswith(("-", "=")):
            if not starts:
                return name
            start = starts.pop()
            inner = out[start + 1 :]
            # A type needs its brackets only before the name of its trait.
            out = f"{out}>" if " as " in inner or inner.startswith("impl ") else out[:start] + inner
        else:
            out += char
        place += 1
    return name if starts else out


def _closing(name: str, start: int) -> int | None:
    """Return the place of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(name)):
        if name[place] == "<":
            depth += 1
        elif name[place] == ">" and name[place - 1] not in "-=":
            depth -= 1
            if not depth:
                return place
    return None
