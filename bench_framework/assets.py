"""Where the files that are not Python lie: first in the checkout, else in the installed package.

A wheel carries templates, scenarios and the native sources under ``bench_framework/_assets``
(the bindings crate's ``build.rs`` puts them there, as a symlink would be left out of a wheel).
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _asset(name: str) -> Path:
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_assets" / name


def native_dir() -> Path:
    """The Rust workspace of the bundled workers."""
    return _asset("native")


def template_dir() -> Path:
    """The Jinja2 templates of the reports."""
    return _asset("templates")


def scenario_dir() -> Path:
    """The shipped scenarios."""
    return _asset("scenarios")


def shipped_scenarios() -> dict[str, Path]:
    """Name, as `benchctl run NAME` takes it, to the scenario's file; sorted by name."""
    return {path.stem: path for path in sorted(scenario_dir().glob("*.yaml"))}
