"""The input and the state of the page cache that a sentence applies to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim


def where(claim: Claim, end: str = ": ") -> str:
    """Return the scope of a claim as the start of a sentence.

    Examples are ``"On 10 MiB: "`` for one input of several and ``"With a cold cache: "`` if every
    run was observed to start with a cold cache.
    """
    labels = [value for name, value in claim.scope if name == "input" and value]
    parts = [f"on {', '.join(labels)}"] if labels else []
    parts += ["with a cold cache"] if ("cache", "cold") in claim.scope else []
    scope = " ".join(parts)
    return f"{scope[:1].upper()}{scope[1:]}{end}" if scope else ""
