"""Tests that secrets of a scenario are masked, and reach only the programs that it starts."""

from pathlib import Path

import pytest

from bench_framework import masking
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import wire


@pytest.fixture(autouse=True)
def _no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_secrets", {})


@pytest.mark.parametrize(
    ("data", "masks"),
    [
        ({"git": "https://me:hunter2@host/x.git"}, {"git": "https://***1***@host/x.git"}),
        ({"git": "https://me:p@ss@host/x.git"}, {"git": "https://***1***@host/x.git"}),
        ({"git": "https://ghp_1234@host/x.git"}, {"git": "https://***1***@host/x.git"}),
        ({"git": "ssh://git@host/x.git"}, {"git": "ssh://git@host/x.git"}),
        ({"git": "https://host/a@b"}, {"git": "https://host/a@b"}),
        ({"env": {"API_TOKEN": "x", "MODE": "y"}}, {"env": {"API_TOKEN": "***1***", "MODE": "y"}}),
        ({"env": {"MAX_TOKENS": "5", "AUTHOR": "z"}}, {"env": {"MAX_TOKENS": "5", "AUTHOR": "z"}}),
        ({"env": {"github.token": "x"}}, {"env": {"github.token": "***1***"}}),
        ({"env": {"Password": "{arm}"}}, {"env": {"Password": "{arm}"}}),
        ({"command": ["p", "--password=x"]}, {"command": ["p", "--password=***1***"]}),
        ({"command": ["p", "--api-key", "x"]}, {"command": ["p", "--api-key", "***1***"]}),
        ({"args": ["--auth", "{arm}"]}, {"args": ["--auth", "{arm}"]}),
        ({"prepare": [["env", "PASSWD=x", "p"]]}, {"prepare": [["env", "PASSWD=***1***", "p"]]}),
        (
            {"command": "curl -H 'Authorization: Bearer x' --token y | cat"},
            {"command": "curl -H 'Authorization: Bearer ***1***' --token ***2*** | cat"},
        ),
        ({"command": ["grep", "token file"]}, {"command": ["grep", "token file"]}),
        ({"axes": {"token": ["a", "b"]}}, {"axes": {"token": ["a", "b"]}}),
    ],
)
def test_secrets_are_recognised_by_name_and_place(data: object, masks: object) -> None:
    once = masking.mask_document(data)
    assert once == masks
    assert masking.mask_document(once) == masks
    assert masking.mask_document(data) == masks


def test_a_plan_contains_no_secret_and_a_program_receives_it(tmp_path: Path) -> None:
    text = (
        "version: 1\nname: n\nquestion: q\nworker: {command: [/bin/p]}\n"
        "env: {API_TOKEN: hunter2hunter2}\naxes: {arm: [a, b]}\n"
        'command: ["{bin}", "--password", s3cr3tvalue, "{arm}"]\nbaseline: {arm: a}\n'
    )
    overrides = ["env.API_TOKEN=othertoken"]
    plan = expand(load(tmp_path / "s.yaml", text=text, overrides=overrides))
    text = wire.dump_plan(plan) + masking.masked_source(text) + masking.masked(overrides[0])
    for secret in ("hunter2hunter2", "othertoken", "s3cr3tvalue"):
        assert secret not in text
    [value] = [value for name, value in plan.cells[0].env if name == "API_TOKEN"]
    assert masking.revealed(value) == "othertoken"
    assert masking.revealed(f"--a={value}b") == "--a=othertokenb"
    masking._secrets.clear()
    with pytest.raises(LookupError):
        masking.revealed(value)


@pytest.mark.parametrize("key", sorted(masking._COMMANDS))
def test_the_secrets_of_every_command_are_masked(key: str) -> None:
    assert "hunter2" not in str(masking.mask_document({"x": {key: ["f", "--token", "hunter2"]}}))


def test_only_strings_of_a_json_text_are_masked() -> None:
    masking.mask_document({"env": {"A_TOKEN": "true", "B_TOKEN": "0000", "C_TOKEN": 'x "y'}})
    text = '{"true": true, "n": [0.00001, 10000], "s": "\\u00e9 0000", "t": ["x \\"y", "true"]}'
    masks = '{"true": true, "n": [0.00001, 10000], "s": "é ***2***", "t": ["***3***", "***1***"]}'
    assert masking.masked_json(text) == masks


def test_user_and_password_are_taken_out_of_a_url() -> None:
    url = masking.mask_document({"git": "https://me:hunter2@host/x.git"})["git"]
    assert masking.without_userinfo(url) == "https://host/x.git"
    assert masking.without_userinfo("ssh://git@host/x.git") == "ssh://git@host/x.git"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/root/.cache/data/a.txt", "~/.cache/data/a.txt"),
        ("run --input '/home/ann/a b.txt' /home/bo/c", "run --input '~/a b.txt' ~/c"),
        ("/srv/root/a /home /rooted/b", "/srv/root/a /home /rooted/b"),
    ],
)
def test_pages_show_a_tilde_in_place_of_a_home_folder(text: str, expected: str) -> None:
    assert masking.home_as_tilde(text) == expected
