"""The binary store: two copies of every measured program, under its digest.

The A/A control runs the second copy. Two copies of one binary differ by up to half a percent,
because their pages are at different addresses; the control must include this difference.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.worker import PROTOCOL, sha256_of
from bench_framework.foreign import parse_json
from bench_framework.store.layout import write_whole, writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.process import Launcher

DESCRIBE_TIMEOUT_S: Final = 10.0
EXECUTABLE: Final = 0o755
LEFT_OUT: Final = ("-R", ".note.gnu.build-id", "-R", ".comment")


@dataclass(frozen=True, slots=True)
class Stored:
    """A program in the store: digest, path, path of the control's copy, and size in bytes."""

    sha256: str
    path: Path
    control: Path
    size_bytes: int

    @property
    def folder(self) -> Path:
        """Return the folder of the program and of its notes."""
        return self.path.parent


def store(root: Path, source: Path, name: str) -> Stored:
    """Copy a program into the store, twice; existing copies are kept.

    `root` is ``<cache>/binaries``. The copies have the file name `name`; programs may read
    ``argv[0]``.

    Raises `MachineError` (BX235): the store cannot be written.
    """
    digest = sha256_of(source)
    path, control = root / digest / name, root / digest / "control" / name
    size = source.stat().st_size
    for target in (path, control):
        if target.is_file() and target.stat().st_size == size:
            continue
        temporary = target.with_name(f".{target.name}.part")
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(source, temporary)
                temporary.chmod(EXECUTABLE)
                temporary.replace(target)
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
    return Stored(digest, path, control, size)


@dataclass(frozen=True, slots=True)
class Stripped:
    """Size and digest of a program without symbols, build id and compiler's comment."""

    size_bytes: int
    sha256: str


def without_symbols(stored: Stored, launcher: Launcher, env: Mapping[str, str]) -> Stripped | None:
    """Strip a copy of a program; `None` if ``strip`` is not installed. The result is cached.

    Equal digests mean equal code: builds with other features differ in symbol names, which contain
    a hash of the features. Different digests do not mean different code: the compiler may have
    placed the same functions in another order.
    """
    note = stored.folder / "without-symbols.json"
    if note.is_file():
        return Stripped(**json.loads(note.read_text(encoding="utf-8")))
    copy = stored.folder / ".stripped"
    argv = ["strip", "--strip-all", *LEFT_OUT, "-o", str(copy), str(stored.path)]
    try:
        output = launcher.capture(argv, env)
        if not output.ok:
            return None
        stripped = Stripped(copy.stat().st_size, sha256_of(copy))
    except (MachineError, OSError):
        return None
    finally:
        copy.unlink(missing_ok=True)
    write_whole(note, json.dumps(asdict(stripped)) + "\n")
    return stripped


def describe(
    argv: Sequence[str], launcher: Launcher, env: Mapping[str, str], place: Path
) -> dict[str, Any]:
    """Call a worker with `describe` and return its JSON object; the answer is not cached.

    It runs in `place`, where it will work, or in the nearest existing parent, to probe the
    filesystem.

    Raises `BuildError` (BX221): the answer does not follow docs/reference/worker-protocol.md.
    """
    cwd = next(
        folder for folder in (place.absolute(), *place.absolute().parents) if folder.is_dir()
    )
    output = launcher.capture([*argv, "describe"], env, cwd=str(cwd), timeout_s=DESCRIBE_TIMEOUT_S)
    description = _object(output.stdout) if output.ok else None
    if description is None or description.get("protocol") != PROTOCOL:
        cause = f"it printed no JSON object with protocol {PROTOCOL}"
        cause = cause if output.ok else output.finished.how
        raise BuildError(
            f"{Path(argv[0]).name} gives no valid answer to `describe`",
            code="BX221",
            details=(("cause", cause), ("stderr", output.stderr.strip()[-500:])),
            effect="its receipts are not trusted, and it is not measured",
            fix="correct the worker; for a program without the worker protocol, remove "
            "`contract: true` under `worker`",
        )
    return description


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = parse_json(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
