"""The templates of a page: the shipped ones, any of which a user's folder may replace."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateSyntaxError  # noqa: TID251 -- the door
from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: TID251 -- likewise

from bench_framework.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CONTEXT_VERSION: Final = 1
"""Of what a template is given; counted up when something that it may use is changed or taken away."""
REPLACEABLE: Final = (
    "report.html.j2",
    "report.md.j2",
    "report.css",
    "report.js",
    "partials/blocks.html.j2",
    "partials/blocks.md.j2",
)


@dataclass(frozen=True, slots=True)
class Templates:
    """Where templates are looked up.

    Attributes:
        shipped: benchctl's own folder.
        own: a user's, which is asked first; `None` where there is none.
    """

    shipped: Path
    own: Path | None = None

    def text(self, name: str) -> str:
        """A file that is put into the page as it stands. Raises `UsageError`, BX113, if a user's is not UTF-8."""
        path = next(p for p in self._paths(name) if p.is_file())
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(path, None, str(error)) from error

    def parse(self, names: Sequence[str]) -> None:
        """Read templates without a page to make. Raises `UsageError`, BX113, with file and line of the first fault."""
        for name in names:
            text = self.text(name)
            if not name.endswith(".j2"):
                continue
            try:
                Environment(autoescape=True).parse(text, name, str(self._paths(name)[0]))
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
        """A page.

        A user's folder may have come with a record from elsewhere, so that its templates reach nothing but what
        they are given.

        Raises:
            UsageError: BX113, a user's template is broken, with its file and line.
        """
        kind = Environment if self.own is None else ImmutableSandboxedEnvironment
        environment = kind(
            loader=FileSystemLoader([str(folder) for folder in (self.own, self.shipped) if folder]),
            # Everything that a template prints is escaped for its format unless a filter marks it as ready.
            autoescape=True,
            finalize=finalize,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update(filters)
        if self.own is None:
            return environment.get_template(name).render(context)
        _require_inside(self.own)
        try:
            return environment.get_template(name).render(context)
        except Exception as error:
            path, line = _place(error, self.own)
            if path is None:
                raise
            raise _refused(path, line, f"{type(error).__name__}: {error}") from error

    def _paths(self, name: str) -> tuple[Path, ...]:
        return tuple(folder / name for folder in (self.own, self.shipped) if folder)


def replaced(folder: Path) -> tuple[str, ...]:
    """The files of a user's folder that templates may be, by their names from it, sorted.

    Raises:
        UsageError: BX113, there is no such folder, or it replaces nothing.
    """
    found = sorted(
        str(path.relative_to(folder))
        for path in (folder.rglob("*") if folder.is_dir() else ())
        if path.is_file() and path.suffix in {".j2", ".css", ".js"}
    )
    if not set(found) & set(REPLACEABLE):
        raise UsageError(
            f"{folder} replaces no template" if folder.is_dir() else f"there is no folder {folder}",
            code="BX113",
            effect="nothing was written",
            help=f"what a folder may replace: {', '.join(REPLACEABLE)}",
        )
    _require_inside(folder)
    return tuple(found)


def _require_inside(folder: Path) -> None:
    """Raise `UsageError`, BX113, where a link leads out of a folder: a page must not carry files from elsewhere."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise _refused(path, None, f"it is a link that leads out of {folder}")


def _place(error: Exception, own: Path) -> tuple[Path | None, int | None]:
    """The last line of a user's template that an error came through; no path where it is not theirs."""
    if isinstance(error, TemplateSyntaxError):
        path = Path(error.filename or error.name or "")
        return (path, error.lineno) if path.is_relative_to(own) else (None, None)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(own):
            return Path(frame.filename), frame.lineno
    return None, None


def _refused(path: Path, line: int | None, cause: str) -> UsageError:
    return UsageError(
        f"the template {path}{f':{line}' if line else ''} cannot be used",
        code="BX113",
        details=(("cause", cause),),
        effect="nothing was written: the pages are as they were",
        help="docs/reference/templates.md lists what a template is given",
    )
