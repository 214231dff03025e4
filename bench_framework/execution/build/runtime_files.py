"""The files that a program uses when it runs: their digest, and programs that need them unsaid.

A program that commands built is copied into the store of binaries, and its digest decides whether two
builds are equal. That would be wrong for a program that is only the start of others: the interpreter of a
virtual environment, a script that names a folder, a program with its own shared libraries.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.execution.machine.programs import ELF64, libraries_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase

_LEFT_OUT: Final = re.compile(r"(?:^|/)__pycache__(?:/|$)|\.dist-info/(?:RECORD|direct_url\.json)$")
"""Files of Python that vary without a change of the program: times, and digests of files with paths."""
_PLACE: Final = b"@"


def require_alone(program: Path, folder: Path) -> None:
    """Refuse a program that uses other files of the folder in which it was built.

    Raises `BuildError` (BX249): it does, or it is a link to a file outside.
    """
    real = program.resolve()
    environment = program.parent.parent
    if (environment / "pyvenv.cfg").exists():
        raise _bound(program, Phrase(FaultCode.IN_ENVIRONMENT, environment.name))
    if not real.is_relative_to(folder.resolve()):
        raise BuildError("BX249.outside", program=program.name, target=real)
    content = real.read_bytes()
    if content.startswith(ELF64):
        for place, name in libraries_of(real):
            path = Path(place, name) if place else folder / name
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                raise _bound(
                    program, Phrase(FaultCode.LOADS_LIBRARY, str(path.relative_to(folder)))
                )
    elif os.fsencode(folder) in content:
        raise _bound(program, Phrase(FaultCode.CONTAINS_PATH))


def _bound(program: Path, reason: Phrase) -> BuildError:
    return BuildError("BX249.bound", program=program.name, reason=reason)


def digest_of(folder: Path, program: str, names: Iterable[str], tree: str) -> str:
    """Return the digest of a program and of the files and folders below `folder` that it uses.

    The path of `folder` is replaced, because each build has another one. If a file names another place
    in this folder, `tree`, the id of all sources, is part of the digest.

    Raises `BuildError` (BX249): the build did not write one of them.
    """
    digest, root = hashlib.sha256(), os.fsencode(folder)
    inside = [os.fsencode(name.rstrip("/")) for name in (program, *names)]
    other_places = False
    for name in names:
        if not os.path.lexists(folder / name):
            raise BuildError("BX249.no-runtime", name=name)
    for path in _files(folder, (program, *names)):
        text = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        rest = text.split(root)[1:]
        other_places |= any(not _starts_in(part.removeprefix(b"/"), inside) for part in rest)
        mode = "link" if path.is_symlink() else f"{path.stat().st_mode & 0o111:o}"
        content = hashlib.sha256(text.replace(root, _PLACE)).hexdigest()
        line = f"{path.relative_to(folder)}\0{mode}\0{content}\n"
        digest.update(line.encode(errors="surrogateescape"))
    digest.update(tree.encode() if other_places else b"")
    return digest.hexdigest()


def _starts_in(text: bytes, names: Iterable[bytes]) -> bool:
    return any(text == n or re.match(re.escape(n) + rb"(?![\w.-])", text) for n in names)


def _files(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    """Yield the files and links below some paths, sorted, each once."""
    paths: set[Path] = set()
    for name in names:
        top = folder / name
        if top.is_symlink() or not top.is_dir():
            paths.add(top)
            continue
        for place, folders, files in os.walk(top):
            links = (entry for entry in folders if Path(place, entry).is_symlink())
            paths.update(Path(place, entry) for entry in (*files, *links))
    entries = (path for path in paths if not _LEFT_OUT.search(str(path.relative_to(folder))))
    yield from sorted(path for path in entries if path.is_symlink() or path.is_file())
