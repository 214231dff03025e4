"""Answers of workers that follow the protocol: one line per run."""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import AnswerError
from bench_framework.foreign import LARGEST_NUMBER, in_range, parse_json, read_regular
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import RECEIPT_KEYS
from bench_framework.model.phrases import AnyCode, Phrase, PhraseCode
from bench_framework.model.record.run import Answer, Receipt
from bench_framework.text.reasons import phrase_of
from bench_framework.units import counted

PROTOCOL: Final = 1
ANSWERS: Final = "BENCHCTL_ANSWERS"
LARGEST_COUNT: Final = (1 << 63) - 1
MOST_ANSWERS: Final = 64 << 20
"""Bytes that the worker's answers of one block may have."""
_INVALID = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""Errors of `parse_reply` for a line that is not of the protocol."""
_EXCERPT: Final = 80
"""Characters of a bad answer that a message quotes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One line of the answers file: the work done, and the worker's report about the run."""

    answer: Answer
    receipt: Receipt
    iteration: object = None
    """``HYPERFINE_ITERATION`` of the run, as the worker reports it."""


class AnswersFile:
    """The file that workers append to. Only the bytes that a block added are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = self._open()
        self._start = 0

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def mark(self) -> None:
        """Mark the start of a block, to ignore earlier bytes, such as a torn line."""
        # A worker removed the file; the next one shall not fail.
        if not os.fstat(self._fd).st_nlink:
            os.close(self._fd)
            self._fd = self._open()
        self._start = os.fstat(self._fd).st_size

    def read(self) -> list[bytes]:
        """Return the lines since `mark`, without newlines.

        Raises `AnswerError` (BX211): they are too large. They are removed.
        """
        size = os.fstat(self._fd).st_size - self._start
        if size > MOST_ANSWERS:
            os.ftruncate(self._fd, self._start)
            raise AnswerError("BX211.too-large", size=size, most_answers=MOST_ANSWERS >> 20)
        text = os.pread(self._fd, size, self._start) if size > 0 else b""
        return [line for line in text.split(b"\n") if line.strip()]

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def answer_lines(path: Path) -> list[bytes]:
    """Return the lines of the answers of one run. Raises `AnswerError`, BX211: they are too large."""
    try:
        text = read_regular(path, MOST_ANSWERS)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise AnswerError("BX211.not-readable", strerror=error.strerror) from error
    return [line for line in text.split(b"\n") if line.strip()]


def parse_reply(line: bytes) -> Reply:
    """Read one line of protocol 1, without unknown keys. Raises `AnswerError` (BX211): invalid."""
    try:
        reply = parse_json(line, members=_members)
        if reply["protocol"] != PROTOCOL:
            protocol = repr(reply["protocol"])
            cause = phrase_of(FaultCode.OTHER_PROTOCOL, protocol, PROTOCOL)
            raise _invalid_line(line, cause)
        answer = reply["answer"]
        if not isinstance(answer["digest"], str):
            raise _invalid_line(line, phrase_of(FaultCode.DIGEST_NOT_STRING))
        # Python reads lone surrogates and NaN; readers of the record would reject them.
        json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
        return Reply(
            Answer(answer["digest"], _count(answer, "count"), _count(answer, "distinct"), "worker"),
            Receipt(
                effective={str(k): str(v) for k, v in (reply.get("effective") or {}).items()},
                phases_s=_numbers(reply.get("phases_s"), least=0.0),
                metrics=_numbers(reply.get("metrics")),
                notes=tuple(map(str, reply.get("notes") or ())),
                threads=_count(reply, "threads"),
                bytes=_count(reply, "bytes"),
                counts={
                    name: value
                    for name, key in RECEIPT_KEYS.items()
                    if (value := _count(reply, key)) is not None
                },
            ),
            reply.get("iteration"),
        )
    except _INVALID as error:
        raise _invalid_line(line, f"{type(error).__name__}: {error}") from error


def read_replies(lines: list[bytes], runs: int, *, timed: bool = True) -> list[Reply]:
    """Parse the replies of a block of `runs` runs; only hyperfine 1.19 numbers them, if `timed`.

    Raises `AnswerError` (BX211): a line does not follow the protocol or is of another run; BX213,
    there are fewer or more lines than runs; BX214, the runs of one block answered differently.
    """
    replies = [parse_reply(line) for line in lines]
    if len(replies) != runs:
        raise AnswerError("BX213", replies=len(replies), runs=counted(runs, "run"))
    for number, (line, reply) in enumerate(zip(lines, replies, strict=True)):
        if timed and reply.iteration != str(number):
            iteration = repr(reply.iteration)
            raise _invalid_line(line, phrase_of(FaultCode.OTHER_ITERATION, iteration, number))
    digests = {reply.answer.digest for reply in replies}
    if len(digests) > 1:
        details = tuple(("digest", digest) for digest in sorted(digests)[:3])
        raise AnswerError("BX214.in-one-sample", details=details, digests=len(digests), runs=runs)
    return replies


def _count(reply: Mapping[str, Any], key: str) -> int | None:
    value = reply.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(_is_not(key, value, FaultCode.WHOLE_NUMBER))
    if not 0 <= value <= LARGEST_COUNT:
        code = FaultCode.NEGATIVE if value < 0 else FaultCode.ABOVE_64_BITS
        raise ValueError(phrase_of(code, key))
    return value


def _numbers(values: Mapping[str, Any] | None, least: float = -math.inf) -> dict[str, float]:
    return {str(key): _number(key, value, least) for key, value in (values or {}).items()}


def _number(key: str, value: object, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(_is_not(key, value, PhraseCode.A_NUMBER))
    # Phases that are computed as differences leave a remainder of floats of either sign.
    if abs(value) < 1 / LARGEST_NUMBER:
        return 0.0
    if value < least:
        raise ValueError(phrase_of(FaultCode.NEGATIVE, key))
    if not in_range(value):
        raise ValueError(phrase_of(FaultCode.VALUE_OUT_OF_RANGE, key, repr(value)))
    return float(value)


def _is_not(key: str, value: object, expected: AnyCode) -> str:
    return phrase_of(FaultCode.IS_NOT, key, repr(value), Phrase(expected))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object. Raises `ValueError` for a duplicate key: readers differ about it."""
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(phrase_of(FaultCode.KEY_TWICE, repr(key)))
        members[key] = value
    return members


def _invalid_line(line: bytes, cause: str) -> AnswerError:
    text = re.sub(r"[^\x20-\x7e]", "·", line[:_EXCERPT].decode("utf-8", errors="replace"))
    details = (("cause", cause), ("line", text + ("…" if len(line) > _EXCERPT else "")))
    return AnswerError("BX211.not-a-line", details=details)
