"""Answers of programs without the worker protocol: their output, edited as the scenario says.

Nothing here runs while a program is timed.
"""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from bench_framework.errors import AnswerError, Interrupted, MachineError
from bench_framework.execution.answer_differences import differing_share
from bench_framework.execution.expressions import NOTHING_LEFT
from bench_framework.execution.process import (
    MOST_CAPTURED,
    Command,
    Finished,
    Launcher,
    scratch_folder,
    script,
)
from bench_framework.execution.target import Target
from bench_framework.execution.worker import answer_lines, read_replies
from bench_framework.foreign import open_regular, parse_json, read_regular, sha256_of, text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.record.run import Answer
from bench_framework.store.layout import writing
from bench_framework.text.names import listed
from bench_framework.text.numbers import shortest
from bench_framework.text.reasons import phrase_of

LARGEST_ANSWER: Final = 4 << 30
"""Largest output of a run that is compared byte by byte, filtered or checked."""
LARGEST_READ: Final = 256 << 20
"""Largest output of a run that is read whole, to sort its lines or to parse it."""
LARGEST_EDITED: Final = 64 << 20
"""Largest text that regular expressions search, or whose numbers or lines are tolerated."""
INPUT: Final = "BENCHCTL_INPUT"
"""Variable with the path of the input for the commands of `answer`."""
RIGHT: Final = "right"
"""Digest of the answers that a `check` accepts."""
TICK_S: Final = 0.011
"""Time after which a change of a file has another mtime: more than a tick of the kernel (100 Hz)."""
Signature = tuple[int, ...] | None
"""Inode, size, mtime and ctime of a file; `None` if it does not exist."""
_EXCERPT: Final = 80
"""Characters of a bad answer that a message quotes."""


class WrongAnswer(AnswerError):  # noqa: N818 -- an answer, not a fault of benchctl
    """An answer that the command of `check` refused."""


def largest_answer(policy: AnswerPolicy) -> int:
    """Return the largest size in bytes of an output that is accepted."""
    return LARGEST_ANSWER if policy.filter or policy.check else _largest_text(policy)


def _largest_text(policy: AnswerPolicy) -> int:
    if policy.extract or policy.ignore or policy.tolerance or policy.tolerated_share:
        return LARGEST_EDITED
    return LARGEST_READ if policy.edited else LARGEST_ANSWER


