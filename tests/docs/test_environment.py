"""Test that the page of environment variables lists every variable that the sources read."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
READ = (
    r'\benv(?:iron)?(?:\.get\(|\[)"([A-Z_]+)"',
    r'envvar="([A-Z_]+)"',
    r'getenv\("([A-Z_]+)"\)',
    r'"((?:BENCHCTL|GITHUB|CI|XDG|HYPERFINE)_[A-Z_]+)"',
    r'\bname: "([A-Z]+_[A-Z_]+)"',  # VARIABLES of the worker search
    r'"((?:CARGO_BUILD_)?RUSTC_WRAPPER)"',
)
SET_FOR_TOOLS = {"RUSTUP_TOOLCHAIN"}
"""Variables that a scenario sets by a key of its own, for cargo."""


def test_every_variable_that_is_read_is_on_the_page() -> None:
    sources = [
        path
        for folder, kinds in (("bench_framework", ("py", "c")), ("native/crates", ("rs",)))
        for kind in kinds
        for path in (ROOT / folder).rglob(f"*.{kind}")
        if not {"_assets", "tests"} & set(path.parts)
    ]
    read = {
        name
        for path in sources
        for pattern in READ
        for name in re.findall(pattern, path.read_text(encoding="utf-8"))
    }
    assert {"NO_COLOR", "BENCHCTL_CACHE", "BENCHCTL_PROGRAM", "SMOL_THREADS"} <= read
    page = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8")
    assert read - SET_FOR_TOOLS - set(re.findall(r"`([A-Z_]+)`", page)) == set()
    assert set(re.findall(r"`(BENCHCTL_[A-Z_]+)`", page)) <= read
