"""Codes of what can go wrong beyond the scenario, and of the warnings that a record keeps."""

from __future__ import annotations

from typing import Final

RUN_CODES: Final[dict[str, str]] = {}
