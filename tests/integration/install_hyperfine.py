"""Install hyperfine into the cache, so that tests that run in parallel find it there."""

from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver

if __name__ == "__main__":
    with Launcher() as launcher:
        hyperfine.find(launcher, host.environment(), SilentObserver())
