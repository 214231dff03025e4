"""``python -m bench_framework`` and the console script ``benchctl``."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 130
_AGAIN_S = 0.02
_COLLECT_AFTER = 50_000
"""Objects after which Python looks for garbage, in place of 700.

What imports create stays, so that looking through it only makes the start slower.
"""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`, but only after pydantic, which would print it and continue."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "pydantic":
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(_COLLECT_AFTER)
    # Python sets a closed stream to None; all other code expects a stream.
    if sys.stdout is None or sys.stderr is None:
        sink = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 -- as long as the process
        sys.stdout, sys.stderr = sys.stdout or sink, sys.stderr or sink
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        from bench_framework.cli.app import run_command_line  # noqa: PLC0415 -- Ctrl-C works from here on

        code = run_command_line(sys.argv[1:])
    except KeyboardInterrupt:
        # Commands that measure handle Ctrl-C themselves. This is for all other commands.
        sys.stderr.write("interrupted: no file was left half-written\n")
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
