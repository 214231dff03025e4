"""Groups of cargo features of which a build uses one: guesses from their names and from sources.

- By name: two implementations of one thing (`NAMES`), such as ``rustls`` and ``native-tls``, also as
  ``use-rustls`` or ``rustls-tls``; and features ``backend-X``, ``engine-X``, ``X-backend``,
  ``X-engine``. One allocator is enough, because the other one is that of the system.
- By sources: ``compile_error!`` under a `cfg` with both features, or one `cfg` with A and without B,
  and another one with B and without A, or without both.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench_framework.model.phrases import Phrase, PhraseCode

ALLOCATOR: Final = "allocator"
NAMES: Final = {
    ALLOCATOR: r"(?:tikv-)?(jemalloc|mimalloc|snmalloc|tcmalloc|rpmalloc|dlmalloc)(?:ator)?",
    "runtime": "(tokio|async-std|smol|glommio|monoio|compio)",
    "tls": "(rustls|native-tls|openssl|boringssl)",
    "regex": "(onig|oniguruma|fancy|fancy-regex|pcre2)",
    "zlib": "(zlib-ng|zlib-rs|miniz-oxide|rust-backend|cloudflare-zlib)",
    "hash": "(ahash|fxhash|foldhash|rustc-hash|siphash)",
}
_KINDS: Final = re.compile(r"(?P<a>backend|engine)-(?P<x>.+)|(?P<y>.+)-(?P<b>backend|engine)")
_CFG: Final = re.compile(r"\bcfg!?\s*\(")
_TOKEN: Final = re.compile(r'(\w+)\s*\(|\bfeature\s*=\s*"([^"]+)"|(\))|"[^"]*"')
_REFUSAL: Final = re.compile(r"\s*\]\s*(?:\w+::)*compile_error\b")


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives: the name of their axis, the feature of each value, and the reason."""

    axis: str
    features: Mapping[str, str]
    reason: Phrase


def groups(features: Mapping[str, Sequence[str]], sources: Iterable[str]) -> list[Group]:
    """Return the groups of a package: allocators, other names, then those found in its sources."""
    by_axis: dict[str, dict[str, str]] = {axis: {} for axis in NAMES}
    for name in features:
        axis, value = _by_name(name)
        members = by_axis.setdefault(axis, {})
        # `use-jemalloc` includes the optional dependency `jemallocator`, not the reverse.
        if axis and (value not in members or members[value] in closure(features, [name])):
            members[value] = name
    result = [
        Group(axis, members, Phrase(PhraseCode.BY_NAMES))
        for axis, members in by_axis.items()
        if axis and len(members) > (axis != ALLOCATOR)
    ]
    taken = {name for group in result for name in group.features.values()}
    for number, part in enumerate(_components(_exclusive(sources), set(features) - taken)):
        axis = f"feature-{number + 1}" if number else "feature"
        members = {name: name for name in sorted(part)}
        result.append(Group(axis, members, Phrase(PhraseCode.BY_CFG)))
    return result


def allocator_of(name: str) -> str | None:
    """Return the allocator that a feature or dependency brings, by its name."""
    axis, value = _by_name(name)
    return value if axis == ALLOCATOR else None


def closure(features: Mapping[str, Sequence[str]], names: Iterable[str]) -> set[str]:
    """Return features with those that they enable, directly or not."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in features and name not in reached:
            reached.add(name)
            waiting += features[name]
    return reached


def settings(group: Group, features: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the settings of each axis value, that of the default features first.

    It is empty if the default features cannot be had without a member, or contain several.
    """
    members = set(group.features.values())
    default = features.get("default", ())
    active = members & closure(features, default)
    others = [name for name in default if name not in members]
    if len(active) > 1 or members & closure(features, others):
        return {}
    if not active:
        base = "system" if group.axis == ALLOCATOR else "default"
        return {base: {}, **{value: {"features": [n]} for value, n in group.features.items()}}
    if any(name.startswith("dep:") for name in others):
        return {}  # no option of cargo enables it
    first: dict[str, dict[str, Any]] = {
        value: {} for value, name in group.features.items() if name in active
    }
    rest = {value: [*others, n] for value, n in group.features.items() if n not in active}
    if group.axis == ALLOCATOR:
        rest = {"system": others, **rest}
    return first | {
        value: {"no-default-features": True} | ({"features": names} if names else {})
        for value, names in rest.items()
    }


def _by_name(name: str) -> tuple[str, str]:
    """Return the axis and the value that a feature's name suggests, or two empty texts."""
    plain = name.lower().replace("_", "-")
    for axis, values in NAMES.items():
        around = rf"(?:(?:use|with|enable|alloc|rt|{axis})-)?{values}(?:-(?:rs|alloc|rt|{axis}))?"
        if match := re.fullmatch(around, plain):
            return axis, match[1]
    if match := _KINDS.fullmatch(plain):
        return match["a"] or match["b"], match["x"] or match["y"]
    return "", ""


def _exclusive(sources: Iterable[str]) -> set[frozenset[str]]:
    """Return the pairs of features that sources show to be exclusive."""
    refused: set[frozenset[str]] = set()
    ordered: set[tuple[str, str]] = set()
    neither: set[frozenset[str]] = set()
    for text in sources:
        for match in _CFG.finditer(text):
            literals, end = _literals(text, match.end())
            given, absent = ({n for n, sign in literals if sign is s} for s in (True, False))
            if _REFUSAL.match(text, end):
                refused |= {frozenset(pair) for pair in itertools.combinations(given, 2)}
            else:
                ordered |= set(itertools.product(given, absent))
                neither |= {frozenset(pair) for pair in itertools.combinations(absent, 2)}
    return refused | {
        frozenset((one, other))
        for one, other in ordered
        if (other, one) in ordered or frozenset((one, other)) in neither
    }


def _literals(text: str, start: int) -> tuple[list[tuple[str, bool]], int]:
    """Return the features of a `cfg`, each with false if it is negated, and the end of the `cfg`."""
    stack, literals = [True], []
    for match in _TOKEN.finditer(text, start, start + 2000):
        if match[1]:
            stack.append(stack[-1] != (match[1] == "not"))
        elif match[2]:
            literals.append((match[2], stack[-1]))
        elif match[3]:
            stack.pop()
            if not stack:
                return literals, match.end()
    return [], start


def _components(pairs: set[frozenset[str]], known: set[str]) -> Iterator[set[str]]:
    """Yield the connected sets of known features."""
    waiting = sorted(sorted(pair) for pair in pairs if pair <= known and len(pair) > 1)
    while waiting:
        part = set(waiting.pop(0))
        while near := [pair for pair in waiting if part & set(pair)]:
            part.update(*near)
            waiting = [pair for pair in waiting if pair not in near]
        yield part
