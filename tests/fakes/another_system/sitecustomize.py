"""A Python that finds another system than Linux: without /proc, /sys, the names of Linux, and processes of benchctl.

It shows which commands use what only Linux has. It does not show that the others work on macOS.
"""

import contextlib
import importlib
import os
import platform
import sys
import sysconfig

from linux_names import NAMES

with contextlib.suppress(ImportError):
    import psutil  # noqa: F401 -- it selects the module of the real system when it is imported

sysconfig.get_config_vars()  # reads a file whose name contains the name of the real system
for module, names in NAMES.items():
    for name in names.split():
        with contextlib.suppress(AttributeError):
            delattr(importlib.import_module(module), name)


def no_release() -> dict[str, str]:
    raise OSError


platform.system = lambda: "Darwin"
platform.libc_ver = lambda *_: ("", "")
platform.freedesktop_os_release = no_release
sys.platform = "darwin"


def refuse(event: str, values: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and "launcher.py" in repr(values[1]):
        os.write(2, b"benchctl started a process\n")
        os._exit(99)
    if event in {"open", "os.listdir", "os.scandir"} and isinstance(values[0], str | bytes):
        path = os.fsdecode(values[0])
        # psutil is that of Linux.
        if (
            path.startswith(("/proc", "/sys/"))
            and "psutil" not in sys._getframe(1).f_code.co_filename
        ):
            raise FileNotFoundError(2, "No such file or directory", path)


sys.addaudithook(refuse)
