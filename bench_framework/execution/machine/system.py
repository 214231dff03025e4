"""The operating system: benchctl measures on Linux only."""

import platform

from bench_framework.errors import MachineError


def require_linux(key: str = "BC410.measuring") -> None:
    """Require Linux. Raises `MachineError` (BC410), by default with the message for measuring: another system."""
    if platform.system() != "Linux":
        raise MachineError(key, system=platform.system())
