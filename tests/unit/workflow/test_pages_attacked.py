"""Pages that somebody changed on purpose and sealed again: what `verify` still sees, and what it says it cannot."""

from __future__ import annotations

import json
import random
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bench_framework import assets
from bench_framework.cli.app import run_command_line
from bench_framework.errors import RecordError
from bench_framework.report.render import seals
from bench_framework.report.render.html import safe_json
from bench_framework.workflow.page_verification import page_differences, verify_page
from bench_framework.workflow.pages import report_record
from bench_framework.workflow.verification import verify_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEALS = re.compile(r'<script type="application/json" id="seals">.*?</script>\n', re.DOTALL)
FINDING = '<p class="finding"'


def sealed_again(page: str) -> str:
    return seals.sealed(SEALS.sub("", page))


def swapped(page: str, pattern: str) -> str:
    """The page with the first two matches of a pattern exchanged."""
    first, second = [*re.finditer(pattern, page, re.DOTALL)][:2]
    return (
        page[: first.start()]
        + second[0]
        + page[first.end() : second.start()]
        + first[0]
        + page[second.end() :]
    )


def once(page: str, pattern: str, new: str) -> str:
    changed, count = re.subn(pattern, new, page, count=1, flags=re.DOTALL)
    assert count == 1, pattern
    return changed


