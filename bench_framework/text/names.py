"""Names in sentences: the place of a claim, nouns of metrics, lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from bench_framework.model.facts.comparisons import RecordChange
    from bench_framework.model.facts.evidence import Evidence

LONGEST_LABEL: Final = 22
"""Characters of a label for which a line of a figure has room."""


def scope_of(claim: Evidence, *, inside: bool = False) -> str:
    """Return the scope of a claim as the start of a sentence, or `inside` one.

    Examples are ``"On 10 MiB, "`` for one input of several and ``"With a cold cache, "`` if every
    run was observed to start with a cold cache.
    """
    labels = [value for name, value in claim.scope if name == "input" and value]
    parts = [f"{'on' if inside else 'On'} {listed(labels)}"] if labels else []
    if ("cache", "cold") in claim.scope:
        parts.append("with a cold cache" if labels or inside else "With a cold cache")
    return f"{' '.join(parts)}, " if parts else ""


def begin(claim: Evidence, words: str) -> str:
    """Return the place of a claim and the first words of its sentence, with a capital at the start.

    Words inside another sentence, such as one about a session, have none.
    """
    place = scope_of(claim)
    return f"{place}{words}" if place or claim.session else capital(words)


def closed(text: str) -> str:
    """Return a text with a full stop, unless it ends with punctuation."""
    return text if not text or text[-1] in ".!?…" else text + "."


def first_items(items: Sequence[str], most: int = 6, separator: str = "; ") -> str:
    """Return the first items, and the number of the others."""
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join(items[:most]) + rest


def joined(names: Sequence[str]) -> str:
    """Return all names, separated by semicolons if one of them contains a comma."""
    return ("; " if any("," in name for name in names) else ", ").join(names)


def input_of(claim: Evidence) -> str:
    """Return the label of the input of a claim, empty without one."""
    return dict(claim.scope).get("input", "")


def of_records(claim: Evidence, fact: RecordChange) -> Evidence:
    """Return a claim about one program in two records, with the records in its names."""
    before, after = (f"{claim.subject} ({record})" for record in (fact.before, fact.after))
    return replace(claim, subject=after, reference=before)


def listed(names: Iterable[str], most: int = 4) -> str:
    """Return names as text: ``"a, b and c"``, or the first of them and the number of the others."""
    items = list(names)
    if len(items) > most + 1:
        items = [*items[:most], f"{len(items) - most} more"]
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def comma_list(labels: Sequence[str], most: int = 4) -> str:
    """Return labels as text: ``"a, b, c"``, or the first of them and the number of the others."""
    if len(labels) <= most + 1:
        return ", ".join(labels)
    return f"{', '.join(labels[:most])} and {len(labels) - most} more"


class Loop(Protocol):
    """The position in a loop of a template."""

    first: bool
    last: bool


def between(loop: Loop) -> str:
    """Return what separates an item from the one before: a comma, ``and``, or nothing."""
    return "" if loop.first else " and " if loop.last else ", "


def capital(text: str) -> str:
    """Return a word or phrase with which a sentence begins."""
    return text[:1].upper() + text[1:]


def heading(text: str) -> str:
    """Return a name of the author as a heading, with a capital letter.

    A name of a program with other characters remains as it is, such as ``io_uring`` or ``smol::spawn``.
    """
    return capital(text) if text.partition(" ")[0].isalpha() else text
