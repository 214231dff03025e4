"""Paths to values in JSON: ``latency.p99``, ``rows[0].value``, ``$['a b'].c``. No I/O."""

import re
from collections.abc import Sequence
from typing import Any, Final

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase

_STEP: Final = re.compile(
    r"""\.?(?P<key>[^.\[\]'"$\s]+)|\[(?P<index>\d{1,9})\]"""
    r"""|\[(?P<quote>['"])(?P<name>[^'"]+)(?P=quote)\]"""
)
_INDEX: Final = re.compile(r"[0-9]{1,9}")


def parse(text: str) -> tuple[str | int, ...]:
    """Return the steps of a path: keys, and indexes from 0. A leading ``$`` is allowed.

    A part that consists of digits, as in ``rows.0.value``, is an index of a list or a key of an
    object.

    Raises `ValueError`: the text is not a path. The argument is a phrase, which quotes the invalid remainder.
    """
    rest = text.strip()
    at = 1 if rest.startswith("$") else 0
    steps: list[str | int] = []
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None or (step["key"] and at > 0 and rest[at] != "."):
            raise ValueError(Phrase(FaultCode.FROM_HERE, rest[at:]))
        index = step["index"]
        steps.append(int(index) if index is not None else step["key"] or step["name"])
        at = step.end()
    if not steps:
        raise ValueError(Phrase(FaultCode.IT_IS_EMPTY))
    return tuple(steps)


def show(steps: Sequence[str | int]) -> str:
    """Return a path as text: ``rows[0].value``."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[^.\[\]'\"$\s]+", step):
            text += f".{step}" if text else step
        else:
            text += f"['{step}']"
    return text


def follow(value: Any, steps: Sequence[str | int]) -> Any:
    """Return the value at a path. Raises `LookupError` with a phrase that names the step that failed."""
    for number, step in enumerate(steps):
        match value:
            case dict() if str(step) in value:
                value = value[str(step)]
            case list() if _INDEX.fullmatch(str(step)) and int(step) < len(value):
                value = value[int(step)]
            case _:
                code = FaultCode.MISSING_STEP if number else FaultCode.MISSING_FIRST_STEP
                raise LookupError(Phrase(code, (step, show(steps[:number]))))
    return value