FORGED = {
    "a row hidden by a style": ("</style>", "tbody tr:nth-child(2) { display: none }</style>", "the style of the page"),
    "a second style": ("</head>", "<style>.fallback { display: none }</style></head>", "2 styles"),
    "a sentence hidden by its element": (FINDING, f"{FINDING} hidden", "an attribute “hidden” of “p”"),
    "a sentence hidden by its style": (FINDING, f'{FINDING} style="opacity:0"', "an attribute “style” of “p”"),
    "a sentence moved off the page": (FINDING, '<p class="skip"', "a “p” of class “skip”"),
    "a sentence in a comment": (r"(<p class=\"finding\">.*?</p>)", r"<!--\1-->", "a comment or declaration"),
    "a script": ("</body>", "<script>document.title = 'x'</script></body>", "2 scripts"),
    "another script": (r"\"use strict\";", '"use strict"; document.title = "x";', "the script of the page"),
    "no policy": (r"<meta http-equiv[^>]*>\n", "", "0 policies"),
    "another page in its place": (
        "<title>", '<meta http-equiv="refresh" content="0;url=//x"><title>', "a header “refresh”",
    ),
    "addresses from elsewhere": ("<title>", '<base href="//x"><title>', "an element “base”"),
    "a picture": ("<main>", '<main><img src="x">', "an element “img”"),
    "a link": ("<main>", '<main><a href="javascript:x()">x</a>', "a link to “javascript:x()”"),
    "what a drawing asks for": ("</svg>", '<image href="x"/></svg>', "an element “image”"),
    "what a drawing runs": ("<text ", '<text onclick="x()" ', "an attribute “onclick” of “text”"),
    "a status": (r"(<span class=\"pill [^>]*>)[^<]*", r"\1● proven", "is not that of the title"),
    "a title": (r"<title>[^<]*", "<title>demo: fast is best", "is not that of the title"),
    "a heading": (r"<h1>[^<]*", "<h1>other", "is not heading and status"),
    "a section gone": (r"<section id=\"memory\".*?(?=<section id=)", "", "the contents are not the sections"),
    "a row gone": (r"<tr><th scope=\"row\">slow.*?(?=<tr|</tbody>)", "", "nothing in the page says it"),
    "a verdict's colour": (r"v-better\"", 'v-worse"', "has the colour of “worse”"),
    "a verdict": (r"v-better\">▼ faster", 'v-worse">▲ slower', "is no verdict of a claim"),
    "a drawn interval": (r"(<text[^>]*>0\.\d+) \[", r"\g<1>1 [", "of a drawing stands in no row"),
    "a drawn verdict": (r"(<text[^>]*>0\.\d+ \[[^<]*\]) ▼", r"\1 ▲", "of a drawing stands in no row"),
    "a second set of claims": (
        "</body>", '<script type="application/json" id="claims">{}</script></body>', "the page embeds claims",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_and_sealed_again_is_named(page: str, name: str) -> None:
    pattern, new, told = FORGED[name]
    forged = sealed_again(once(page, pattern, new))
    found = page_differences(forged)
    assert any(told in line for line in found), found
    assert not any("its seal differs" in line for line in found)
    assert page_differences(page) == []


def test_rows_that_exchange_their_names_are_named(page: str) -> None:
    table = page.index('<table id="results-1-table"')
    rest = swapped(page[table:], r'(?<=<th scope="row">)(?:fast|slow)(?=<td>)')
    found = page_differences(sealed_again(page[:table] + rest))
    assert any("is neither of its sides" in line for line in found), found


def test_sections_that_exchange_their_places_are_seen_by_the_seals_alone(page: str) -> None:
    changed = swapped(page, r'<section id="(?:memory|metrics)".*?(?=<section id=)')
    assert changed != page
    assert any("its seal differs" in line for line in page_differences(changed))
    assert any("the contents are not" in line for line in page_differences(sealed_again(changed)))


def test_what_carries_no_claim_can_be_forged_and_the_command_says_so(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a hope but the limit that docs/limits.md tells: a caption, sealed again by who changed it."""
    forged = tmp_path / "report.html"
    forged.write_text(sealed_again(once(page, "Holm-adjusted", "Bonferroni-adjusted")), encoding="utf-8")
    assert run_command_line(["verify", str(forged)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "all else was held against its seals, which whoever changes a page on purpose can write again" in told
    )


def test_a_page_that_carries_its_runs_cannot_be_forged_so(full: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    report_record(tmp_path, str(copy), formats=("html",), embed_runs=True)
    forged = tmp_path / "report.html"
    carrying = (copy / "report.html").read_text(encoding="utf-8")
    forged.write_text(sealed_again(once(carrying, "Holm-adjusted", "Bonferroni-adjusted")), encoding="utf-8")
    assert verify_page(forged).differences == ("the page is not what its runs render to",)


WEIRD: tuple[Any, ...] = (
    None, True, -1, 1e308, float("nan"), float("inf"), 10**30, "", "x", "\u202e</script>", [], {}, [[]], ["c1"],
    "{}", "0 1",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(value: Any, path: tuple[Any, ...], wanted: Any) -> Any:
    if not path:
        return wanted
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], wanted)
    return copy


def embedded(page: str, name: str) -> re.Match[str]:
    found = re.search(rf'(?<=<script type="application/json" id="{name}">).*?(?=</script>)', page, re.DOTALL)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["claims", "env", "seals"])
def test_whatever_the_embedded_data_become_is_a_difference_or_none_and_no_defect(
    page: str, name: str
) -> None:
    chance, at = random.Random(7), embedded(page, name)
    value = json.loads(at[0])
    every = [*places(value)]
    seen = 0
    for _ in range(50):
        spoilt = safe_json(put(value, chance.choice(every), chance.choice(WEIRD)))
        changed = page[: at.start()] + spoilt + page[at.end() :]
        seen += bool(page_differences(changed if name == "seals" else sealed_again(changed)))
    # Of the environment a page alone knows nothing; of the claims all but what no sentence prints.
    assert seen >= {"claims": 40, "env": 0, "seals": 50}[name]


@pytest.mark.parametrize("name", ["claims", "env", "seals"])
@pytest.mark.parametrize("text", ["[" * 100_000, "", "NaN", "[1,2", '{"form":2}', "7"])
def test_embedded_data_that_are_none_are_one_difference(page: str, name: str, text: str) -> None:
    at = embedded(page, name)
    assert len(page_differences(page[: at.start()] + text + page[at.end() :])) >= 1


def test_two_claims_of_one_number_are_named(page: str) -> None:
    at = embedded(page, "claims")
    table = json.loads(at[0])
    place = table["fields"].index("id")
    table["rows"][1][place] = table["rows"][0][place]
    found = page_differences(page[: at.start()] + safe_json(table) + page[at.end() :])
    assert "c1: several claims have this number" in found


def test_a_page_of_another_version_is_noted_and_its_script_is_not_judged(page: str, tmp_path: Path) -> None:
    older = once(page, r'"rendered_by":"[^"]*"', '"rendered_by":"0.0.9"')
    path = tmp_path / "report.html"
    path.write_text(sealed_again(once(older, "body {", "body { margin: 0;")), encoding="utf-8")
    found = verify_page(path)
    assert found.differences == ()
    assert found.notes[0].startswith("rendered by benchctl 0.0.9, and this is ")
    path.write_text(page, encoding="utf-8")
    assert verify_page(path).notes == ()


def test_a_page_of_a_users_templates_says_so_and_may_look_otherwise(full: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    own = tmp_path / "own"
    own.mkdir()
    shipped = (assets.template_dir() / "report.html.j2").read_text(encoding="utf-8")
    (own / "report.html.j2").write_text(shipped.replace("<main>", "<main><hr>"), encoding="utf-8")
    report_record(tmp_path, str(copy), template=own)
    path = tmp_path / "report.html"
    shutil.copy(copy / "report.html", path)
    found = verify_page(path)
    assert found.differences == ()
    assert "its templates are a user's" in found.notes[0]


def judged_by(full: Path, tmp_path: Path, version: str) -> Path:
    """A copy of the record whose judgement says that another version made it, with another figure."""
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    path = copy / "claims.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["benchctl"] = version
    floor = next(f for f in said["judgement"]["floors"] if f["fraction"])
    floor["fraction"] *= 1.5
    path.write_text(json.dumps(said), encoding="utf-8")
    return copy


def test_a_record_that_another_version_judged_is_not_called_damaged(full: Path, tmp_path: Path) -> None:
    found = verify_record(tmp_path, str(judged_by(full, tmp_path, "0.0.9")))
    assert any("does not follow" in line for line in found.differences)
    assert found.notes[0].startswith("judged by benchctl 0.0.9, and this is ")
    assert "no sign that somebody changed it" in found.notes[-1]


def test_what_this_version_judged_has_no_such_excuse(full: Path, tmp_path: Path) -> None:
    import bench_framework  # noqa: PLC0415 -- for its version

    found = verify_record(tmp_path, str(judged_by(full, tmp_path, bench_framework.__version__)))
    assert any("does not follow" in line for line in found.differences)
    assert found.notes == ()


def test_a_judgement_that_a_later_version_wrote_otherwise_says_which(full: Path, tmp_path: Path) -> None:
    copy = judged_by(full, tmp_path, "9.1.0")
    path = copy / "claims.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["judgement"]["status"] = "settled"
    path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(RecordError, match=r"written by benchctl 9\.1\.0, and this is") as caught:
        report_record(tmp_path, str(copy))
    assert caught.value.code == "BX412"
