"""Every mistake is reported at its place, and all of them at once."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bench_framework import assets
from bench_framework.errors import ScenarioError
from bench_framework.scenario import bundled
from bench_framework.scenario.checks import derived, matrix
from bench_framework.scenario.load import Scenario, load, render
from bench_framework.scenario.plan import expand
from bench_framework.text.errors import explanations
from tests.files import write_files

Loads = Callable[..., Scenario]
Refuses = Callable[..., ScenarioError]

FIXTURES = Path(__file__).parents[2] / "fixtures" / "scenarios"
AXES = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'
MISTAKES = (FIXTURES / "mistakes.txt").read_text(encoding="utf-8")
PLANS = (FIXTURES / "plans.txt").read_text(encoding="utf-8")


class Mistake(NamedTuple):
    """A scenario with « and » around what its error marks."""

    text: str
    code: str
    message: str
    fix: str


def mistakes() -> Iterator[Mistake]:
    """Return the cases of mistakes.txt."""
    for section in MISTAKES.split("\n=== ")[1:]:
        title_and_base, _, cases = section.partition("\n\n")
        base = title_and_base.partition("\n")[2] + "\n"
        pattern = r"((?:(?!  ! ).*\n)+)  ! (\w+) (.*)\n?(?:  \? (.*)\n?)?"
        for case in re.finditer(pattern, cases):
            yield Mistake(base + case[1], case[2], case[3], case[4] or "")


def test_seven_errors_are_printed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    # The worker is frozen, so that a new feature in the current one does not change the expected
    # text.
    monkeypatch.setattr(assets, "native_dir", lambda: FIXTURES / "native")
    tally = {"axes": {"io": ["read", "slurp", "mmap"]}, "flags": {"--io": "io"}}
    monkeypatch.setattr(bundled, "workers", lambda: {"tally": tally})
    monkeypatch.chdir(FIXTURES)
    with pytest.raises(ScenarioError) as caught:
        load(Path("seven_errors.yaml"))
    assert render(caught.value) == (FIXTURES / "seven_errors.txt").read_text(
        encoding="utf-8"
    ).rstrip("\n")


@pytest.mark.parametrize("mistake", list(mistakes()), ids=lambda mistake: mistake.message[:60])
def test_one_mistake_is_one_error_at_its_place(
    mistake: Mistake, refuses: Refuses, tmp_path: Path
) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "a.txt").write_text("a\n")
    error = refuses(re.sub("[«»]", "", mistake.text), head="")
    (problem,) = error.problems
    assert (problem.code, problem.message) == (mistake.code, mistake.message)
    assert (problem.fix or "").startswith(mistake.fix)
    assert problem.at is not None
    assert problem.file is not None
    lines = error.sources[problem.file].split("\n")
    line, start = lines[problem.at.line - 1], problem.at.column - 1
    end = start + problem.at.length
    lines[problem.at.line - 1] = f"{line[:start]}«{line[start:end]}»{line[end:]}"
    assert "\n".join(lines) == mistake.text


def test_a_later_version_is_not_judged_any_further(refuses: Refuses) -> None:
    (problem,) = refuses("whatever: [1, 2]\n", head="version: 2\n").problems
    assert problem.code == "BC110"


@pytest.mark.parametrize(
    "given", [{"size": "9" * 400 + "B"}, {"size": "1MB", "seed": "0" * 5000}, {"size": "1EB"}]
)
def test_numbers_of_an_input_without_an_end_are_refused(
    given: dict[str, str], refuses: Refuses
) -> None:
    keys = {"dataset": "prose", "size": "{arm}", "seed": "1"} | given
    (problem,) = refuses(
        'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}", "{input}"]\nbaseline: {arm: a}\n'
        f"input: {json.dumps(keys)}\n"
    ).problems
    assert problem.code in {"BC102", "BC105"}


def test_all_missing_keys_are_reported_at_once(refuses: Refuses) -> None:
    assert [p.message for p in refuses("about: x\n", head="").problems] == [
        f"`{key}` is missing" for key in ("version", "name", "question", "worker")
    ]


def test_more_than_twenty_errors_are_counted(refuses: Refuses) -> None:
    text = render(refuses(AXES + "".join(f"k{i}: 1\n" for i in range(25))))
    assert text.count("error[") == 20
    assert text.endswith("\n\nand 5 more\n\n25 errors in 1 file. Nothing was built or run.")


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        expected = ("BC003", f"there is no file `{tmp_path / 'no.yaml'}`")
        assert self.only(tmp_path / "no.yaml") == expected

    def test_a_similar_name_in_the_folder_is_suggested(self, tmp_path: Path) -> None:
        (tmp_path / "sort.yaml").write_text("version: 1\n")
        with pytest.raises(ScenarioError) as caught:
            load(tmp_path / "sort.yml")
        assert caught.value.problems[0].fix == f"did you mean `{tmp_path / 'sort.yaml'}`?"

    def test_a_file_in_a_folder_below_is_suggested(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_files(tmp_path, {"bench/sort.yaml": "worker: {}"})
        monkeypatch.chdir(tmp_path)
        for name in ("sort.yaml", "bench/srt.yaml", "results/sort.yml"):
            with pytest.raises(ScenarioError) as caught:
                load(Path(name))
            assert caught.value.problems[0].fix == "did you mean `bench/sort.yaml`?"

    def test_a_folder(self, tmp_path: Path) -> None:
        assert self.only(tmp_path) == ("BC003", f"`{tmp_path}` is a folder")

    def test_a_device(self) -> None:
        assert self.only(Path("/dev/null")) == ("BC003", "`/dev/null` is not a regular file")

    @pytest.mark.parametrize(
        ("content", "code", "message"),
        [
            (b"", "BC005", "the file is empty"),
            (b"# nothing\n", "BC005", "the file is empty"),
            ("version: 1".encode("utf-16"), "BC004", "the file is UTF-16"),
            (b"a: 1\nb: \xff", "BC004", "the file is not UTF-8: byte 0xff in line 2"),
            (b"\xef\xbb\xbfversion: 1", "BC004", "the file is UTF-8 with a byte order mark"),
            pytest.param(
                b"#" * (1 << 20) + b"##",
                "BC006",
                "the file is larger than 1024 KiB",
                id="too large",
            ),
            pytest.param(
                b"#" + "é".encode() * (1 << 19),
                "BC006",
                "the file is larger than 1024 KiB",
                id="too large in bytes, not in characters",
            ),
            (b"a: &a [*a]", "BC001", "an alias refers to a value that contains it"),
            pytest.param(b"[" * 1000, "BC006", "the document is nested too deeply", id="nested"),
            (b"- a\n- b\n", "BC102", "a scenario must be a mapping of keys"),
        ],
    )
    def test_unreadable_content(
        self, content: bytes, code: str, message: str, tmp_path: Path
    ) -> None:
        assert self.written(tmp_path, content) == (code, message)

    def test_a_billion_laughs(self, tmp_path: Path) -> None:
        rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
        for this, last in zip("bcdefghi", "abcdefgh", strict=True):
            rows.append(f"{this}: &{this} [{', '.join([f'*{last}'] * 9)}]")
        code, message = self.written(tmp_path, "\n".join(rows).encode())
        assert code == "BC006"
        assert "20000 values" in message

    def written(self, folder: Path, content: bytes) -> tuple[str, str]:
        path = folder / "s.yaml"
        path.write_bytes(content)
        return self.only(path)

    def only(self, path: Path) -> tuple[str, str]:
        with pytest.raises(ScenarioError) as caught:
            load(path)
        (problem,) = caught.value.problems
        assert render(caught.value).endswith("1 error in 1 file. Nothing was built or run.")
        return problem.code, problem.message


def test_every_code_is_shown_by_a_test_of_this_layer() -> None:
    paths = Path(__file__).parent.glob("test_scenario_*.py")
    tests = "".join(path.read_text(encoding="utf-8") for path in paths)
    examples = {*re.findall(r'"(BC\d+)"', tests), *(mistake.code for mistake in mistakes())}
    examples |= {*re.findall(r"^! (BC\d+)", PLANS, re.MULTILINE)}
    assert {code for code, text in explanations().items() if len(text) > 1} <= examples


def test_a_valid_scenario_has_no_errors(loads: Loads) -> None:
    assert expand(loads(AXES)).name == "n"


class TestFollowingErrors:
    """Errors that only follow from a reported mistake are not reported."""

    def test_names_of_what_was_left_out(self, refuses: Refuses) -> None:
        error = refuses(
            "axes: {arm: [a, b], leg: oops, toe: {x: [1], y: {}}}\n"
            'command: ["{bin}", "{arm}{leg}{toe}"]\nbaseline: {arm: a, leg: c, toe: x}\n'
            "exclude: {leg: d}\nexperiments: [{name: i, change: {leg: e}}]\nstdin: '{input}'\ninput: [1]"
        )
        assert [problem.message for problem in error.problems] == [
            '`axes.leg` must be a list, got the text "oops"',
            "`axes.toe.x` must be a mapping, got a list",
            "`input` must be a mapping, got a list",
        ]

    def test_other_mistakes_are_still_reported(self, refuses: Refuses) -> None:
        error = refuses(AXES.replace("{arm}", "{amr}") + "measure: {warmpu: 3}\njudge: [wal]")
        assert [problem.code for problem in error.problems] == ["BC109", "BC101", "BC206"]


def test_the_fixture_of_every_key_loads_and_uses_every_key() -> None:
    scenario = load(FIXTURES / "every_key.yaml")
    # `server` excludes other keys; test_scenario_server.py has each of its own.
    assert scenario.spec.model_fields_set == set(type(scenario.spec).model_fields) - {"server"}
    assert len(expand(scenario).cells) == 8


def test_a_product_that_is_too_large_is_not_expanded(
    refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (derived, matrix):
        monkeypatch.setattr(module, "combine", lambda _: pytest.fail("the product was expanded"))
    values = ", ".join(f"v{n}" for n in range(8))
    axes = "".join(f"  a{n}: [{values}]\n" for n in range(12))
    words = ", ".join(f'"{{a{n}}}"' for n in range(12))
    baseline = ", ".join(f"a{n}: v0" for n in range(12))
    error = refuses(f'axes:\n{axes}command: ["{{bin}}", {words}]\nbaseline: {{{baseline}}}\n')
    assert [(p.code, p.message.partition(":")[0]) for p in error.problems] == [
        ("BC203", "too many combinations")
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fifo", "is not a regular file"),
        ("/dev/null", "is not a regular file"),
        ("x" * 5000, "cannot be read: File name too long"),
    ],
)
def test_an_input_that_is_not_a_file_is_named(
    refuses: Refuses, tmp_path: Path, name: str, words: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    [problem] = refuses(f"{AXES}input: {{file: {name}}}\n").problems
    assert problem.code == "BC404"
    assert problem.message.endswith(words)
