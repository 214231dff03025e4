"""The binary store: every program that is measured lies under its own digest, twice.

The control arm runs the second copy: copies of one binary already differ by up to half a percent through
the pages that they happen to lie on, and that is part of what the control must show.
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
from bench_framework.store.layout import write_whole, writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.process import Launcher

DESCRIBE_TIMEOUT_S: Final = 10.0
EXECUTABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Stored:
    """A program in the store: digest, its path, the control's path, and its size in bytes."""

    sha256: str
    path: Path
    control: Path
    size_bytes: int

    @property
    def folder(self) -> Path:
        """Where it lies, with what is known about it."""
        return self.path.parent


def keep(root: Path, source: Path, name: str) -> Stored:
    """Copy a program into the store, twice; what is there already is left as it is.

    Args:
        root: the store, ``<cache>/binaries``.
        source: the program.
        name: what the copies are called; programs look at ``argv[0]``.

    Raises:
        MachineError: BX235, the disk refused.
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
class Bare:
    """What is left of a program without symbols, build id and compiler's comment: its size and digest."""

    size_bytes: int
    sha256: str


def without_symbols(stored: Stored, launcher: Launcher, env: Mapping[str, str]) -> Bare | None:
    """Strip a copy of a program; `None` where ``strip`` is not installed. Kept beside the binary.

    Equal digests mean the same code: two builds of it differ in the names of symbols, which hold a hash of
    the features, and there only. Different digests do not mean different code: the compiler may have laid
    out the same functions in another order.
    """
    note = stored.folder / "without-symbols.json"
    if note.is_file():
        return Bare(**json.loads(note.read_text(encoding="utf-8")))
    copy = stored.folder / ".stripped"
    argv = [
        "strip",
        "--strip-all",
        "-R",
        ".note.gnu.build-id",
        "-R",
        ".comment",
        "-o",
        str(copy),
        str(stored.path),
    ]
    try:
        said = launcher.capture(argv, env)
        if not said.ok:
            return None
        bare = Bare(copy.stat().st_size, sha256_of(copy))
    except (MachineError, OSError):
        return None
    finally:
        copy.unlink(missing_ok=True)
    write_whole(note, json.dumps(asdict(bare)) + "\n")
    return bare


def describe(argv: Sequence[str], launcher: Launcher, env: Mapping[str, str], place: Path) -> dict[str, Any]:
    """What a worker with the contract says about itself and about this machine, asked anew each time.

    Args:
        argv: the worker's own words, without `describe`.
        launcher: starts it.
        env: its environment.
        place: the folder in which it will work, or the nearest above it that exists: what a file system can do
            is probed there.

    Raises:
        BuildError: BX221, it does not answer as docs/reference/worker-protocol.md says.
    """
    cwd = next(folder for folder in (place.absolute(), *place.absolute().parents) if folder.is_dir())
    said = launcher.capture([*argv, "describe"], env, cwd=str(cwd), timeout_s=DESCRIBE_TIMEOUT_S)
    found = _object(said.stdout) if said.ok else None
    if found is None or found.get("protocol") != PROTOCOL:
        cause = said.finished.how if not said.ok else f"it printed no object with protocol {PROTOCOL}"
        raise BuildError(
            f"{Path(argv[0]).name} does not describe itself",
            code="BX221",
            details=(("cause", cause), ("stderr", said.stderr.strip()[-500:])),
            help="a program without the worker protocol is measured with answer: {contract: false}",
        )
    return found


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
