"""``python -P -m bench_framework.dgen_strategies``: started by ``dgen run write``, in dgen's own process."""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic_ns

ARRIVED = monotonic_ns()

from bench_framework.dgen_strategies import answer, options, written  # noqa: E402 -- their import takes time, too
from bench_framework.dgen_strategies.fault import Fault  # noqa: E402

DONE, FAILED, USAGE = 0, 1, 2


def main(words: list[str]) -> int:
    """Write one file; the exit code of the worker protocol."""
    try:
        given = options.parse(words)
    except Fault as fault:
        return _say(str(fault), USAGE)
    try:
        done = written.write_file(given, arrived=ARRIVED)
    except Fault as fault:
        if fault.is_usage:
            return _say(f"{given.path}: {fault}", USAGE)
        return _say(f"cannot write {given.path}: {fault}", FAILED)
    try:
        answer.deliver(done)
    except Fault as fault:
        return _say(str(fault), FAILED)
    return DONE


def _say(message: str, code: int) -> int:
    """One line on stderr, whatever the file is called."""
    line = f"dgen: {message}".replace("\n", " ").replace("\r", " ")
    sys.stderr.write(line.encode("utf-8", "replace").decode() + "\n")
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        _say("interrupted", FAILED)
        # Ended by the signal, as any program is that does not catch it: the caller sees what happened.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
