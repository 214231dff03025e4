"""Audit of a published report with its data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.extensions.audit.report import Audit, as_markdown, audit
from bench_framework.foreign import read_input
from bench_framework.store import sessions as reader

MOST_BYTES: Final = 1024 * 1024
"""Largest page that is audited. The longest report of an example has 40 kB."""


def audit_files(page: Path, data: Sequence[Path]) -> Audit:
    """Audit a page with its data. Raises `UsageError`: BX456, the page; BX450 to BX454, a file."""
    try:
        source = read_input(page, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("BX456.not-utf-8", page=page) from error
    except ValueError as error:
        raise UsageError("BX456.not-usable", page=page, fault=error) from error
    if "\0" in source:
        raise UsageError("BX456.binary", page=page)
    try:
        sessions = [
            reader.read_session(reader.read_bytes(path), path.name, number)
            for number, path in enumerate(data, 1)
        ]
    except UsageError as error:
        error.amend("BX456.not-audited")
        raise
    return audit(source, page.name, sessions)


def write_audit(result: Audit, path: Path) -> None:
    """Write an audit as Markdown. Raises `MachineError` (BX235): the file cannot be written."""
    try:
        path.write_text(as_markdown(result), encoding="utf-8")
    except OSError as error:
        raise MachineError("BX235.audit", path=path, strerror=error.strerror or error) from error
