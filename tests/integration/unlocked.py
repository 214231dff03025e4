"""benchctl with its lock in the folder of the first argument: nothing is timed, so the machine's is not needed."""

import sys
from pathlib import Path

from bench_framework.__main__ import main
from bench_framework.execution.machine import lock

vars(lock)["FOLDERS"] = (Path(sys.argv.pop(1)),)
main()
