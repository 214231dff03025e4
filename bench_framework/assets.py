"""Locations of data files: in the checkout if there is one, otherwise in the installed package.

A wheel contains templates, scenarios and native sources in ``bench_framework/_assets``. The
``build.rs`` of the bindings crate copies them there, because wheels do not contain symlinks.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _asset(name: str) -> Path:
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return _PACKAGE / "_assets" / name


def native_dir() -> Path:
    """Return the folder of the Rust workspace with the bundled workers."""
    return _asset("native")


def template_dir() -> Path:
    """Return the folder of the Jinja2 templates of the reports."""
    return _asset("templates")


def shipped_scenarios() -> dict[str, Path]:
    """Return the files of the bundled scenarios by name, as in `benchctl run NAME`, sorted."""
    return {path.stem: path for path in sorted(_asset("scenarios").glob("*.yaml"))}
