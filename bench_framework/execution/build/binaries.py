"""The programs to measure: the store of binaries, and external programs that are not built.

The store has two copies of every program, under its digest. The A/A control runs the second copy.
Two copies of one binary differ by up to half a percent, because their pages are at different
addresses; the control must include this difference.
"""

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import EXIT_USAGE, AnswerError, BuildError, MachineError
from bench_framework.execution.answers import AnswerReader
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.machine.host import cache_root, existing
from bench_framework.execution.machine.programs import may_be_copied
from bench_framework.execution.process import Finished, Launcher, scratch_folder
from bench_framework.execution.symbols import crate_of, plain_name
from bench_framework.execution.target import Target, target_of
from bench_framework.execution.worker import PROTOCOL
from bench_framework.foreign import parse_json, sha256_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.build_spec import PROGRAM
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build, Event, PreparedInput
from bench_framework.store.layout import part_of, read_note, whole, write_note
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase_of

DESCRIBE_TIMEOUT_S: Final = 10.0
EXECUTABLE: Final = 0o755
OTHER_CODE: Final = "functions of no crate"
MOST_SYMBOLS: Final = 64 << 20
"""Most bytes of a list of symbols that are read."""
_SECTION: Final = re.compile(r"^(?P<name>\.\S+)\s+(?P<bytes>[1-9]\d*)\s+[1-9]\d*$", re.MULTILINE)
"""A section with an address: it is loaded."""
_FUNCTION: Final = re.compile(
    r"^(?P<address>\d+) (?P<bytes>\d+) [tTwW] (?P<symbol>.+)$", re.MULTILINE
)
_Sizes = tuple[tuple[str, int], ...]
LEFT_OUT: Final = ("-R", ".note.gnu.build-id", "-R", ".comment")


@dataclass(frozen=True, slots=True)
class Stored:
    """A program in the store: digest, path, path of the control's copy, and size in bytes."""

    sha256: str
    path: Path
    control: Path
    size_bytes: int


def store(root: Path, source: Path, name: str) -> Stored:
    """Copy a program into the store, twice; existing copies are kept, and damaged ones replaced.

    `root` is ``<cache>/binaries``. The copies have the file name `name`; programs may read
    ``argv[0]``.

    Raises `MachineError` (BX235): the store cannot be written.
    """
    digest = sha256_of(source)
    path, control = root / digest / name, root / digest / "control" / name
    size = source.stat().st_size
    for target in (path, control):
        if target.is_file() and sha256_of(target) == digest:
            continue
        with whole(target) as part:
            shutil.copyfile(source, part)
            part.chmod(EXECUTABLE)
    return Stored(digest, path, control, size)


def examined(build: Build, launcher: Launcher, env: Mapping[str, str]) -> Build:
    """Return the build of a stored program with the sizes of its parts and the digest of its code."""
    path = Path(str(build.path))
    stripped_bytes, code = without_symbols(path, launcher, env)
    sections, crates = _parts(path, launcher, env)
    return replace(
        build, stripped_bytes=stripped_bytes, code_sha256=code, sections=sections, crates=crates
    )


def without_symbols(
    program: Path, launcher: Launcher, env: Mapping[str, str]
) -> tuple[int | None, str | None]:
    """Return size and digest of a program without symbols, build id and compiler's comment.

    Both are `None` if ``strip`` is not installed. The result is cached.

    Equal digests mean equal code: builds with other features differ in symbol names, which contain
    a hash of the features. Different digests do not mean different code: the compiler may have
    placed the same functions in another order.
    """
    note = program.with_name("without-symbols.json")
    if known := read_note(note, "size_bytes", "sha256"):
        return known["size_bytes"], known["sha256"]
    copy = part_of(program.with_name("stripped"))
    argv = ["strip", "--strip-all", *LEFT_OUT, "-o", str(copy), str(program)]
    try:
        output = launcher.capture(argv, env)
        if not output.ok:
            return None, None
        size, digest = copy.stat().st_size, sha256_of(copy)
    except (MachineError, OSError):
        return None, None
    finally:
        copy.unlink(missing_ok=True)
    write_note(note, {"size_bytes": size, "sha256": digest})
    return size, digest


def _parts(path: Path, launcher: Launcher, env: Mapping[str, str]) -> tuple[_Sizes, _Sizes]:
    """Return the bytes of the loaded sections of a program, and of the functions of each crate.

    Those that ``size`` or ``nm`` cannot read are empty. Functions of no crate, such as those of C
    libraries, are in the row `OTHER_CODE`.
    """
    size = _output(launcher, ["size", "--format=sysv", "--radix=10", str(path)], env)
    sections = tuple((m["name"], int(m["bytes"])) for m in _SECTION.finditer(size))
    argv = ["nm", "--defined-only", "--print-size", "--radix=d", str(path)]
    # Several names of one address are one function.
    functions = {m["address"]: m for m in _FUNCTION.finditer(_output(launcher, argv, env))}
    crates: Counter[str] = Counter()
    for function in functions.values():
        crate = crate_of(plain_name(function["symbol"]))
        crates[crate or OTHER_CODE] += int(function["bytes"])
    return sections, tuple(sorted(crates.items()))


def _output(launcher: Launcher, argv: Sequence[str], env: Mapping[str, str]) -> str:
    """Return what a tool prints; nothing if it is missing or fails."""
    try:
        output = launcher.capture(argv, env, most=MOST_SYMBOLS)
    except MachineError:
        return ""
    return output.stdout if output.ok else ""


