"""Limits of the shell (`ulimit`) below which a command fails with a misleading message."""

from __future__ import annotations

import contextlib

from bench_framework.errors import MachineError

LEAST = {
    "RLIMIT_NOFILE": (64, "-n", "64 open files"),
    "RLIMIT_FSIZE": (64 << 20, "-f", "files of 64 MiB"),
    "RLIMIT_AS": (1 << 30, "-v", "1 GiB of memory"),
}
"""Least value of each limit, the option of `ulimit`, and the value in words."""


def require_resources() -> None:
    """Require the limits of this process to be large enough.

    Raises:
        MachineError: BX242, one of them is too small.
    """
    with contextlib.suppress(ImportError):  # only Unix has such limits
        import resource

        for name, (least, option, words) in LEAST.items():
            limit = resource.getrlimit(getattr(resource, name))[0]
            if limit != resource.RLIM_INFINITY and limit < least:
                message = f"`ulimit {option}` is too small: benchctl needs {words}"
                fix = "raise the limit, or start benchctl from another shell"
                raise MachineError(message, code="BX242", effect="nothing was started", fix=fix)
