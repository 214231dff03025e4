"""Run a program, then spin for a share of the time that it took: ``slowed_run.py SHARE PROGRAM ARGUMENTS``.

`benchctl gate --self-test` runs each program by this file, the unchanged one with a share of 0, so that the
time of this interpreter is on both sides. The interpreter starts without `site`, and nothing is
imported that it does not contain.
"""

import posix
import sys
from time import perf_counter


def run(share: float, words: list[str]) -> int:
    """Run a program and spin. Return its exit code, or the negative number of the signal that ended it."""
    begin = perf_counter()
    child = posix.posix_spawnp(words[0], words, posix.environ)
    status = posix.waitpid(child, 0)[1]
    now = perf_counter()
    end = now + share * (now - begin)
    while now < end:
        now = perf_counter()
    return posix.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    code = run(float(sys.argv[1]), sys.argv[2:])
    if code < 0:
        posix.kill(posix.getpid(), -code)
    sys.exit(code)
