"""``python -m bench_framework`` and the console script ``benchctl``."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    # A closed stream is None in Python; nothing below should have to think of that.
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 -- as long as the process
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    try:
        from bench_framework.cli.app import run_command_line  # noqa: PLC0415 -- Ctrl-C works from here on

        code = run_command_line(sys.argv[1:])
    except KeyboardInterrupt:
        # Commands that measure stop by themselves and say how to go on; this is for all others.
        sys.stderr.write("interrupted: every file is as it was, or wholly written\n")
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
