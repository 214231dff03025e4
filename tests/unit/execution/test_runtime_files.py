"""Tests of programs that use other files when they run, and of the environment of build commands."""

import os
import struct
from pathlib import Path

import pytest

from bench_framework.errors import BuildError
from bench_framework.execution.build import tools
from bench_framework.execution.build.runtime_files import digest_of, require_alone
from bench_framework.execution.machine.programs import libraries_of, loader_of


def elf(path: Path, needed: str, folder: str) -> Path:
    """Write a program of headers only, which needs a library and names a folder for it."""
    texts = f"\0{needed}\0{folder}\0".encode()
    entries = ((1, 1), (29, len(needed) + 2), (5, 0x1000 + 240), (0, 0))
    table = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    start = 64 + 2 * 56
    loaded = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x1000, 0, start + len(table) + len(texts), 0, 0)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, start, 0x1000 + start, 0, len(table), 0, 0)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", *(3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    assert start + len(table) == 240
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + loaded + dynamic + table + texts)
    return path


def test_the_libraries_of_a_program_are_read_from_its_headers(tmp_path: Path) -> None:
    program = elf(tmp_path / "bin" / "tool", "libx.so.1", "$ORIGIN/../lib:/opt/lib")
    places = [f"{tmp_path}/bin/../lib", "/opt/lib"]
    assert [*libraries_of(program)] == [(place, "libx.so.1") for place in places]
    assert loader_of(program) == ""
    assert [*libraries_of(elf(tmp_path / "b", "lib/liby.so", "/opt"))] == [("", "lib/liby.so")]


def test_a_program_with_a_library_of_its_build_is_refused(tmp_path: Path) -> None:
    program = elf(tmp_path / "bin" / "tool", "libx.so.1", "$ORIGIN/../lib")
    require_alone(program, tmp_path)  # a library of the system
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libx.so.1").touch()
    with pytest.raises(BuildError) as caught:
        require_alone(program, tmp_path)
    assert "it loads bin/../lib/libx.so.1" in caught.value.message


def tree(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_digest_of_files_does_not_depend_on_their_folder(tmp_path: Path) -> None:
    folders = [
        tree(tmp_path / n, env__bin__tool=f"#!{tmp_path}/{n}/env/bin/python\n", env__a="1")
        for n in "ab"
    ]
    for number, folder in enumerate(folders):
        (folder / "env" / "python").symlink_to(folder / "env" / "a")
        # These files have times, or digests of files that contain the folder.
        tree(folder, env__cache="")
        (folder / "env" / "__pycache__").mkdir()
        (folder / "env" / "__pycache__" / "a.pyc").write_text(str(number))
        tree(folder / "env" / "x-1.dist-info", RECORD=str(number))
    given = ("env/bin/tool", ("env",))
    first, second = (digest_of(folder, *given, "tree") for folder in folders)
    assert first == second == digest_of(folders[0], *given, "other tree")
    (folders[1] / "env" / "a").write_text("2")
    assert digest_of(folders[1], *given, "tree") != first


def test_a_file_that_names_the_sources_makes_them_part_of_the_digest(tmp_path: Path) -> None:
    # An editable install: the code is in the sources.
    folder = tree(
        tmp_path, env__tool="x", env__editable=f"{tmp_path}/src\n", env__b=f"{tmp_path}/env/b"
    )
    given = (folder, "env/tool", ["env"])
    assert digest_of(*given, "one") != digest_of(*given, "two")
    (folder / "env" / "editable").write_text(f"{tmp_path}/environment\n")
    assert digest_of(*given, "one") != digest_of(*given, "two")
    (folder / "env" / "editable").unlink()
    assert digest_of(*given, "one") == digest_of(*given, "two")
    with pytest.raises(BuildError) as caught:
        digest_of(folder, "env/tool", ["lib"], "one")
    assert "lib of `runtime` does not exist" in caught.value.message


def test_commands_see_few_variables_and_the_key_has_all_that_matter() -> None:
    env = {"PATH": "/bin", "HOME": "/h", "CFLAGS": "-O0", "MAKEFLAGS": "-k", "https_proxy": "p"}
    env |= {"TERM": "x", "SSH_AUTH_SOCK": "s", "GIT_CONFIG_COUNT": "0", "GIT_INDEX_FILE": "i"}
    given, key = tools.environment(env, [("CFLAGS", "-O3")])
    assert key == {
        "PATH": "/bin",
        "HOME": "/h",
        "GIT_CONFIG_COUNT": "0",
        "SOURCE_DATE_EPOCH": "315532800",
        "CFLAGS": "-O3",
    }
    assert given == key | {"https_proxy": "p", "SSH_AUTH_SOCK": "s"}
    assert tools.environment(env, [("SOURCE_DATE_EPOCH", "1")])[1]["SOURCE_DATE_EPOCH"] == "1"


def test_the_state_of_tools_changes_with_each_file_that_a_command_names(tmp_path: Path) -> None:
    (tmp_path / "cc").touch(mode=0o755)
    (tmp_path / "script").touch()
    env = {"PATH": str(tmp_path)}
    states = [tools.state([("make",)], env), tools.state([("sh", f"{tmp_path}/script")], env)]
    for name in ("cc", "script"):
        (tmp_path / name).write_text("changed")
        states.append(tools.state([("sh", f"{tmp_path}/script")], env))
    os.utime(tmp_path / "cc", (1, 1))
    states.append(tools.state([("sh", f"{tmp_path}/script")], env))
    assert len({str(state) for state in states}) == len(states)
