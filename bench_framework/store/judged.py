"""The file ``claims.json`` of a record: its judgement. It is needed only after the measurement."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from bench_framework.errors import RecordError
from bench_framework.foreign import parse_json
from bench_framework.model.result.judgement import Judgement
from bench_framework.store import wire

VERSION: Final = 5
"""Version of the file, not of the record: a judgement can be computed again, and runs cannot be."""
OTHER_VERSION: Final = "BX412"


@dataclass(frozen=True, slots=True)
class Judged:
    """The contents of ``claims.json``: a judgement, with its claims in ``judgement.claims``."""

    schema_version: int
    record_id: str
    scenario: str
    judgement: Judgement
    benchctl: str = ""
    """Version of benchctl that made the judgement."""


def load_judged(text: str | bytes) -> Judged:
    """Read ``claims.json``. Raises `RecordError`: it is damaged (BX411), or of another version (BX412)."""
    try:
        content = parse_json(text)
    except ValueError:
        content = None  # the message of pydantic names the place
    version = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(version, int) and version != VERSION:
        raise RecordError("BX412.other-judgement", version=version, known=VERSION)
    return wire.load(Judged, "claims.json", text)


def present_judged(text: str | bytes) -> Judged | None:
    """Read ``claims.json``; `None` if it is of another version, so that it must be computed again.

    Raises `RecordError` (BX411): it is damaged.
    """
    try:
        return load_judged(text)
    except RecordError as error:
        if error.code != OTHER_VERSION:
            raise
        return None


dump_judged = partial(wire.dump, Judged)
"""Return the text of the file."""