def describe(
    argv: Sequence[str], launcher: Launcher, env: Mapping[str, str], place: Path
) -> dict[str, Any]:
    """Call a worker with `describe` and return its JSON object; the answer is not cached.

    It runs in `place`, where it will work, or in the nearest existing parent, to probe the
    filesystem.

    Raises `BuildError` (BX221): the answer does not follow docs/reference/worker-protocol.md.
    """
    cwd, limit = str(existing(place)), DESCRIBE_TIMEOUT_S
    output = launcher.capture([*argv, "describe"], env, cwd=cwd, timeout_s=limit)
    cause, description = output.finished.how, None
    if output.ok:
        cause = phrase_of(FaultCode.NO_DESCRIPTION, PROTOCOL)
        with suppress(ValueError):
            description = parse_json(output.stdout)
    if not isinstance(description, dict) or description.get("protocol") != PROTOCOL:
        details = (("cause", cause), ("stderr", output.stderr.strip()[-500:]))
        raise BuildError("BX221", details=details, name=Path(argv[0]).name)
    return description


def find_program(name: str, scenario_path: str, env: Mapping[str, str]) -> Build:
    """Find a program by an absolute path, a path relative to the scenario, or a name on PATH.

    Raises `MachineError` (BX234): the program does not exist or is not executable.
    """
    base = Path(scenario_path).absolute().parent
    path = str(base / name) if "/" in name else shutil.which(name, path=env.get("PATH"))
    if path is None or not Path(path).exists():
        raise unfit("BX234.no-program", name=name, scenario=scenario_path)
    file = Path(path)
    if not file.is_file():
        raise unfit("BX234.not-a-file", path=path)
    for mode, flag in ((os.X_OK, "x"), (os.R_OK, "r")):
        if not os.access(path, mode):
            readable, quoted = mode == os.X_OK, shlex.quote(path)
            raise unfit(
                "BX234.not-executable", path=path, readable=readable, flag=flag, quoted=quoted
            )
    size = file.stat().st_size
    return Build(PROGRAM, ok=True, sha256=sha256_of(file), path=path, size_bytes=size, cached=True)


def unfit(key: str, /, **values: Any) -> MachineError:
    """Return the error for a file that the user named."""
    return MachineError(key, exit_code=EXIT_USAGE, **values)


def add_control(
    plan: Plan,
    build: Build,
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> tuple[Build, Event | None]:
    """Give the A/A control a copy at another path, if one run of the copy gives the same result.

    The event BX332 states that the control runs the program itself. Then the page placement is the
    same in both, and the noise floor does not include its effect.
    """
    if not plan.measure.control or build.path is None:
        return build, None
    source = Path(build.path)
    assert plan.program is not None
    spec = plan.baseline.build
    reason = _reason_not_to_copy(spec.bin if spec is not None else plan.program[0], source)
    if reason is None:
        stored = store(cache_root(env) / "binaries", source, source.name)
        copied = replace(build, control_path=str(stored.control))
        if _same_result(plan, (build, copied), inputs, launcher, env):
            return copied, None
        reason = FaultCode.COPY_DIFFERS
    event = new_event("BX332", "note", program=source.name, reason=Phrase(reason))
    return replace(build, control_path=build.path), event


def _reason_not_to_copy(name: str, source: Path) -> FaultCode | None:
    """Return the reason why a program must not be copied to another path; `None` if it may be.

    Some programs depend on their own path: the interpreter of a virtual environment finds its
    libraries by it, a dispatcher selects its tool. Such a copy may give the same answer and
    still do other work (docs/method.md#aa-control).
    """
    if "/" not in name:
        return FaultCode.ON_PATH
    if source.is_symlink():
        return FaultCode.SYMBOLIC_LINK
    if (source.parent.parent / "pyvenv.cfg").exists():
        return FaultCode.VIRTUAL_ENVIRONMENT
    with source.open("rb") as file:
        head = file.read(4)
    return None if may_be_copied(head) else FaultCode.UNKNOWN_FORMAT


def _same_result(
    plan: Plan,
    both: tuple[Build, Build],
    inputs: Mapping[str, PreparedInput],
    launcher: Launcher,
    env: Mapping[str, str],
) -> bool:
    """Compare one run of the program and of its copy on the first input that has both."""
    limit = plan.measure.timeout_s
    reader = AnswerReader(launcher, plan.answer, plan.measure.answer_limit_s)
    runner = SingleRunner(launcher, plan.answer, limit)

    def result_of(target: Target, reference: Path) -> tuple[int | None, str] | None:
        """Return exit code and digest of one run, and store its text; `None` if it failed."""

        def read(folder: Path, finished: Finished) -> tuple[int | None, str] | None:
            try:
                digest = reader.read_run(target, folder, reference).digest
            except AnswerError:
                return None
            with suppress(FileNotFoundError):  # a worker's answer has no text
                shutil.copyfile(reader.compared(folder / "stdout", folder / "edited"), reference)
            return finished.exit_code, digest

        run = runner.run(target, None, limit, read=read)
        return run.output if run.status == "ok" else None

    for item in plan.inputs:
        baseline, control = plan.baseline_cell(item.id), plan.control_cell(item.id)
        if baseline is None or control is None:
            continue
        cells = zip((baseline, control), both, strict=True)
        targets = [target_of(cell, build, inputs.get(item.id), env) for cell, build in cells]
        with scratch_folder() as scratch:
            first, second = (result_of(target, Path(scratch, "text")) for target in targets)
        return first is not None and first == second
    return True
