"""Where a sentence holds: the input, and the state of the page cache (R4). Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim


def where(claim: Claim, end: str = ": ") -> str:
    """``"On 10 MiB: "`` for a claim about one input of several, ``"With a cold cache: "`` where that was seen."""
    labels = [value for name, value in claim.scope if name == "input" and value]
    parts = [f"on {', '.join(labels)}"] if labels else []
    parts += ["with a cold cache"] if ("cache", "cold") in claim.scope else []
    told = " ".join(parts)
    return f"{told[:1].upper()}{told[1:]}{end}" if told else ""
