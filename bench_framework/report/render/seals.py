"""Digests of the parts of a page, in the page: what no claim carries must at least be what was written.

A seal is no signature: who writes another page can seal it too. It finds what was changed in passing, and where.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final

_DIGITS: Final = 16
_SECTION: Final = re.compile(r'(?=<section id="[^"]*")')
_NAME: Final = re.compile(r'<section id="([^"]*)"')
_END: Final = "</main>"
_SEALS: Final = re.compile(r'<script type="application/json" id="seals">(.*?)</script>\n', re.DOTALL)
HEAD: Final = "head"
FOOT: Final = "embedded data"


def sealed(page: str) -> str:
    """The page with the digests of its parts before its end."""
    script = json.dumps(_digests(page), separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    element = f'<script type="application/json" id="seals">{script}</script>\n'
    at = page.rfind("</body>")
    return page + element if at < 0 else page[:at] + element + page[at:]


def broken(page: str) -> tuple[str, ...]:
    """The parts that are not what was sealed, in the order of the page; those missing, added or moved too.

    Raises:
        ValueError: it carries no seals, or none that can be read.
    """
    found = _SEALS.findall(page)
    if len(found) != 1:
        raise ValueError("the page carries no seals")
    try:
        said = json.loads(found[0])
    except (ValueError, RecursionError) as error:
        raise ValueError("the seals of the page cannot be read") from error
    if not isinstance(said, dict):
        raise ValueError("the seals of the page cannot be read")  # noqa: TRY004 -- of a text, not of a call
    now = _digests(_SEALS.sub("", page))
    changed = tuple(name for name in dict.fromkeys((*now, *said)) if now.get(name) != said.get(name))
    return changed or tuple(name for name, sealed_as in zip(now, said, strict=True) if name != sealed_as)


def _digests(page: str) -> dict[str, str]:
    """Part to the first digits of its SHA-256; every byte of the page is in one part."""
    body, end, foot = page.partition(_END)
    head, *sections = _SECTION.split(body)
    parts: dict[str, str] = {HEAD: head}
    for section in sections:
        name = _NAME.match(section)
        assert name is not None
        key = name[1]
        parts[key] = parts.get(key, "") + section
    parts[FOOT] = end + foot
    return {name: hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] for name, text in parts.items()}
