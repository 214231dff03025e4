"""Signatures of records with an SSH key. ssh-keygen makes and checks them.

The digest of the measured files is signed, so a report can be rendered again without a new signature.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.execution import process
from bench_framework.execution.machine import host
from bench_framework.execution.process import Captured
from bench_framework.foreign import read_input
from bench_framework.store import layout, manifest

_NAMESPACE: Final = "benchctl"
"""Namespace of the signatures, and the name that the temporary list of signers gives to every key."""
_KEY: Final = re.compile(r"(ssh|ecdsa|sk)-\S+ \S+")
_MOST_KEYS: Final = 1 << 20


def sign_record(folder: Path, key: Path) -> None:
    """Sign the digest of measured files of a finished record. Raises as `signature_of` does."""
    digest = manifest.digest_of(manifest.read_manifest(folder))
    layout.write_whole(folder / layout.SIGNATURE, signature_of(digest, key))


def signature_of(digest: str, key: Path) -> str:
    """Return the signature of a digest.

    `key` is a file with a private key, or with a public one whose private key ssh-agent has.

    Raises:
        UsageError: BX115, the key cannot sign. MachineError: BX231, ssh-keygen is missing.
    """
    done = _ssh_keygen(digest, "sign", "-f", str(key.expanduser().absolute()))
    if done.ok:
        return done.stdout
    raise UsageError(
        f"{key} cannot sign",
        code="BX115",
        details=(("cause", done.stderr.strip() or done.finished.how),),
        fix="name the file of an SSH key; add a key with a passphrase to ssh-agent first",
    )


def check_signature(folder: Path, digest: str, keys: Path) -> tuple[bool, str]:
    """Return whether a record is signed with one of the public keys in a file, and by which or why not.

    Raises:
        UsageError: BX115, the file contains no public key. MachineError: BX231, ssh-keygen is missing.
    """
    try:
        text = read_input(keys.expanduser(), _MOST_KEYS).decode(errors="replace")
        signers = [f"{_NAMESPACE} {line}\n" for line in text.splitlines() if _KEY.match(line)]
        if not signers:
            raise ValueError(f"{keys} contains no public key")  # noqa: TRY301 -- one error for all
    except ValueError as error:
        fix = "name a file with public keys, such as ~/.ssh/id_ed25519.pub"
        raise UsageError(
            str(error), code="BX115", effect="nothing was verified", fix=fix
        ) from error
    signature = (folder / layout.SIGNATURE).absolute()
    if not signature.is_file():
        return False, f"{layout.SIGNATURE}: missing, the record is not signed"
    with process.scratch_folder() as scratch:
        listed = Path(scratch, "signers")
        listed.write_text("".join(signers), encoding="utf-8")
        options = ("-f", str(listed), "-I", _NAMESPACE, "-s", str(signature))
        done = _ssh_keygen(digest, "verify", *options)
    if done.ok:
        return True, f"{layout.SIGNATURE}: {done.stdout.strip()}"
    return False, f"{layout.SIGNATURE}: no signature of these files with a key of {keys}"


def _ssh_keygen(digest: str, task: str, *options: str) -> Captured:
    with process.Launcher() as launcher, process.scratch_folder() as folder:
        message = Path(folder, "digest")
        message.write_text(digest, encoding="ascii")
        command = ("ssh-keygen", "-Y", task, "-n", _NAMESPACE, *options)
        return launcher.capture(command, host.environment(), stdin=str(message))
