"""Claims as sentences of a report, and the main claim of an input."""

from collections.abc import Iterable, Sequence

from bench_framework.model.facts import Claim
from bench_framework.model.plan import Input
from bench_framework.report.blocks import Bullets, Sentence
from bench_framework.report.context import ReportData
from bench_framework.text.write import lead

MAIN_KINDS = ("main", "nothing")


def sentence(claim: Claim) -> Sentence:
    """Return a claim as a sentence: with a capital, unless a name is first, and a full stop."""
    text = claim.text.strip()
    if text and not any(_begins_with(text, name) for name in (claim.subject, claim.reference)):
        text = text[0].upper() + text[1:]
    return Sentence(closed(text), claim.id, claim.verdict, lead(claim))


def _begins_with(text: str, name: str | None) -> bool:
    """Return whether the first words of a text are a name, and not a word that begins like it."""
    return bool(name) and text.startswith(str(name)) and not text[len(str(name)) :][:1].isalnum()


def claim_bullets(claims: Iterable[Claim]) -> list[Bullets]:
    """Return the sentences of claims as a list, or nothing without claims."""
    items = tuple(sentence(claim) for claim in claims)
    return [Bullets(items)] if items else []


def closed(text: str) -> str:
    """Return a text with a full stop, unless it ends with punctuation."""
    return text if not text or text[-1] in ".!?…" else text + "."


def listed(items: Sequence[str], most: int = 6, separator: str = "; ") -> str:
    """Return the first items, and the number of the others."""
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join(items[:most]) + rest


def joined(names: Sequence[str]) -> str:
    """Return all names, separated by semicolons if one of them contains a comma."""
    return ("; " if any("," in name for name in names) else ", ").join(names)


def key_claim(data: ReportData, item: Input) -> Claim | None:
    """Return the claim about the best group of an input."""
    return next(iter(data.claims(*MAIN_KINDS, item=item)), None)
