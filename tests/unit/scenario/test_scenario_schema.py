"""The JSON Schema is current and valid, and accepts and rejects the same files as `load`."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from bench_framework import assets
from bench_framework.model.metrics import METRICS
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.scenario.schema import schema
from bench_framework.text.errors import explanations

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "scenarios"


@pytest.fixture(scope="module")
def validator() -> Any:
    document = schema()
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def plain(text: str) -> Any:
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(text)))


@pytest.mark.parametrize("name", ["house_example.yaml", "minimal.yaml", "every_key.yaml"])
def test_the_examples_are_valid(name: str, validator: Any) -> None:
    validator.validate(plain((FIXTURES / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"measure": {"warmpu": 3}},
        {"measure": {"rounds": "ten"}},
        {"margin": 2},
        {"design": "some"},
        {"version": 2},
        {"name": "../x"},
        {"worker": {"crat": "x"}},
        {"axes": {"a b": [1]}},
        {"axes": {"a": {"b": {"featurs": []}}}},
        {"metrics": {"x": {"form": "stdout"}}},
    ],
)
def test_what_is_wrong_is_refused_by_the_schema_too(change: dict[str, Any], validator: Any) -> None:
    least = plain((FIXTURES / "minimal.yaml").read_text(encoding="utf-8"))
    assert validator.is_valid(least)
    assert not validator.is_valid(least | change)


@pytest.mark.parametrize("name", sorted(assets.shipped_scenarios()))
def test_shipped_scenarios_are_valid(name: str, validator: Any) -> None:
    path = assets.shipped_scenarios()[name]
    validator.validate(plain(path.read_text(encoding="utf-8")))
    scenario = load(path)
    assert scenario.spec.name == name
    assert expand(scenario).cells


def test_a_value_may_be_empty(validator: Any) -> None:
    least = plain((FIXTURES / "minimal.yaml").read_text(encoding="utf-8"))
    assert validator.is_valid(least | {"axes": {"arm": {"a": None, "b": {}}}})


def test_every_key_has_its_hover_text() -> None:
    document = schema()
    silent = [
        f"{name}.{key}"
        for name, part in {"": document, **document["$defs"]}.items()
        for key, value in (
            part.get("properties") or part.get("anyOf", [{}, {}])[-1].get("properties", {})
        ).items()
        if not value.get("description")
    ]
    assert silent == []


def all_keys() -> set[str]:
    document = schema()
    return set(document["properties"]) | {
        key for part in document["$defs"].values() for key in part.get("properties", {})
    }


def test_keys_are_kebab_case_except_the_names_of_metrics() -> None:
    assert {key for key in all_keys() if not re.fullmatch(r"[a-z]+(-[a-z]+)*|sha256", key)} <= set(
        METRICS
    )


def test_the_list_of_codes_is_what_the_package_raises() -> None:
    raised = {
        code
        for path in (ROOT / "bench_framework" / "scenario").rglob("*.py")
        for code in re.findall(r'"(BC\d{3})[".]', path.read_text(encoding="utf-8"))
    }
    assert raised == {code for code, text in explanations().items() if len(text) > 1}


def test_every_code_is_explained_with_an_example() -> None:
    for title, explanation, example in (text for text in explanations().values() if len(text) > 1):
        assert title
        assert explanation.endswith(".")
        assert example
