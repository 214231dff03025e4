"""Access to a Dask scheduler: its address, whether it is safe to use, and the errors of a connection."""

import contextlib
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench_framework.errors import MachineError, UsageError
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.policies import HostPolicy, is_label

TLS: Final = "tls"
ALL: Final = "all"
"""Name for all hosts that a scheduler knows."""
_SCHEMES: Final = ("tcp", TLS)
_MOST_BYTES: Final = 1 << 20
_NOTHING: Final = "no connection was made"


def find_address(text: str) -> str:
    """Return the address of a scheduler from itself, ``HOST:PORT``, or a scheduler file of Dask.

    Raises `UsageError` (BX133): it is not any of these.
    """
    path = Path(text)
    if "://" not in text and path.exists():
        try:
            text = parse_json(read_regular(path, _MOST_BYTES))["address"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            message = f"{path} is not a scheduler file of Dask"
            raise _refused(
                message, "write it with `dask scheduler --scheduler-file FILE`"
            ) from error
    text = text if "://" in str(text) else f"tcp://{text}"
    with contextlib.suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in _SCHEMES and parts.hostname and parts.port:
            return text
    message = f"{text} is not the address of a scheduler"
    raise _refused(
        message, "write tcp://HOST:PORT, tls://HOST:PORT or the path of a scheduler file"
    )


def require_safe(address: str, *, insecure: bool) -> None:
    """Refuse an address of another machine without TLS. Raises `UsageError` (BX133)."""
    if not (insecure or address.startswith(f"{TLS}://") or is_local(address)):
        raise _refused(
            f"{address} is on another machine and does not use TLS",
            "use tls://, or an SSH tunnel to a scheduler on its loopback address; "
            "--insecure permits it in a network in which you trust everyone",
            "everyone on the network could run programs on the hosts; no connection was made",
        )


def hosts_of(text: str) -> HostPolicy | None:
    """Return the hosts that ``--host`` names, which commas separate; `None` for an empty text.

    Raises `UsageError` (BX136): a name is empty, given twice, or next to `ALL`.
    """
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    for number, name in enumerate(names):
        fault = "is given twice" if name in names[:number] else "" if name else "is empty"
        if name == ALL and len(names) > 1:
            fault = "cannot be used with other names"
        if fault:
            raise UsageError(
                f"--host {text}: the name {name!r} {fault}",
                code="BX136",
                effect="nothing was measured",
                fix=f"name each host once, such as --host rack-1,rack-2, or write --host {ALL}",
            )
    if not names:
        return None
    return HostPolicy(everyone=True) if names == (ALL,) else HostPolicy(names)


def require_labels(labels: Sequence[str]) -> None:
    """Refuse an invalid label of a host. Raises `UsageError` (BX136)."""
    for label in labels:
        if not is_label(label):
            raise UsageError(
                f"--label {label!r} is not a valid label",
                code="BX136",
                effect="the worker was not started",
                fix="use at most 64 letters, digits, `-`, `_` and `.`, and start with a letter or digit",
            )


def is_local(address: str) -> bool:
    """Return whether an address is a loopback address of this machine."""
    name = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def unusable_tls(cause: str) -> UsageError:
    """Return the error BX133: the TLS files of Dask's configuration cannot be used."""
    fix = "set distributed.comm.tls.ca-file, and cert and key of the role, in Dask's configuration"
    return _refused(f"tls:// cannot be used: {cause}", fix)


def _refused(message: str, fix: str, effect: str = _NOTHING) -> UsageError:
    return UsageError(message, code="BX133", effect=effect, fix=fix)


def unreachable(address: str, cause: str) -> MachineError:
    """Return the error BX260: there is no connection to the scheduler."""
    fix = "start it with `dask scheduler`, and check address and firewall"
    if any(word in cause.lower() for word in ("ssl", "certificate", "tls")):
        fix = "give client, scheduler and workers certificates of the same authority"
    return MachineError(
        f"there is no connection to the scheduler {address}",
        code="BX260",
        details=(("cause", cause),),
        effect="nothing was measured",
        fix=fix,
    )


def lost(host: str, cause: str) -> MachineError:
    """Return the error BX263: a record did not arrive, and no other host measures in its place."""
    return MachineError(
        f"the record of host {host} is lost: {cause}",
        code="BX263",
        details=(("host", host),),
        effect="no record of this host was stored here; finished rounds are kept on the host",
        fix="start its worker again if it ended, then run the same command with "
        f"`--host {host}`: it resumes there",
    )


def second_worker(cause: str) -> MachineError:
    """Return the error BX265: a machine can have one worker."""
    return MachineError(
        f"this worker was not started: {cause}",
        code="BX265",
        effect="two workers on one machine would disturb each other's measurements",
        fix="use the worker that runs, or stop it; give machines with the same name other ones "
        "with --name",
    )
