"""Integrity of records: files that were changed, and signatures with an SSH key.

ssh-keygen makes and checks signatures. The digest of the measured files is signed, so a report can be rendered
again without a new signature.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError, RecordError, UsageError
from bench_framework.execution import process
from bench_framework.execution.machine import host
from bench_framework.execution.process import Captured
from bench_framework.foreign import read_input
from bench_framework.store import finding, layout, manifest, records

MOST_NAMED: Final = 5
_NAMESPACE: Final = "benchctl"
"""Namespace of the signatures, and the name of every signer in the list that ssh-keygen reads."""
_KEY: Final = re.compile(r"(ssh|ecdsa|sk)-\S+ \S+")
_MOST_BYTES: Final = 1 << 20


def change_warning(results: Path, name: str) -> str | None:
    """Return the warning BX415 if files of a record were changed, for a command that uses it.

    `None` if nothing was changed, or if the record cannot be read, which the command reports itself.
    """
    try:
        folder = finding.resolve(results, name)
        mismatches = manifest.check_manifest(folder)
    except (BenchError, OSError):
        return None
    if not mismatches:
        return None
    names = ", ".join(f"{mismatch.path} ({mismatch.what})" for mismatch in mismatches[:MOST_NAMED])
    advice = f"run `benchctl verify {folder}`"
    return f"warning[BX415]: {folder} is not as it was written: {names}; {advice}"


@contextlib.contextmanager
def corruption_reported(folder: Path) -> Iterator[None]:
    """Turn an unexpected exception in the block into a `RecordError` if files of the record changed.

    An edited file can be readable and still name a cell, an input or a build that does not exist. The
    files are compared with the manifest, and the plan with the first line of the journal. If nothing
    changed, the exception is raised unchanged.

    Raises `RecordError` (BX411): with the names of the changed files.
    """
    try:
        yield
    except (BenchError, OSError):
        raise
    except Exception as error:
        try:
            changed = [mismatch.path for mismatch in manifest.check_manifest(folder)]
        except (RecordError, OSError):  # there is no manifest
            changed = []
        if layout.PLAN not in changed and not records.has_its_plan(folder):
            changed.append(layout.PLAN)
        if not changed:
            raise
        cause = ("cause", f"{type(error).__name__}: {error}")
        raise RecordError(
            f"record {folder} is corrupted: files were changed after it was written",
            code="BX411",
            details=(*(("changed", name) for name in changed[:MOST_NAMED]), cause),
            effect="no result was computed",
            fix="run `benchctl verify` to list all changed files",
        ) from error


def sign_record(folder: Path, key: Path) -> None:
    """Sign the digest of the measured files of a finished record."""
    digest = manifest.digest_of(manifest.read_manifest(folder))
    layout.write_whole(folder / layout.SIGNATURE, signature_of(digest, key))


def signature_of(digest: str, key: Path) -> str:
    """Return a signature with a private key, or with a public one whose private key ssh-agent has."""
    done = _ssh_keygen(digest, "sign", "-f", str(key.expanduser().absolute()))
    if done.ok:
        return done.stdout
    cause = (("cause", done.stderr.strip() or done.finished.how),)
    fix = "name the file of an SSH key; add a key with a passphrase to ssh-agent first"
    raise UsageError(f"{key} cannot sign", code="BX115", details=cause, fix=fix)


def check_signature(folder: Path, digest: str, keys: Path) -> tuple[bool, str]:
    """Return whether a record is signed with one of the public keys in a file, and a line about it."""
    fix = "name a file with public keys, such as ~/.ssh/id_ed25519.pub"
    try:
        text = read_input(keys.expanduser(), _MOST_BYTES).decode(errors="replace")
    except ValueError as error:
        raise UsageError(str(error), code="BX115", fix=fix) from error
    signers = [f"{_NAMESPACE} {line}\n" for line in text.splitlines() if _KEY.match(line)]
    if not signers:
        raise UsageError(f"{keys} contains no public key", code="BX115", fix=fix)
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
