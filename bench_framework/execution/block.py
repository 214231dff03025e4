"""Blocks: consecutive runs of one cell in one call of hyperfine, with their answers."""

import contextlib
import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from bench_framework.errors import AnswerError, CellError, Interrupted, MachineError, MeasureError
from bench_framework.execution import benches, declared_metrics, hyperfine as hf, worker
from bench_framework.execution.answers import AnswerReader, WrongAnswer, largest_answer
from bench_framework.execution.inputs import pagecache
from bench_framework.execution.machine.host import utc_now
from bench_framework.execution.machine.sensors import Gauge, between
from bench_framework.execution.process import Finished, Launcher, signal_name
from bench_framework.execution.server import SERVER_LOG, RunningServer, Servers, of_server
from bench_framework.execution.target import Target, run_setup
from bench_framework.foreign import fault_of
from bench_framework.masking import masked_json
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.benches import Bench
from bench_framework.model.record.run import SIGNAL_BASE, Block
from bench_framework.model.record.sensors import PageCache
from bench_framework.store.journal import LineWriter
from bench_framework.store.layout import writing
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase, phrase_of

HYPERFINE_OVERHEAD_S: Final = 1.0
"""Added to a block's timeout: hyperfine itself takes 5 ms, and much longer on a busy machine."""
LEAST_ROOM_BYTES: Final = 1 << 20
"""Required free space on the record's disk: several times the journal of a round."""
KEPT_BYTES: Final = 1 << 16
"""Bytes that are kept of each end of an output that is too large."""
DRAIN: Final = "benchctl:drain"
"""Word of a command for the pipe of the launcher that discards the output of timed runs."""
LAST_SIGNAL: Final = 64


