"""Safe reading of what other programs wrote: JSON that may be nested without end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def parse_json(
    text: str | bytes,
    *,
    members: Callable[[list[tuple[str, Any]]], Any] | None = None,
    whole: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON of another program.

    Args:
        text: the document.
        members: makes an object of its pairs of names and values.
        whole: makes a whole number of its digits.

    Raises:
        ValueError: it is not JSON, or it is nested more deeply than Python's parser goes.
    """
    try:
        return json.loads(text, object_pairs_hook=members, parse_int=whole)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
