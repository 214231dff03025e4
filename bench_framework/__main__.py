"""``python -m bench_framework`` and the console script ``benchctl``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from bench_framework.cli.app import run_command_line  # noqa: PLC0415 -- --version must not wait for it

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
