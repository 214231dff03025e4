"""Audit of a published performance report and the raw data next to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.features.audit.report import Audit, as_markdown, audit
from bench_framework.foreign import read_input
from bench_framework.store import sessions as reader

MOST_BYTES: Final = 1024 * 1024
"""Largest page. The longest report of an example has 40 kB."""
NOT_AUDITED: Final = "nothing was audited"


def audit_files(page: Path, data: Sequence[Path]) -> Audit:
    """Audit a page with its data. Raises `UsageError`: BX456, the page; BX450 to BX454, a file."""
    source = _read_page(page)
    try:
        sessions = [
            reader.read_session(reader.read_bytes(path), path.name, number)
            for number, path in enumerate(data, 1)
        ]
    except UsageError as error:
        error.effect = NOT_AUDITED
        raise
    return audit(source, page.name, sessions)


def _read_page(path: Path) -> str:
    try:
        text = read_input(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _fault(f"{path} is not UTF-8 text") from error
    except ValueError as error:
        raise _fault(str(error)) from error
    if "\0" in text:
        raise _fault(f"{path} is a binary file")
    return text


def _fault(message: str) -> UsageError:
    return UsageError(
        message, code="BX456", effect=NOT_AUDITED, fix="give a Markdown page of at most 1 MiB"
    )


def write_audit(result: Audit, path: Path) -> None:
    """Write an audit as Markdown. Raises `MachineError` (BX235): the file cannot be written."""
    try:
        path.write_text(as_markdown(result), encoding="utf-8")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        effect = "the audit was not stored"
        fix = "choose another file with --out"
        raise MachineError(message, code="BX235", effect=effect, fix=fix) from error
