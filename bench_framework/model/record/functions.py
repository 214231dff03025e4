"""Counted costs of functions in untimed runs, as records store them, and the functions of allocators."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

UNKNOWN: Final = "[unknown]"
"""Name of a function without a symbol, and of all functions of a file without symbols."""
_PREFIX: Final = r"(?:_rjem_|_rjem_je_|je_|mi_|sn_|sn_rust_|rp|tc_|__libc_)?"
_RUST: Final = r"(?:__rustc::)?__(?:rust|rdl|rg)"
_TRAIT: Final = "<.* as core::alloc::global::GlobalAlloc>::"
_ALLOCATOR: Final[Mapping[str, re.Pattern[str]]] = {
    "allocations": re.compile(
        rf"{_PREFIX}(?:malloc|calloc|zalloc|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|mallocx|alloc|"
        r"alloc_zeroed|aligned_malloc|aligned_calloc|malloc_aligned|zalloc_aligned|calloc_aligned)|"
        rf"{_RUST}_alloc(?:_zeroed)?|{_TRAIT}alloc(?:_zeroed)?|operator new(?:\[\])?(?:\(.*)?"
    ),
    "reallocations": re.compile(
        rf"{_PREFIX}(?:realloc|reallocarray|recalloc|rallocx|realloc_aligned|aligned_realloc|reallocf)|"
        rf"{_RUST}_realloc|{_TRAIT}realloc"
    ),
    "deallocations": re.compile(
        rf"{_PREFIX}(?:free|cfree|dallocx|sdallocx|dealloc|free_sized|free_size|free_aligned|free_size_aligned)|"
        rf"{_RUST}_dealloc|{_TRAIT}dealloc|operator delete(?:\[\])?(?:\(.*)?"
    ),
}
"""Functions that programs call for memory: those of C, of C++, of Rust, and those that allocators export."""
_NOT_ALONE: Final = frozenset({"alloc", "alloc_zeroed", "zalloc", "dealloc", "recalloc"})
"""Names that are those of an allocator only with its prefix: any program may have a function `alloc`."""
_INSIDE: Final = re.compile(r"(?:_rjem_|je_|_?mi_|sn_|tc_)(?!.*::)|snmalloc|rpmalloc|tcmalloc")
"""Beginning of the names of functions within an allocator, whose calls are not those of the program. A crate can be
named `mi_file`, but its functions have a path."""
_OF_LIBC: Final = re.compile(
    r"_int_(?:malloc|free|realloc|memalign)\w*|_mid_memalign|malloc_(?:consolidate|usable_size)|alloc_perturb|"
    r"unlink_chunk|sys(?:malloc|trim)\w*|tcache_\w+|arena_get\w*|ptmalloc_\w+|checked_request2size|"
    r"(?:heap_trim|grow_heap|new_heap)|__libc_(?:malloc|calloc|realloc|free)\w+"
)
"""Functions within the allocator of a C library."""
_ALLOCATOR_FILE: Final = re.compile(r"lib(?:mimalloc|jemalloc|tcmalloc|snmalloc|rpmalloc).*")
"""File names of libraries that only contain an allocator."""
ALLOCATOR: Final = "[allocator]"
"""Name of all functions of the allocator together."""
ALLOCATOR_METRICS: Final = tuple(_ALLOCATOR)
"""Metrics that count calls of the allocator."""

_STANDARD: Final = re.compile(
    r"(?:<?(?:&|\*|mut |const |dyn |\[|\()*)*(?:core|alloc|std|hashbrown|__rustc|compiler_builtins|memchr)::.*|"
    r"<(?:&|\*|mut |const |dyn |\[|\()*(?:[ui](?:8|16|32|64|128|size)|f32|f64|bool|char|str|_)\b.* as "
    r"(?:core|alloc|std)::.*|__rust_.*|_?start|\(below main\)|" + re.escape(UNKNOWN)
)
"""Functions of Rust's libraries, which are compiled into the program."""
Key = tuple[str, str]
"""Name and module of a function."""


def is_of_program(key: Key) -> bool:
    """Return whether a function is one of the program, and not of Rust's libraries or an allocator."""
    return not key[1] and not _STANDARD.fullmatch(key[0]) and not allocator_metric(key[0])


def allocator_metric(name: str) -> str:
    """Return the metric that counts the calls of a function, or an empty text."""
    if name in _NOT_ALONE:
        return ""
    return next((metric for metric, names in _ALLOCATOR.items() if names.fullmatch(name)), "")


def is_inside_allocator(name: str) -> bool:
    """Return whether a function belongs to an allocator other than that of the C library, or is called for memory."""
    return bool(_INSIDE.match(name) or allocator_metric(name))


def is_of_allocator(key: Key) -> bool:
    """Return whether a function belongs to any allocator."""
    name, module = key
    within = is_inside_allocator(name) or _OF_LIBC.fullmatch(name)
    return bool(within or _ALLOCATOR_FILE.match(module))


class FunctionCost(NamedTuple):
    """The costs of one function in one run, without those of the functions that it calls."""

    name: str
    """Name without hash, generic parameters and suffixes of copies."""
    module: str
    """File name of the library; empty for the program itself."""
    instructions: int
    """Instructions in user code."""
    calls: int
    """Number of times that it was called."""
    system_calls: int = 0
    """Number of system calls that it made."""


class CallCount(NamedTuple):
    """The number of calls from one function to another, both as indexes into the functions of the run.

    `instructions` are those of the callee during these calls, with those of the functions that it calls.
    """

    caller: int
    callee: int
    calls: int
    instructions: int


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """The counted functions of one run of a cell.

    The first run has all functions that matter. A later one has only those whose costs differ from the
    first run, with zeros for a function that did not run.
    """

    cell_id: str
    run: int
    """Number of the run, from 1, as in its observation."""
    functions: tuple[FunctionCost, ...]
    calls: tuple[CallCount, ...] = ()
    """Calls between these functions, in the first run."""
    left_out: int = 0
    """Instructions of the functions that are left out, because they are few and seldom called."""
