"""What a run answered: the lines of a worker with the contract, or the digest of what a program printed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from bench_framework.errors import AnswerError
from bench_framework.model.metrics import RECEIPT_KEYS
from bench_framework.model.run import Answer, Receipt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench_framework.model.policies import AnswerPolicy

PROTOCOL: Final = 1
ANSWERS: Final = "BENCHCTL_ANSWERS"
LARGEST_COUNT: Final = (1 << 63) - 1
_CHUNK: Final = 1 << 20
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Reply:
    """One line of the answers file: the work done, and what the worker observed of itself."""

    answer: Answer
    receipt: Receipt


class AnswersFile:
    """The file that workers append to: of each block only the bytes that it added are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = self._open()
        self._start = 0

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def mark(self) -> None:
        """A block begins: what is there now, even half a line of a killed worker, is not its own."""
        if not os.fstat(self._fd).st_nlink:  # a worker removed it: no reason for the next one to fail
            os.close(self._fd)
            self._fd = self._open()
        self._start = os.fstat(self._fd).st_size

    def read(self) -> list[bytes]:
        """The lines appended since `mark`, without their newlines."""
        size = os.fstat(self._fd).st_size - self._start
        text = os.pread(self._fd, size, self._start) if size > 0 else b""
        return [line for line in text.split(b"\n") if line.strip()]

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def parse_reply(line: bytes) -> Reply:
    """Read one line of protocol 1 (docs/reference/worker-protocol.md); unknown keys are ignored.

    Raises:
        AnswerError: BX211, it is not such a line, with the place.
    """
    try:
        said = json.loads(line, object_pairs_hook=_members)
        if said["protocol"] != PROTOCOL:
            raise _garbage(line, f"protocol {said['protocol']!r}; this benchctl speaks {PROTOCOL}")
        answer = said["answer"]
        if not isinstance(answer["digest"], str):
            raise _garbage(line, "answer.digest is not text")
        # A lone surrogate, or a number that is none, could be read here and by nobody after us.
        json.dumps(said, ensure_ascii=False, allow_nan=False).encode()
        return Reply(
            Answer(answer["digest"], _count(answer, "count"), _count(answer, "distinct"), "worker"),
            Receipt(
                effective={str(key): str(value) for key, value in (said.get("effective") or {}).items()},
                phases_s=_numbers(said.get("phases_s")),
                metrics=_numbers(said.get("metrics")),
                notes=tuple(map(str, said.get("notes") or ())),
                threads=_count(said, "threads"),
                bytes=_count(said, "bytes"),
                counts={
                    name: value
                    for name, key in RECEIPT_KEYS.items()
                    if (value := _count(said, key)) is not None
                },
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise _garbage(line, f"{type(error).__name__}: {error}") from error


def read_replies(lines: list[bytes], runs: int) -> list[Reply]:
    """The replies of a block of `runs` runs.

    Raises:
        AnswerError: BX211, a line is garbage; BX213, there are fewer or more lines than runs; BX214, the
            runs of one block answered differently.
    """
    replies = [parse_reply(line) for line in lines]
    if len(replies) != runs:
        raise AnswerError(
            f"the worker answered {len(replies)} times in {runs} run{'s' if runs != 1 else ''}",
            code="BX213",
            help=f"it must append exactly one line to the file that {ANSWERS} names, or be measured without "
            "the contract",
        )
    one_answer([reply.answer.digest for reply in replies])
    return replies


def one_answer(digests: list[str]) -> None:
    """Check that the runs of one block did the same work. Raises `AnswerError`, BX214."""
    if len(set(digests)) > 1:
        raise AnswerError(
            f"the same command gave {len(set(digests))} different answers in {len(digests)} runs",
            code="BX214",
            details=tuple(("digest", digest) for digest in sorted(set(digests))[:3]),
            effect="its work is not defined, so it is not compared",
            help="make the program deterministic, or say answer: {compare: none}",
        )


def digest_file(path: Path, policy: AnswerPolicy) -> Answer:
    """The answer of a program without the contract: the digest of its stdout, or of its named file.

    Under ``exact`` the file is hashed in pieces; under ``sorted-lines`` and ``json`` it is read whole.

    Raises:
        AnswerError: BX215, it cannot be read; BX216, it is not the JSON that was promised.
    """
    source: Literal["file", "stdout"] = "file" if policy.file else "stdout"
    try:
        match policy.compare:
            case "none":
                return Answer("", source="none")
            case "exact":
                return Answer(sha256_of(path), source=source)
            case "sorted-lines":
                # The last line's missing newline is not a difference of work.
                found = sorted(path.read_bytes().removesuffix(b"\n").split(b"\n"))
                return Answer(hashlib.sha256(b"\n".join(found)).hexdigest(), len(found), source=source)
            case "json":
                return Answer(hashlib.sha256(_canonical(path.read_bytes())).hexdigest(), source=source)
    except OSError as error:
        raise AnswerError(
            f"the answer in {path} cannot be read", code="BX215", details=(("cause", str(error.strerror)),)
        ) from error
    raise AssertionError(policy.compare)


def sha256_of(path: Path) -> str:
    """Hex digest of a file, read in pieces of 1 MiB."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while part := file.read(_CHUNK):
            digest.update(part)
    return digest.hexdigest()


def _canonical(text: bytes) -> bytes:
    """JSON or JSON lines with sorted keys and no blanks; numbers as they parse: 1.0 and 1.00 are equal."""
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise AnswerError(
                "the output is not JSON",
                code="BX216",
                details=(("cause", str(error)), ("output", repr(text[:_SHOWN]))),
                help="say answer: {compare: exact} if it is not meant to be",
            ) from error
    return json.dumps(documents, sort_keys=True, separators=(",", ":")).encode()


def _count(said: Mapping[str, Any], key: str) -> int | None:
    value = said.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{key} is {value!r}, not a whole number")
    if value is not None and abs(value) > LARGEST_COUNT:
        raise ValueError(f"{key} is larger than 64 bits")
    return value


def _numbers(said: Mapping[str, Any] | None) -> dict[str, float]:
    return {str(key): _number(key, value) for key, value in (said or {}).items()}


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{key} is {value!r}, not a number")
    return float(value)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON: a key that stands twice would be read in two ways by two readers."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in names if names.count(key) > 1)!r} stands there twice")
    return found


def _garbage(line: bytes, cause: str) -> AnswerError:
    text = re.sub(r"[^\x20-\x7e]", "·", line[:_SHOWN].decode("utf-8", errors="replace"))
    return AnswerError(
        "the worker's answer is not a line of protocol 1",
        code="BX211",
        details=(("cause", cause), ("line", text + ("…" if len(line) > _SHOWN else ""))),
        help="docs/reference/worker-protocol.md describes the line",
    )
