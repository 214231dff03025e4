"""The first message of a scheduler, which other servers do not send."""

import contextlib
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

from bench_framework.execution.machine import host
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.text.reasons import phrase_of

GREETING_BYTES: Final = 8
MOST_GREETING: Final = 1 << 20
"""Most bytes of the first message of a scheduler, which has less than a kilobyte."""


def require_dask(address: str, tls: ssl.SSLContext | None, timeout_s: float) -> None:
    """Check that a server greets as Dask does, with the number of bytes of its first message.

    Dask itself would wait without limit for a server that sends nothing, and reserve as much memory
    as the first eight bytes of another protocol say.

    Raises `OSError`: there is no connection, or another server listens there.
    """
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=timeout_s) as plain:
        connection: socket.socket = plain
        if tls is not None:
            connection = tls.wrap_socket(plain, server_hostname=parts.hostname)
        end, greeting = host.seconds() + timeout_s, b""
        with connection, contextlib.suppress(TimeoutError):
            while len(greeting) < GREETING_BYTES:
                connection.settimeout(max(0.01, end - host.seconds()))
                part = connection.recv(GREETING_BYTES - len(greeting))
                if not part or host.seconds() > end:
                    break
                greeting += part
        size = int.from_bytes(greeting, "little")
        if len(greeting) < GREETING_BYTES or not 0 < size <= MOST_GREETING:
            raise OSError(phrase_of(ExtensionCode.NO_SCHEDULER))
