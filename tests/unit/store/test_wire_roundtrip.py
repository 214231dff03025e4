"""Every model type is unchanged after a round trip to disk."""

import dataclasses
import json
import math

import pytest

from bench_framework.errors import RecordError
from bench_framework.model.record.functions import CallCount, FunctionCost, FunctionCounts
from bench_framework.model.record.run import Event, Look, Observation
from bench_framework.model.verdict import Interval
from bench_framework.store import lines, wire
from tests.unit.store.conftest import BUILDS, HOST, PLAN, PREPARED, block


def test_a_plan_survives_and_is_deterministic() -> None:
    text = wire.dump_plan(PLAN)
    assert wire.load_plan(text) == PLAN
    assert wire.dump_plan(wire.load_plan(text)) == text


def test_a_plan_of_a_later_benchctl_with_more_fields_is_read() -> None:
    document = json.loads(wire.dump_plan(PLAN))
    document["colour"] = "blue"
    document["cells"][0]["colour"] = "blue"
    assert wire.load_plan(json.dumps(document)) == PLAN


def test_the_error_for_a_damaged_plan_names_the_place() -> None:
    document = json.loads(wire.dump_plan(PLAN))
    document["measure"]["rounds_min"] = "many"
    with pytest.raises(RecordError, match=r"plan\.json") as caught:
        wire.load_plan(json.dumps(document))
    assert dict(caught.value.details)["where"] == "measure.rounds_min"


def test_a_host_survives() -> None:
    assert wire.load_host(wire.dump_host(HOST)) == HOST


def test_a_block_without_the_state_of_the_page_cache_is_read() -> None:
    document = json.loads(wire.dump_line(lines.Measured(block(0, "c"))))
    del document["block"]["page_cache"]
    for name in (
        "psi_memory_us",
        "swap_in_pages",
        "swap_out_pages",
        "throttle_events",
        "device_bytes",
    ):
        del document["block"]["sensors"][name]
    line = wire.load_line(json.dumps(document).encode())
    assert isinstance(line, lines.Measured)
    assert line.block.page_cache is None
    assert line.block.sensors.device_bytes is None


def test_every_kind_of_line_survives() -> None:
    examples: list[lines.Line] = [
        lines.Header(1, "id", "s", "0", "1", "at", "0.1.0"),
        lines.Prepared("at", HOST, BUILDS, PREPARED),
        lines.Repeats("i", {"c": 3}),
        lines.Measured(
            block(
                0,
                "c",
                wall_s=(0.1, 0.30000000000000004, 1e-9, 123456.789),
                signal="SIGSEGV",
                message="größe\n",
            )
        ),
        lines.Limit(60),
        lines.RoundEnd("i", 1, warmup=True, at="at", elapsed_s=0.1),
        lines.Changed("i", 1),
        lines.Looked(Look("i", 0, 12, stopped=False)),
        lines.Dropped("c", "i", 2, warmup=True, state="raced"),
        lines.Noted(Event("BX201", "words", details=(("a", "b"),))),
        lines.Counted(
            Observation("c", "instructions", 1, "at", "valgrind", values={"instructions": 7.0})
        ),
        lines.FunctionsCounted(
            FunctionCounts(
                "c",
                1,
                (FunctionCost("tool::main", "", 7, 1, 2), FunctionCost("free", "libc.so.6", 5, 9)),
                (CallCount(0, 1, 9, 5),),
                left_out=3,
            )
        ),
        lines.End("at", 1.5),
    ]
    assert {type(line) for line in examples} == set(lines.Line.__subclasses__())
    for line in examples:
        text = wire.dump_line(line)
        assert text.endswith(b"\n")
        assert text.count(b"\n") == 1
        assert wire.load_line(text) == line


def test_every_field_of_a_block_is_in_its_line() -> None:
    document = json.loads(wire.dump_line(lines.Measured(block(0, "c"))))["block"]
    assert set(document) == {field.name for field in dataclasses.fields(block(0, "c"))}


def test_an_interval_without_an_upper_bound_survives() -> None:
    interval = Interval(1.02, 0.0, math.inf, 0.9)
    text = wire.adapter(Interval).dump_json(interval)
    assert "null" not in text.decode()
    assert wire.adapter(Interval).validate_json(text) == interval
