"""The answer of each kind of question, the key findings, and the recommendation of one variant."""

import pytest

from tests.unit.judging.conftest import Study, timing


def test_sentences_and_claims_have_the_interval_of_the_verdict(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c", "d"))
    judged = example.judge(example.blocks(timing({"b": -0.2, "c": -0.1}, 0.1)))
    c = example.comparison(judged, "b")
    assert c.shown is not None
    claim = next(x for x in judged.claims if x.kind == "comparison" and x.cells[0] == c.cell_id)
    assert (claim.lo, claim.hi, claim.level) == (c.shown.lo, c.shown.hi, c.shown.level)
    low, high = (float(x) for x in claim.text.split("[")[1].split("]")[0].split(", "))
    assert low == pytest.approx(100 * (1 - c.shown.hi), abs=1)
    assert high == pytest.approx(100 * (1 - c.shown.lo), abs=1)
