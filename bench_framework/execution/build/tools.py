"""The environment of build commands, and the tools and packages on which their result depends.

Commands see a fixed part of the user's variables. Otherwise ``CFLAGS`` of one shell would change a
program without a trace in the record.
"""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from bench_framework.execution.machine.host import version_of
from bench_framework.execution.process import Launcher

_PASSED: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LANGUAGE|LC_\w+|XDG_(CACHE|CONFIG|DATA)_HOME"
    r"|GIT_(CONFIG|SSH)\w*|GIT_TERMINAL_PROMPT|SSL_CERT_(FILE|DIR)|(CURL|REQUESTS)_CA_BUNDLE"
    r"|CARGO_HOME|RUSTUP_\w+|GO(PATH|CACHE|MODCACHE|PROXY|PRIVATE|NOSUMDB|SUMDB|TOOLCHAIN|ROOT)"
    r"|(PIP|UV|PYENV|CCACHE|SCCACHE|NIX|CONDA|ZIG)_\w+|JAVA_HOME"
)
_NOT_IN_KEY: Final = re.compile(r"SSH_AUTH_SOCK|(?i:(https?|all|no)_proxy)")
"""Variables that commands see although they differ between two shells: they only reach servers."""
DATE: Final = ("SOURCE_DATE_EPOCH", "315532800")
"""One date for all builds, 1980-01-01 as in archives: equal sources give equal bytes."""
_VERSIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("cc", "c++", "clang", "clang++", "rustc", "python3", "node"), "--version"),
    **dict.fromkeys(("go", "zig"), "version"),
}
"""The argument that prints the version of a compiler, or of an interpreter that another program selects."""
_SEARCHED: Final = (
    *("gcc", "g++", "ld", "as", "ar", "make", "cmake", "ninja", "meson", "pkg-config", "cargo"),
    *("maturin", "pip", "uv", "npm", "javac", "ghc", "swiftc", "dotnet", "ccache", "sccache"),
)
_PACKAGES: Final = (
    *("/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/rpmdb.sqlite"),
    *("/lib/apk/db/installed", "/var/lib/pacman/local"),
)
"""Databases of installed packages, which change with each header and library that is installed."""


def environment(
    env: Mapping[str, str], added: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment of build commands, and the part of it on which the result may depend.

    `env` is that of benchctl without the variables that name a repository, and `added` is that of the
    scenario.
    """
    variables = {name: value for name, value in env.items() if _PASSED.fullmatch(name)}
    variables |= dict([DATE, *added])
    others = {name: value for name, value in env.items() if _NOT_IN_KEY.fullmatch(name)}
    return {**others, **variables}, variables


def versions(
    launcher: Launcher, env: Mapping[str, str], folder: Path
) -> tuple[tuple[str, str], ...]:
    """Return name and version line of each known compiler on PATH.

    They are called in the folder of the sources: rustup and others choose a version by it.
    """
    lines = (
        (name, version_of(launcher, name, env, str(folder), option))
        for name, option in _VERSIONS.items()
        if shutil.which(name, path=env.get("PATH")) is not None
    )
    return tuple((name, line) for name, line in lines if line)


def state(commands: Iterable[tuple[str, ...]], env: Mapping[str, str]) -> list[object]:
    """Return path, size and time of all files outside of the sources that a build is known to use.

    These are the known tools and the programs of the commands, as PATH finds them, the files that
    commands name by an absolute path, and the databases of installed packages.
    """
    words = [word for command in commands for word in command]
    programs = {command[0] for command in commands if "/" not in command[0]}
    names = sorted({*_VERSIONS, *_SEARCHED, *programs})
    files = [shutil.which(name, path=env.get("PATH")) for name in names]
    absolute = [word for word in words if word.startswith("/")]
    return [_stamp(Path(path)) for path in (*filter(None, files), *absolute, *_PACKAGES)]


def _stamp(path: Path) -> object:
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except OSError:
        return str(path)
    return str(path), str(real), status.st_size, status.st_mtime_ns
