"""Put hyperfine into the cache, so that tests that run in parallel find it there.

The environment of development contains it as a wheel. Where there is no wheel, cargo builds it, as for users.
"""

import os
import shutil
import sys
from pathlib import Path

from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver


def main() -> None:
    """Copy the program of the environment into the cache, or let benchctl install it."""
    env = host.environment()
    prebuilt, cached = Path(sys.executable).with_name("hyperfine"), hyperfine.cached_path(env)
    with Launcher() as launcher:
        if not cached.exists() and hyperfine.probe(launcher, env, str(prebuilt)) is not None:
            cached.parent.mkdir(parents=True, exist_ok=True)
            part = cached.with_name(f"hyperfine-{os.getpid()}")
            shutil.copy2(prebuilt, part)
            part.replace(cached)
        hyperfine.find(launcher, env, SilentObserver())


if __name__ == "__main__":
    main()
