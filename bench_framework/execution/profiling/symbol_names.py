"""Readable function names for profiles: Rust symbols demangled, without the compiler's hashes.

perf and callgrind demangle C++ and the older Rust mangling themselves; newer Rust symbols and hashes
remain.
"""

from __future__ import annotations

import re
from typing import Final

from bench_framework import _native

_HASH: Final = re.compile(r"::h[0-9a-f]{16}(?=$|\.|\[|<)")
_SUFFIX: Final = re.compile(r"\.llvm\.[0-9A-F@]+$")
_MANGLED: Final = re.compile(r"__?R|_{0,2}ZN.*17h[0-9a-f]{16}E")
"""The older mangling is that of C++ too; only Rust ends a name with a hash."""


def plain_name(symbol: str) -> str:
    """Return the demangled name of a symbol without hash; other text is returned as it is."""
    name = _SUFFIX.sub("", symbol.strip())
    demangled = _native.demangle(name) if _MANGLED.match(name) else None
    return _HASH.sub("", demangled or name)
