"""The templates of a page, any of which a user's folder can replace."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import (  # noqa: TID251 -- the door
    BytecodeCache,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateSyntaxError,
)
from jinja2.bccache import Bucket  # noqa: TID251 -- the door
from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: TID251 -- the door

from bench_framework import assets
from bench_framework.errors import UsageError

CONTEXT_VERSION: Final = 2
"""Version of the template variables. It increases if one is changed or removed."""
MARKS: Final = {"pass": "✓", "warn": "⚠", "fail": "✕", "unknown": "·"}
"""Sign of each answer of a check."""
REPLACEABLE: Final = (
    "report.html.j2",
    "appendix.html.j2",
    "report.md.j2",
    "appendix.md.j2",
    "report.css",
    "report.js",
    "partials/page.html.j2",
    "partials/appendix.html.j2",
    "partials/blocks.html.j2",
    "partials/blocks.md.j2",
)


class _Compiled(BytecodeCache):
    """Shipped templates that this process has compiled: pages share them, and a suite has pages of many records."""

    def __init__(self) -> None:
        self._codes: dict[str, tuple[str, Any]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key] = (bucket.checksum, bucket.code)


_COMPILED: Final = _Compiled()


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of benchctl, and the folder of a user, which has precedence."""

    custom: Path | None = None

    def text(self, name: str) -> str:
        """Return a file for the page. Raises `UsageError` (BX113): it is not UTF-8."""
        path = next(p for p in (folder / name for folder in self._folders) if p.is_file())
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(path, None, str(error)) from error

    def parse(self, names: Sequence[str]) -> None:
        """Check the syntax of templates. Raises `UsageError` (BX113), with file and line."""
        for name in names:
            text = self.text(name)
            if not name.endswith(".j2"):
                continue
            try:
                Environment(autoescape=True).parse(text, name, str(self._folders[0] / name))
            except TemplateSyntaxError as error:
                raise _refused(
                    Path(error.filename or name), error.lineno, f"TemplateSyntaxError: {error}"
                ) from error

    def render(
        self,
        name: str,
        context: Mapping[str, Any],
        filters: Mapping[str, Callable[..., Any]],
        finalize: Callable[[Any], Any],
    ) -> str:
        """Return a page.

        A custom folder can come with a record from another person, so that its templates run in a
        sandbox.

        Raises `UsageError` (BX113): a custom template fails, with its file and line.
        """
        kind = Environment if self.custom is None else ImmutableSandboxedEnvironment
        environment = kind(
            loader=FileSystemLoader(self._folders),
            # The templates of a user run in another environment.
            bytecode_cache=_COMPILED if self.custom is None else None,
            # All output is escaped for its format, unless a filter marks it as safe.
            autoescape=True,
            finalize=finalize,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update(filters)
        if self.custom is not None:
            _require_inside(self.custom)
        try:
            return environment.get_template(name).render(context)
        except Exception as error:
            path, line = _place(error, self.custom) if self.custom else (None, None)
            if path is None:
                raise
            raise _refused(path, line, f"{type(error).__name__}: {error}") from error

    @property
    def _folders(self) -> tuple[Path, ...]:
        return tuple(folder for folder in (self.custom, assets.template_dir()) if folder)


def replaced(folder: Path) -> tuple[str, ...]:
    """Return the templates of a custom folder. Raises `UsageError` (BX113): it has none."""
    paths = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in {".j2", ".css", ".js"}
    )
    if not set(paths) & set(REPLACEABLE):
        names = ", ".join(REPLACEABLE)
        if folder.is_dir():
            raise UsageError("BX113.replaces-nothing", folder=folder, names=names)
        key = "BX113.not-a-folder" if folder.exists() else "BX113.no-folder"
        raise UsageError(key, folder=folder, names=names)
    _require_inside(folder)
    return tuple(paths)


def _require_inside(folder: Path) -> None:
    """Raise `UsageError`, BX113, if a symbolic link points outside a folder."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise _refused(path, None, f"symbolic link that points outside {folder}")


def _place(error: Exception, folder: Path) -> tuple[Path | None, int | None]:
    """Return path and line of an error in a custom template, or no path if it is elsewhere."""
    if isinstance(error, TemplateSyntaxError):
        path = Path(error.filename or error.name or "")
        return (path, error.lineno) if path.is_relative_to(folder) else (None, None)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(folder):
            return Path(frame.filename), frame.lineno
    return None, None


def _refused(path: Path, line: int | None, cause: str) -> UsageError:
    return UsageError(
        "BX113.not-usable",
        details=(("cause", cause),),
        path=path,
        line=f":{line}" if line else "",
    )
