"""The file of accepted changes, read by hand-written rules: one wrong line is one error with its place."""

from pathlib import Path

import pytest

from bench_framework.errors import UsageError
from bench_framework.model.plan.policies import Accepted
from bench_framework.scenario.gate_policy import read_accepted, with_entries
from tests.unit.scenario.conftest import Plans

TWO = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'


def read(plans: Plans, tmp_path: Path, text: str) -> tuple[Accepted, ...]:
    path = tmp_path / "accepted.yaml"
    path.write_text(text, encoding="utf-8")
    return read_accepted(path, plans(TWO))


def test_an_entry_has_the_cells_that_it_selects(plans: Plans, tmp_path: Path) -> None:
    text = """
accepted:
  - cell: arm=b
    metric: wall
    level: 10%
    reason: "checks its input"
    until: 2026-12-31
  - {cell: arm=c, metric: cpu, level: 3%, reason: gone}
"""
    first, second = read(plans, tmp_path, text)
    (cell,) = (c.id for c in plans(TWO).cells if c.label == "b")
    assert (first.cell_ids, first.metric, first.level) == ((cell,), "wall", 0.1)
    expected = ("checks its input", "2026-12-31", "accepted.yaml:3")
    assert (first.reason, first.until, first.place) == expected
    assert first.counts_on("2026-12-31")
    assert not first.counts_on("2027-01-01")
    # A scenario changes more often than such a file, so that this is a remark and not an error.
    assert (second.cell_ids, second.unknown, second.until) == (
        (),
        "axis `arm` has no value `c`",
        "",
    )
    assert second.counts_on("2999-01-01")


@pytest.mark.parametrize("text", ["accepted: []\n", "accepted:\n"])
def test_a_file_may_be_empty(text: str, plans: Plans, tmp_path: Path) -> None:
    assert read(plans, tmp_path, text) == ()


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("accepted: [", "", 1),
        ("- {cell: arm=b}", "one key, `accepted`", 1),
        ("accepted: {cell: arm=b}", "must be a list", 1),
        ("accepted:\n  - arm=b\n", "must be a mapping", 2),
        ("accepted:\n  - {cell: arm=b, metric: wall, level: 9%}", "needs `reason`", 2),
        ("accepted:\n  - {cell: arm=b, metric: wall, level: 9%, reason: ''}", "needs `reason`", 2),
        (
            "accepted:\n  - {cell: arm=b, metric: wall, level: 9%, reason: r, who: me}",
            "unknown key `who`",
            2,
        ),
        ("accepted:\n  - {cell: arm=b, metric: wall, level: 9, reason: r}", "`level` must be", 2),
        *(
            (
                f"accepted:\n  - {{cell: arm=b, metric: wall, level: 9%, reason: r, until: {day}}}",
                "a date",
                2,
            )
            for day in ("soon", "20271231", "2027-W01-1")
        ),
        ("accepted: []\naccepted: []", "", 2),
    ],
)
def test_what_cannot_be_read_is_one_error_with_its_place(
    text: str, message: str, line: int, plans: Plans, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        read(plans, tmp_path, text)
    assert caught.value.code == "BX112"
    assert message in caught.value.message
    assert dict(caught.value.details)["file"] == f"{tmp_path / 'accepted.yaml'}:{line}"


def test_a_missing_file_has_no_entries_unless_its_folder_is_missing(
    plans: Plans, tmp_path: Path
) -> None:
    assert read_accepted(tmp_path / "none.yaml", plans(TWO)) == ()
    with pytest.raises(UsageError, match="cannot be read: No such file") as caught:
        read_accepted(tmp_path / "none" / "none.yaml", plans(TWO))
    assert caught.value.code == "BX112"


NEW = {
    "cell": "arm=b",
    "metric": "wall",
    "level": "7%",
    "reason": "it's #12: ok",
    "until": "2027-01-31",
}
BLOCK = """\
- cell: "arm=b"
  metric: wall
  level: 7%
  reason: "it's #12: ok"
  until: 2027-01-31
"""


def indented(text: str, indent: str) -> str:
    return "".join(indent + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("before", "rest", "indent"),
    [
        ("", "accepted:\n", "  "),
        ("accepted: []\n", "accepted:\n", "  "),
        ("# reviewed\naccepted:\n", "# reviewed\naccepted:\n", "  "),
        (
            "# reviewed\naccepted:\n- {cell: arm=b, metric: cpu, level: 3%, reason: r}  # note",
            "# reviewed\naccepted:\n- {cell: arm=b, metric: cpu, level: 3%, reason: r}  # note\n",
            "",
        ),
        (
            '{"accepted": [{"cell": "arm=b", "metric": "cpu", "level": "3.5%", "reason": "r"}]}',
            'accepted:\n  - cell: "arm=b"\n    metric: cpu\n    level: 3.5%\n    reason: r\n',
            "  ",
        ),
        (  # an entry of the same cells and metric is replaced, and others are kept
            (
                "accepted:\n    - cell: arm=b\n      metric: wall\n      level: 3%\n      reason: old\n"
                "    # the next one\n    - cell: arm=b\n      metric: cpu\n      level: 3%\n"
                "      reason: r\n"
            ),
            (
                "accepted:\n    # the next one\n    - cell: arm=b\n      metric: cpu\n"
                "      level: 3%\n      reason: r\n"
            ),
            "    ",
        ),
    ],
)
def test_an_entry_is_added_and_the_rest_of_the_file_is_kept(
    before: str, rest: str, indent: str, plans: Plans, tmp_path: Path
) -> None:
    path, plan = tmp_path / "accepted.yaml", plans(TWO)
    after = with_entries(before, path, plan, [NEW])
    assert after == rest + indented(BLOCK, indent)
    path.write_text(after, encoding="utf-8")
    *_, added = read_accepted(path, plan)
    assert (added.cells, added.metric, added.level) == ("arm=b", "wall", 0.07)
    assert (added.reason, added.until) == (NEW["reason"], NEW["until"])
    assert with_entries(after, path, plan, [NEW]) == after


@pytest.mark.parametrize(
    ("before", "others"),
    [
        ("---\naccepted:\n  - {cell: arm=b, metric: cpu, level: 3%, reason: r}\n...\n", ("r",)),
        (
            (
                "accepted:\n  - {cell: arm=b, metric: cpu, level: 3%, reason: r}\n"
                "  - cell: arm=b\n    metric: wall\n    level: 3%\n    reason: |\n      # a\n      b\n"
            ),
            ("r",),
        ),
        (
            (
                "accepted:\n  - cell: arm=b\n    metric: cpu\n    level: 3%\n    reason: |\n      a\n"
                "  - cell: arm=b\n    metric: wall\n    level: 3%\n    reason: |\n      # c\n      d\n"
            ),
            ("a\n",),
        ),
    ],
)
def test_a_list_that_cannot_be_edited_is_written_again(
    before: str, others: tuple[str, ...], plans: Plans, tmp_path: Path
) -> None:
    path = tmp_path / "accepted.yaml"
    path.write_text(with_entries(before, path, plans(TWO), [NEW]), encoding="utf-8")
    assert tuple(e.reason for e in read_accepted(path, plans(TWO))) == (*others, NEW["reason"])


@pytest.mark.parametrize("reason", ["\x7f", "\ud800", "\uffff"])
def test_a_reason_that_yaml_cannot_have_is_refused(
    reason: str, plans: Plans, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="is not allowed in YAML"):
        with_entries("", tmp_path / "accepted.yaml", plans(TWO), [NEW | {"reason": reason}])
