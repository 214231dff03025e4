"""The compiler flags of cargo's configuration, which a variant's own flags extend.

``CARGO_ENCODED_RUSTFLAGS`` replaces the flags of all configuration files. ``--config`` joins arrays,
but cargo uses either ``build.rustflags`` or those of the targets that match. Therefore cargo itself
reports the flags: it gives them to every build script.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.process import Launcher
from bench_framework.foreign import parse_json
from bench_framework.store.layout import write_all

SEPARATOR: Final = "\x1f"
"""Separator of flags in CARGO_ENCODED_RUSTFLAGS: a flag may contain spaces."""
_NAME: Final = "CARGO_ENCODED_RUSTFLAGS"
_PACKAGE: Final = {
    "Cargo.toml": '[package]\nname = "benchctl-flags"\nversion = "0.0.0"\nedition = "2021"\n'
    '[lib]\npath = "lib.rs"\n[workspace]\n',
    "lib.rs": "#![no_std]\n",
    "build.rs": 'fn main() { println!("cargo:rustc-env=FLAGS={}", '
    f'std::env::var("{_NAME}").unwrap_or_default()); }}\n',
}


def extended(
    flags: tuple[str, ...], crate: Path, root: Path, launcher: Launcher, env: Mapping[str, str]
) -> dict[str, str]:
    """Return cargo's variable for the flags that its configuration sets for a crate, and `flags`.

    A package with a build script is checked in `root`, 0.3 s at the first time. `env` is the
    environment of cargo.

    Raises `BuildError`: cargo fails; `MachineError` (BX235): `root` cannot be written.
    """
    if not all((root / name).is_file() for name in _PACKAGE):
        write_all(root, _PACKAGE)
    argv = ["cargo", "check", "--quiet", "--message-format=json"]
    argv += ["--manifest-path", str(root / "Cargo.toml")]
    output = launcher.capture(argv, env, cwd=str(crate))
    for line in output.stdout.splitlines() if output.ok else ():
        message = parse_json(line)
        if message["reason"] == "build-script-executed":
            configured = dict(message["env"])["FLAGS"]
            return {_NAME: SEPARATOR.join(filter(None, (configured, *flags)))}
    raise BuildError(
        f"cargo cannot read the flags of its configuration for {crate}",
        details=(("cargo", failure_text(output.stderr) or output.finished.how),),
        fix="correct the configuration of cargo: .cargo/config.toml",
    )
