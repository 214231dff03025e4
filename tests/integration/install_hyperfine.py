"""Put hyperfine into the cache, so that tests that run in parallel find it there.

The environment of development contains version 1.20 as a wheel. benchctl downloads version 2.0, so that the tests of
hyperfine run with both; where it cannot, they run with the first one. Without any, cargo builds it, as for users.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver


def main() -> None:
    """Copy the program of the environment into the cache, and let benchctl install the wheel."""
    env = host.environment()
    prebuilt = Path(sysconfig.get_path("scripts"), "hyperfine")
    cached = hyperfine.cached_path(env, hyperfine.BUILT)
    downloaded = hyperfine.cached_path(env, hyperfine.WHEEL_VERSION)
    with Launcher() as launcher:
        if not cached.exists() and hyperfine.probe(launcher, env, str(prebuilt)) is not None:
            cached.parent.mkdir(parents=True, exist_ok=True)
            part = cached.with_name(f"hyperfine-{os.getpid()}")
            shutil.copy2(prebuilt, part)
            part.replace(cached)
        if not downloaded.exists():
            folder = downloaded.parent.parent
            failure = hyperfine.install_wheel(launcher, env, folder, SilentObserver())
            if not downloaded.exists():
                sys.stderr.write(f"hyperfine {hyperfine.WHEEL_VERSION} is not tested: {failure}\n")
        hyperfine.find(launcher, env, SilentObserver())


if __name__ == "__main__":
    main()
