"""Tests of signed records with real keys and ssh-keygen."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench_framework.store import layout, manifest
from tests.integration import processes
from tests.integration.processes import Done, is_without

SCENARIO = """\
version: 1
name: signed
question: Is b slower?
worker: {command: [/bin/echo]}
axes: {arm: [a, b]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
measure: {rounds: 1, until: rounds, warmup: 1}
answer: {compare: none}
"""
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(is_without("ssh-keygen"), reason="BENCHCTL_TESTS_WITHOUT names ssh-keygen"),
]


@pytest.fixture
def benchctl(tmp_path: Path) -> Callable[..., Done]:
    (tmp_path / "signed.yaml").write_text(SCENARIO)
    for name, passphrase in (("mine", ""), ("other", ""), ("locked", "secret")):
        words = ["-q", "-t", "ed25519", "-N", passphrase, "-f", str(tmp_path / name)]
        subprocess.run(["ssh-keygen", *words], check=True)
    return partial(processes.benchctl, tmp_path, env=processes.real(SSH_AUTH_SOCK=""))


@pytest.mark.slow
def test_a_signature_shows_who_signed_the_measured_files(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    for words, printed in ((("--dir=x",), 0), (("--dir=x", "-v"), 1), (("--sign", "mine"), 1)):
        done = benchctl("run", "signed.yaml", *words)
        assert (done.returncode, "digest of the measured files: " in done.stderr) == (0, printed)
    done = benchctl("verify", "@last", "--signer", "mine.pub")
    assert (done.returncode, "with ED25519 key SHA256:" in done.stdout) == (0, True), done
    assert benchctl("report", "@last", "--format", "md").returncode == 0
    assert benchctl("verify", "@last", "--signer", "mine.pub").returncode == 0

    keys = tmp_path / "keys"
    keys.write_text("".join((tmp_path / f"{name}.pub").read_text() for name in ("other", "mine")))
    assert benchctl("verify", "@last", "--signer", "keys").returncode == 0
    done = benchctl("verify", "@last", "--signer", "other.pub")
    expected = "digest.sig: no signature of these files with a key of other.pub"
    assert (done.returncode, expected in done.stdout) == (1, True), done

    [record] = (tmp_path / "results" / "signed").iterdir()
    (record / "raw" / "logs" / "hyperfine.log").write_text("changed")
    (record / layout.MANIFEST).unlink()
    manifest.write_manifest(record)
    assert benchctl("verify", "@last").returncode == 0
    assert benchctl("verify", "@last", "--signer", "mine.pub").returncode == 1


def test_an_unusable_key_is_refused_before_measuring(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    for key in ("locked", "missing", "signed.yaml"):
        done = benchctl("run", "signed.yaml", "--sign", key)
        assert (done.returncode, f"{key} cannot sign" in done.stderr) == (2, True), done
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_a_record_without_a_signature_differs_and_other_files_are_no_keys(
    benchctl: Callable[..., Done],
) -> None:
    assert benchctl("run", "signed.yaml").returncode == 0
    done = benchctl("verify", "@last", "--signer", "mine.pub")
    assert (done.returncode, "the record is not signed" in done.stdout) == (1, True), done
    for name in ("mine", "missing.pub", "."):
        done = benchctl("verify", "@last", "--signer", name)
        assert (done.returncode, "BX115" in done.stderr) == (2, True), done


@pytest.mark.parametrize("character", ["\f", "\v", "\x1c", "\u2028", "\x85", "\r"])
@pytest.mark.slow
def test_a_key_after_a_character_that_only_some_programs_show_as_a_line_end_is_not_used(
    benchctl: Callable[..., Done], tmp_path: Path, character: str
) -> None:
    mine, other = (
        (tmp_path / f"{name}.pub").read_text("utf-8").strip() for name in ("mine", "other")
    )
    (tmp_path / "keys").write_bytes(f"{other}\n{other}{character}{mine}\n".encode())
    assert benchctl("run", "signed.yaml", "--sign", "mine").returncode == 0
    done = benchctl("verify", "@last", "--signer", "keys")
    assert (done.returncode, "no signature of these files" in done.stdout) == (1, True), done