def signature(path: str | Path | None) -> Signature:
    """Return the state of a file, which changes if the file is written."""
    try:
        status = os.stat(path or "")  # noqa: PTH116 -- one call, between runs
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reader of the answers of a plan.

    `timeout_s` is the time limit of `filter`, of `check` and of all regular expressions of `answer`
    or of the metrics of one output together.
    """

    launcher: Launcher
    policy: AnswerPolicy
    timeout_s: float

    def compared(self, stdout: Path, edited: Path) -> Path:
        """Return the file with the text that is compared: the output, or the edited one."""
        return edited if self.policy.edited else Path(self.policy.file or stdout)

    def mark(self) -> Signature:
        """Return the state of `answer.file` before a run. It may be edited in place, so it is kept."""
        state = signature(self.policy.file)
        time.sleep(TICK_S if state is not None else 0)
        return state

    def require_written(self, before: Signature) -> None:
        """Raise `AnswerError`, BX215, if a run did not write `answer.file`."""
        file = self.policy.file
        if file and before and self.policy.compare != "none" and signature(file) == before:
            raise _unreadable(Path(file), phrase_of(PhraseCode.NOT_WRITTEN_BY_RUN))

    def read_run(self, target: Target, folder: Path, reference: Path | None = None) -> Answer:
        """Return the answer of a single run with `stdout` and `answers` in a scratch folder.

        Raises `AnswerError`: see `read` and `worker.read_replies`.
        """
        if self.policy.contract:
            return read_replies(answer_lines(folder / "answers"), 1, timed=False)[0].answer
        return self.read(target, folder / "stdout", folder / "edited", reference)

    def read(
        self, target: Target, stdout: Path, edited: Path, reference: Path | None = None
    ) -> Answer:
        """Return the answer of a run, and write the text that is compared to `edited` if it is.

        `reference` is the file with the text of the baseline. An answer that the policy tolerates
        gets its digest.

        Raises `AnswerError` (BX215): the output cannot be read; BX216, it is not the declared
        JSON; BX218, a command or an expression of `answer` failed, or nothing is left to compare.
        `WrongAnswer` (BX210): `check` refused it.
        """
        policy, path = self.policy, Path(self.policy.file or stdout)
        if policy.check:
            return self._check(target, path)
        if policy.filter:
            self._filter(target, path, edited)
            path = edited
        if policy.extract or policy.ignore:
            self._search(target, path, edited)
            path = edited
        answer = digest_file(path, policy, edited)
        tolerant = policy.tolerance or policy.tolerated_share
        if not tolerant or reference is None or not reference.is_file():
            return answer
        expected = sha256_of(reference)
        if expected == answer.digest:
            return answer
        share = differing_share(policy, reference, self.compared(stdout, edited))
        if share > 0 and share >= policy.tolerated_share:
            return answer
        return replace(answer, digest=expected, differing=share)

    def _filter(self, target: Target, path: Path, edited: Path) -> None:
        edited.write_bytes(b"")
        # The launcher reads a pipe and checks the size of the file after each part of it.
        limited, most = (str(edited), LARGEST_EDITED), 2 * LARGEST_EDITED
        argv, out = self.policy.filter, str(edited)
        finished, words = self._run(
            "filter", argv, target, path, stdout=out, limited=limited, most_stdout=most
        )
        if finished.overflowed or edited.stat().st_size > LARGEST_EDITED:
            cause = phrase_of(PhraseCode.PRINTED_MORE, LARGEST_EDITED)
            raise _failed("filter", argv, cause, "BX218.output-too-large")
        if not finished.ok:
            raise _failed("filter", argv, f"{finished.how}{words}")
        if path.stat().st_size and not edited.stat().st_size:
            raise _failed("filter", argv, phrase_of(PhraseCode.PRINTED_NOTHING))

    def _search(self, target: Target, path: Path, edited: Path) -> None:
        """Write what `extract` and `ignore` leave of a file to `edited`."""
        policy = self.policy
        pairs = [("answer.extract", policy.extract)] if policy.extract else []
        pairs += [("answer.ignore", expression) for expression in policy.ignore]
        keys = [key.removeprefix("answer.") for key in dict(pairs)]
        finished, words = self.search(pairs, target, path, edited)
        if finished.exit_code == NOTHING_LEFT:
            details, plural = (("output", words),), "s" * (len(keys) == 1)
            raise AnswerError(
                "BX218.nothing-left", details=details, keys=listed(keys), plural=plural
            )
        if finished.timed_out:
            details = (("cause", phrase_of(PhraseCode.NESTED_REPETITIONS)),)
            seconds = shortest(self.timeout_s)
            raise AnswerError("BX218.time-limit", details=details, regex=words, seconds=seconds)
        if not finished.ok:
            program = phrase_of(PhraseCode.REGULAR_EXPRESSION)
            raise _failed(keys[0], (program,), f"{finished.how}: {words}")

    def search(
        self, pairs: Sequence[tuple[str, str]], target: Target, path: Path, edited: Path
    ) -> tuple[Finished, str]:
        """Run the script `expressions` on a file. Return how it ended, and its last message.

        Raises `AnswerError`: the file cannot be read (BX215). `Interrupted`: it was killed.
        """
        argv = (*script("expressions.py"), json.dumps(pairs), str(edited))
        finished, words = self._run("regex", argv, target, path, LARGEST_EDITED)
        return finished, words.removeprefix(": ")

    def _check(self, target: Target, path: Path) -> Answer:
        finished, words = self._run("check", self.policy.check, target, path)
        if finished.exit_code is None:
            raise _failed("check", self.policy.check, f"{finished.how}{words}")
        if not finished.ok:
            name = Path(self.policy.check[0]).name
            details = (("cause", f"{finished.how}{words}"),)
            raise WrongAnswer("BX210", details=details, name=name)
        return Answer(RIGHT, source="check")

    def _run(
        self,
        key: str,
        argv: tuple[str, ...],
        target: Target,
        path: Path,
        largest: int = LARGEST_ANSWER,
        **more: Any,
    ) -> tuple[Finished, str]:
        """Run a command of `answer` on a file. Return how it ended, and its last message."""
        try:
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise _unreadable(path, str(error.strerror)) from error
        if size > largest:
            raise _unreadable(path, phrase_of(PhraseCode.MORE_THAN, largest))
        env = {**target.env, INPUT: target.input_path or ""}
        with scratch_folder() as folder:
            out, errors = Path(folder, "stdout"), Path(folder, "stderr")
            streams = (str(path), str(out), str(errors))
            command = Command(argv, env, target.cwd, *streams, self.timeout_s)
            command = replace(command, **{"most_stdout": MOST_CAPTURED, **more})
            try:
                finished = self.launcher.run(command, self.launcher.check_stop)
            except MachineError as error:
                if error.code != "BX231":
                    raise
                raise _failed(key, argv, error.line) from error
            texts = map(text_of, (errors, out))
            lines = next((text.strip().splitlines() for text in texts if text.strip()), [])
        if finished.killed:
            raise Interrupted("BX130.sample")
        return finished, f": {lines[-1].strip()}" if lines else ""


def digest_file(path: Path, policy: AnswerPolicy, edited: Path | None = None) -> Answer:
    """Return the answer in a file. A text that differs from the file's is written to `edited`.

    Raises `AnswerError` (BX215): the file cannot be read; BX216, it is not the declared JSON; BX218,
    nothing of it is left to compare.
    """
    source: Literal["file", "stdout"] = "file" if policy.file else "stdout"
    if policy.compare == "none":
        return Answer("", source="none")
    try:
        if not policy.edited:
            return Answer(sha256_of(path, _largest_text(policy)), source=source)
        text = read_regular(path, _largest_text(policy))
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from error
    count = None
    if policy.compare == "json":
        text = _canonical(text, frozenset(policy.json_ignore))
    elif policy.compare == "sorted-lines":
        # A missing newline at the end is not a difference.
        lines = sorted(text.removesuffix(b"\n").split(b"\n"))
        text, count = b"\n".join(lines), len(lines)
    if edited is not None:
        with writing(edited):
            edited.write_bytes(text)
    return Answer(hashlib.sha256(text).hexdigest(), count, source=source)


def _canonical(text: bytes, ignored: frozenset[str]) -> bytes:
    """Return JSON or JSON lines with sorted keys and no spaces; 1.0 and 1.00 become equal."""
    removed = 0

    def members_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal removed
        rest = {key: value for key, value in pairs if key not in ignored}
        removed += len(pairs) - len(rest)
        return rest

    members = members_of if ignored else None  # Python's parser is faster without it
    try:
        documents = [parse_json(text, members=members)]
    except ValueError:
        try:
            lines = (line for line in text.splitlines() if line.strip())
            documents = [parse_json(line, members=members) for line in lines]
        except ValueError as error:
            details = (("cause", str(error)), ("output", repr(text[:_EXCERPT])))
            raise AnswerError("BX216", details=details) from error
    left = json.dumps(documents, sort_keys=True, separators=(",", ":")).encode()
    if removed and not left.strip(b"[]{},"):
        raise AnswerError("BX218.nothing-left-of-json")
    return left


def _unreadable(path: Path, cause: str) -> AnswerError:
    return AnswerError("BX215", details=(("cause", cause),), path=path)


def _failed(
    step: str, argv: tuple[str, ...], cause: str, key: str = "BX218.command-failed"
) -> AnswerError:
    return AnswerError(key, details=(("cause", cause),), step=step, program=Path(argv[0]).name)
