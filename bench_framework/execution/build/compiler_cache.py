"""The compiler cache sccache, for the sources that cargo downloads.

sccache does not know every file that a macro of a package reads, and would return an old result
after such a file changed. The sources of registries and of git dependencies never change.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench_framework.execution.build.configuration import cargo_home, configuration_files
from bench_framework.execution.machine.host import version_of
from bench_framework.execution.process import Launcher
from bench_framework.store.layout import write_whole, writing

EXECUTABLE: Final = 0o755
SETTINGS: Final = ("RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER")
_SCRIPT: Final = """#!/bin/sh
home=${CARGO_HOME:-$HOME/.cargo}
case "$CARGO_MANIFEST_DIR" in
"$home"/registry/src/* | "$home"/git/checkouts/*) sccache "$@" && exit 0 ;;
esac
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that cargo calls in place of rustc; `name` is empty for none.

    `variables` are those of cargo's environment.
    """

    name: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def find_wrapper(launcher: Launcher, env: Mapping[str, str], cache: Path, crate: Path) -> Wrapper:
    """Return the wrapper that the user set, or sccache if it is installed and none is set.

    An empty ``RUSTC_WRAPPER`` means none.

    Raises `MachineError` (BX235): the cache cannot be written.
    """
    for name in SETTINGS:
        if name in env:
            return Wrapper(Path(env[name]).name)
    home = cargo_home(env)
    for file in {*configuration_files(crate), home / "config.toml"}:
        if os.access(file, os.R_OK) and b"rustc-wrapper" in file.read_bytes():
            return Wrapper()
    version = version_of(launcher, "sccache", env)
    if version is None:
        return Wrapper()
    script = cache / "cargo" / "sccache.sh"
    if not script.is_file() or script.read_text(encoding="utf-8") != _SCRIPT:
        write_whole(script, _SCRIPT)
    with writing(script):
        script.chmod(EXECUTABLE)
    # Every process of a build ends with it, so its server must not be that of another build.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    return Wrapper(version, {"RUSTC_WRAPPER": str(script), "SCCACHE_SERVER_PORT": port})