class BlockRunner:
    """Runner of blocks that keeps its files open between them. A context manager."""

    def __init__(self, launcher: Launcher, tool: hf.Hyperfine, record: Record) -> None:
        plan, raw = record.plan, record.raw
        self._plan = plan
        self._launcher, self._tool, self._raw = launcher, tool, raw
        self._policy, self._timeout_s = plan.answer, plan.measure.timeout_s
        self.reader = AnswerReader(launcher, plan.answer, plan.measure.answer_limit_s)
        file = Path(self._policy.file) if self._policy.file is not None else None
        self._readings = declared_metrics.MetricReader(plan.metrics, raw.stdout, file, self.reader)
        self._log = raw.log("hyperfine.log")
        with writing(raw.root):
            raw.log("").mkdir(parents=True, exist_ok=True)
            self._log.touch()
            self._answers = worker.AnswersFile(raw.answers)
            self._exports = LineWriter(raw.hyperfine)
        self._gauge = Gauge()
        self._servers = Servers(launcher, lambda cell: raw.log(f"{cell}{SERVER_LOG}"), keep=True)
        self._pages: dict[str, pagecache.InputPages] = {}
        """Pages by id of the input."""
        self._server: RunningServer | None = None
        """The server of the block that is measured."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._servers.close()
        self._answers.close()
        self._gauge.close()
        self._exports.close()

    def sync(self) -> None:
        """Flush hyperfine's output to the disk. Call it before the journal is flushed."""
        self._exports.sync()

    def run(self, target: Target, block: Block, runs: int) -> Block:
        """Complete a block by measuring it. A failure is its status, not an exception.

        Raises:
            Interrupted: the user killed it; the block is dropped.
            MachineError: BX235, the record's disk is full or the record was removed; BX231,
                hyperfine was removed.
        """
        if target.cell.server is None:
            return self._run_prepared(target, block, runs)
        try:
            with self._servers.around(target) as (at_port, server):
                measured = self._run_prepared(at_port, block, runs, server)
                if measured.status != "ok" and server is not None:
                    server.last_sample = True
        except MeasureError as error:
            if error.code not in {"BX207", "BX231"} or not Path(self._tool.path).is_file():
                raise
            return _failed(block, error.line)  # whatever its client did
        return measured

    def _run_prepared(
        self, target: Target, block: Block, runs: int, server: RunningServer | None = None
    ) -> Block:
        self._server = server
        if failed := run_setup(self._launcher, target, "prepare", self._timeout_s):
            return _failed(block, failed)
        if target.stdin is not None and (fault := fault_of(Path(target.stdin))):
            return _failed(block, f"stdin: {target.stdin} {fault}")
        block = self._run_with_cache(target, block, runs)
        failed = run_setup(self._launcher, target, "cleanup", self._timeout_s)
        if failed and block.status == "ok":
            return _failed(block, failed)
        return block

    def _run_with_cache(self, target: Target, block: Block, runs: int) -> Block:
        """Run the block with the requested page cache of the input, and record the actual state."""
        if target.input_path is None:
            return self._run_timed(target, block, runs)
        requested, path, key = target.cell.cache, Path(target.input_path), target.cell.input_id
        try:
            pages = self._pages.get(key) or pagecache.InputPages(path, target.input_files)
        except OSError as error:
            before_run = PageCache("unknown", why=pagecache.reason_of(error, path))
            return replace(self._run_timed(target, block, runs), page_cache=before_run)
        self._pages[key] = pages
        before_run = pagecache.set_state(pages, requested)
        block = self._run_timed(target, block, runs)
        read_bytes = block.sensors.device_bytes
        state = pagecache.verify_state(pages, requested, before_run, read_bytes)
        return replace(block, page_cache=state)

    def _run_timed(self, target: Target, block: Block, runs: int) -> Block:
        if target.binary is not None:
            # Otherwise a file that few variants run starts slower than one that many run.
            with contextlib.suppress(OSError):
                pagecache.read_file(target.binary)
        stored = self._stdout_is_answer or self._readings.needs_stdout
        discarded = "null" if self._policy.stdout == "null" else DRAIN
        output = str(self._raw.stdout) if stored else discarded
        export = self._raw.export
        argv = self._tool.call(
            target.argv, runs=runs, output=output, stdin=target.stdin, export=export
        )
        # If hyperfine fails, the JSON of the previous block must not be read.
        export.unlink(missing_ok=True)
        with writing(self._log):
            log_start = self._log.stat().st_size
        timeout_s = runs * self._timeout_s + HYPERFINE_OVERHEAD_S
        # hyperfine itself opens the input.
        limited = (output, largest_answer(self._policy)) if stored else None
        command = target.command(
            self._answers.path,
            timeout_s,
            argv=argv,
            stdin=None,
            stderr=str(self._log),
            limited=limited,
            drain=DRAIN if output == DRAIN else None,
        )
        if self._bench_of(target) is not None:
            benches.clear_home(target.env)
        self._answers.mark()
        self._readings.before = self.reader.mark()
        server = self._server
        if server is not None:
            server.begin()
        before = self._gauge.read(target.all_cpus)
        started_at = utc_now()
        try:
            finished = self._launcher.run(command)
        except MachineError as error:
            if error.code != "BX231" or not Path(self._tool.path).is_file():
                raise
            # The working directory or a requested CPU is missing; other cells may have other ones.
            return _failed(block, "; ".join(text for _, text in error.details))
        after = self._gauge.read(target.all_cpus)
        used = server.usage() if server is not None else None
        own_s = finished.cpu_s
        if used is not None and own_s is not None:
            own_s += used.cpu_s
        sensors = replace(between(before, after, own_s), device_bytes=finished.read_bytes)
        ended = not (finished.timed_out or finished.overflowed or finished.killed)
        left = finished.stragglers if ended else 0  # what was killed is no process that was left
        block = replace(block, started_at=started_at, sensors=sensors, left=left)
        if finished.killed:
            raise Interrupted("BX130.block")
        if finished.timed_out:
            return self._timed_out(block)
        if limited and self._printed > limited[1]:
            return self._cut_output(block, PhraseCode.OUTPUT_TOO_LARGE)
        block = self._check_free_space(block) or self._read(
            target, block, finished, runs, log_start
        )
        return block if used is None or not block.wall_s else of_server(block, used, runs)

    def _bench_of(self, target: Target) -> Bench | None:
        return self._plan.input(target.cell.input_id).bench

    @property
    def _stdout_is_answer(self) -> bool:
        policy = self._policy
        stored = policy.stdout == "file" and policy.file is None
        return stored and not policy.contract and policy.compare != "none"

    @property
    def _printed(self) -> int:
        return self._raw.stdout.stat().st_size if self._raw.stdout.is_file() else 0

    def _cut_output(self, block: Block, code: PhraseCode) -> Block:
        """Return the block as failed. Of its output, the first and last bytes are kept in a log."""
        log, output = self._raw.log(f"{block.cell_id}.stdout"), self._raw.stdout
        with writing(output), output.open("rb+") as file:
            printed = file.seek(0, os.SEEK_END)
            head = os.pread(file.fileno(), KEPT_BYTES, 0)
            tail = os.pread(file.fileno(), KEPT_BYTES, max(len(head), printed - KEPT_BYTES))
            file.truncate(0)
            log.write_bytes(head + b"\n[bytes are left out here]\n" + tail)
        place = str(log.relative_to(self._raw.root.parent))
        return _failed(block, phrase_of(code, printed, place))

    def _check_free_space(self, block: Block) -> Block | None:
        """Return the block as failed if its output filled the disk, because it is truncated.

        Raises `MachineError` (BX235): the disk is full for another reason.
        """
        if _free(self._raw.root) >= LEAST_ROOM_BYTES:
            return None
        printed = self._printed
        if printed:
            block = self._cut_output(block, PhraseCode.DISK_FILLED)
        if printed < LEAST_ROOM_BYTES or _free(self._raw.root) < LEAST_ROOM_BYTES:
            with writing(self._raw.root):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return block

    def _read(
        self, target: Target, block: Block, finished: Finished, runs: int, log_start: int
    ) -> Block:
        if finished.signal is not None:
            return _failed(block, phrase_of(PhraseCode.HYPERFINE_ENDED, finished.how))
        try:
            text = self._raw.export.read_bytes()
            measured = hf.parse(text)
            least = target.preload.least_peak_bytes if target.preload else 0
            if (measured["peak_rss_bytes"] or 0) < least:
                measured |= {"peak_rss_bytes": None, "peak_rss_source": None}
        except (OSError, CellError) as error:
            missing = phrase_of(PhraseCode.HYPERFINE_SILENT, finished.how)
            words = missing if isinstance(error, OSError) else str(error)
            return _failed(block, self._hyperfine_error(log_start) or words)
        stored = masked_json(text.decode(errors="replace")).encode()  # it contains the command
        export = b"".join(stored.split(b"\n"))
        self._exports.append(b'{"seq":%d,"export":%s}\n' % (block.seq, export))
        block = replace(block, **measured)
        # The limit of the process is that of all runs together, and one of them may have been longer.
        if max(block.wall_s, default=0.0) > self._timeout_s:
            return self._timed_out(block)
        return self._check(target, block, runs)

    def _timed_out(self, block: Block) -> Block:
        message = phrase_of(PhraseCode.TIMED_OUT_AFTER, self._timeout_s)
        return replace(block, status="timeout", message=message)

    def _check(self, target: Target, block: Block, runs: int) -> Block:
        if failure := failure_of(block.exit_codes, self._policy.exit_codes):
            return replace(block, status="failed", **failure)
        try:
            bench = self._bench_of(target)
            return self._readings.read(target, self._add_answer(target, block, runs), bench)
        except WrongAnswer as error:
            return replace(block, status="other-output", message=error.line)
        except AnswerError as error:
            return _failed(block, error.line)

    def _add_answer(self, target: Target, block: Block, runs: int) -> Block:
        if self._policy.contract:
            lines = self._answers.read()
            timed = self._tool.version >= hf.NUMBERS_RUNS
            replies = worker.read_replies(lines, runs, timed=timed)
            given = [reply.receipt for reply in replies]
            receipts, missing = self._readings.of_replies(lines, given)
            answer = None if self._policy.compare == "none" else replies[0].answer
            block = replace(block, answer=answer, receipts=receipts, missing=missing)
            known = [r.counts[PEAK_RSS] for r in given if PEAK_RSS in r.counts]
            if known:
                return replace(block, peak_rss_bytes=max(known), peak_rss_source="worker")
            return block
        if self._policy.file is not None or self._stdout_is_answer:
            self.reader.require_written(self._readings.before)
            raw = self._raw
            answer = self.reader.read(target, raw.stdout, raw.edited, raw.reference(target.cell))
            return replace(block, answer=answer)
        return block

    def _hyperfine_error(self, start: int) -> str | None:
        with self._log.open("rb") as file:
            file.seek(start)
            lines = (line.strip() for line in file.read().decode(errors="replace").splitlines())
        errors = [line for line in lines if line.lower().startswith("error: ")]
        return errors[-1].partition(": ")[2] if errors else None


def _failed(block: Block, message: str) -> Block:
    return replace(block, status="failed", message=message)


def _free(folder: Path) -> int:
    with writing(folder):
        filesystem = os.statvfs(folder)
    return filesystem.f_bavail * filesystem.f_frsize


def failure_of(codes: Sequence[int | None], allowed: Sequence[int]) -> dict[str, Any] | None:
    """Return message and signal of the first bad exit code of a block; `None` if all are good."""
    for number, code in enumerate(codes, start=1):
        if code in allowed:
            continue
        name, reason = None, Phrase(PhraseCode.EXIT_STATUS, "unknown" if code is None else code)
        # hyperfine reports signal n as 128 + n. A program rarely exits with such a code.
        if code is not None and SIGNAL_BASE < code <= SIGNAL_BASE + LAST_SIGNAL:
            name = signal_name(code - SIGNAL_BASE)
            reason = Phrase(PhraseCode.KILLED_BY, name)
        if len(codes) > 1:
            reason = Phrase(PhraseCode.IN_RUN, (reason, number, len(codes)))
        return {"message": phrase(reason), "signal": name}
    return None
