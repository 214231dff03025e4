"""Where hyperfine is found, and its installation from a wheel by pip, without a network."""

import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution import hyperfine
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import ToolInstall
from tests.integration.execution.conftest import Recorder
from tests.integration.processes import executable

NAME = f"{hyperfine.WHEEL.replace('-', '_')}-{hyperfine.WHEEL_VERSION}"
Find = Callable[[], hyperfine.Hyperfine]


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment without hyperfine, cargo and network, whose pip finds a wheel in a folder."""
    for name in ("path", "scripts", "wheels"):
        (tmp_path / name).mkdir()
    (tmp_path / "path/python3").symlink_to(sys.executable)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "scripts"))
    return {
        "PATH": str(tmp_path / "path"),
        "BENCHCTL_CACHE": str(tmp_path / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "PIP_USER": "1",
    }


@pytest.fixture
def progress() -> Recorder:
    return Recorder()


@pytest.fixture
def find(env: dict[str, str], launcher: Launcher, progress: Recorder) -> Find:
    return lambda: hyperfine.find(launcher, env, progress)


def program(version: str = "1.20.0") -> str:
    return f"#!/bin/sh\necho hyperfine {version}\n"


def put(path: Path, version: str = "1.20.0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    executable(path, program(version))
    return path


@pytest.fixture
def wheel(tmp_path: Path, env: dict[str, str]) -> Path:
    """A wheel with a program that prints its version."""
    path = tmp_path / "wheels" / f"{NAME}-py3-none-any.whl"
    about = f"Metadata-Version: 2.1\nName: {hyperfine.WHEEL}\nVersion: {hyperfine.WHEEL_VERSION}\n"
    files = {
        f"{NAME}.data/scripts/hyperfine": program("2.0.0"),
        f"{NAME}.dist-info/METADATA": f"{about}License: MIT OR Apache-2.0\n",
        f"{NAME}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
    }
    with ZipFile(path, "w") as archive:
        for name, text in files.items():
            info = ZipInfo(name)
            info.external_attr = 0o100755 << 16
            archive.writestr(info, text)
        archive.writestr(f"{NAME}.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return path


def test_the_wheel_is_installed_into_the_cache_with_its_licence(
    find: Find, wheel: Path, tmp_path: Path, progress: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = (*hyperfine.WHEEL_HASHES, sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(hyperfine, "WHEEL_HASHES", digests)
    tool, tools = find(), tmp_path / "cache/tools"
    assert tool == hyperfine.Hyperfine(
        str(tools / "hyperfine-2.0.0/bin/hyperfine"), (2, 0, 0), hyperfine.FROM_WHEEL
    )
    assert [path.name for path in tools.iterdir()] == ["hyperfine-2.0.0"]
    [about] = tools.glob("*/*.dist-info/METADATA")
    assert "License: MIT OR Apache-2.0" in about.read_text(encoding="utf-8")
    installing = [update for update in progress.updates if isinstance(update, ToolInstall)]
    assert installing[0] == ToolInstall("hyperfine", "2.0.0", 0.0, built=False)
    wheel.unlink()
    progress.updates.clear()
    assert (find(), progress.updates) == (tool, [])


def test_a_wheel_with_another_hash_is_not_installed(
    find: Find, wheel: Path, tmp_path: Path
) -> None:
    with pytest.raises(MachineError) as caught:
        find()
    details = dict(caught.value.details)
    assert caught.value.code == "BC403"
    assert "DO NOT MATCH THE HASHES" in details["wheel"]
    assert details["cargo"] == "is not on the PATH"
    assert all("\n" not in text for text in details.values())
    assert not [*tmp_path.glob("cache/tools/*")]


def test_a_missing_wheel_is_reported_in_one_line(find: Find) -> None:
    with pytest.raises(MachineError) as caught:
        find()
    reason = dict(caught.value.details)["wheel"]
    assert reason.startswith("pip: ERROR: No matching distribution found for")


def test_path_comes_before_the_environment_of_python_and_the_cache(
    find: Find, env: dict[str, str], tmp_path: Path
) -> None:
    cached = put(tmp_path / "cache/tools/hyperfine-1.20.0/bin/hyperfine")
    assert find() == hyperfine.Hyperfine(str(cached), (1, 20, 0), hyperfine.FROM_CARGO)
    of_python = put(tmp_path / "scripts/hyperfine", "2.0.0")
    assert find().path == str(of_python)
    on_path = put(tmp_path / "path/hyperfine", "1.18.0")
    assert find() == hyperfine.Hyperfine(str(on_path), (1, 18, 0), "PATH")
    put(on_path, "1.17.0")
    assert find().path == str(of_python)
    env["BENCHCTL_HYPERFINE"] = str(on_path)
    with pytest.raises(MachineError, match=r"hyperfine 1\.17\.0, too old"):
        find()


@pytest.mark.parametrize(
    ("has_pip", "names", "start"),
    [
        (True, ["uv", "pip3"], [sys.executable, "-P", "-m", "pip", "install"]),
        (False, ["uv", "pip3"], ["uv", "pip", "install", "--python", sys.executable]),
        (False, ["pip3"], ["pip3", "install"]),
        (False, [], None),
    ],
)
def test_the_installer_is_that_of_the_user(
    tmp_path: Path,
    env: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    has_pip: bool,
    names: Sequence[str],
    start: list[str] | None,
) -> None:
    for name in names:
        put(tmp_path / "path" / name)
    spec = object() if has_pip else None
    monkeypatch.setattr("importlib.util.find_spec", lambda _: spec)
    command = hyperfine.installer(env)
    folder = f"{tmp_path}/path/"
    assert (command and [word.replace(folder, "") for word in command]) == start
