"""Custom templates: their variables are the documented ones, and a broken template is one error."""

import re
from pathlib import Path

import pytest

from bench_framework.errors import UsageError
from bench_framework.features.document import build_document
from bench_framework.report.blocks import Block, Document
from bench_framework.report.context import ReportData
from bench_framework.report.render import html, markdown
from bench_framework.report.render.templates import (
    CONTEXT_VERSION,
    REPLACEABLE,
    Templates,
    replaced,
)
from tests.build import require

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "templates.md"


def part(title: str) -> str:
    """Return the text of the documentation below a heading."""
    return PAGE.read_text(encoding="utf-8").split(f"# {title}\n")[1].split("\n#")[0]


def names(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def filters(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text.split("Filters:")[1]))


def test_the_variables_of_the_page_are_documented(document: Document, data: ReportData) -> None:
    given = html.context(document, Templates(), {}, html.environment_of(data))
    text = part("`report.html.j2`, `appendix.html.j2`")
    assert names(text) == list(given)
    assert filters(text) == set(html.FILTERS)
    fields = require(re.search(r"\| `document` \| the report: (.*) \|", text))
    assert re.findall(r"`(\w+)`", fields[1]) == list(type(document).__slots__)


def test_the_variables_of_the_markdown_are_documented(document: Document) -> None:
    text = part("`report.md.j2`, `appendix.md.j2`")
    assert names(text) == list(markdown.context(document))
    assert filters(text) == set(markdown.FILTERS)


def test_the_documentation_names_version_files_and_kinds_of_blocks() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"This is version {CONTEXT_VERSION} of the variables" in text
    assert set(names(text.split("## Variables")[0])) == set(REPLACEABLE)
    kinds = {kind.kind for kind in Block.__subclasses__()}
    assert kinds <= set(re.findall(r"`(\w+)`", part("Sections and blocks")))


def test_one_file_replaces_one_template(
    document: Document, data: ReportData, tmp_path: Path
) -> None:
    (tmp_path / "report.css").write_text("body { color: teal }\n", encoding="utf-8")
    custom = Templates(tmp_path)
    assert "<style>\nbody { color: teal }\n</style>" in html.render(document, data, custom, {})
    assert markdown.render(document, custom) == markdown.render(document, Templates())
    assert replaced(tmp_path) == ("report.css",)
    (tmp_path / "report.md.j2").write_text(
        "{{ context_version }} {{ document.title }}", encoding="utf-8"
    )
    assert markdown.render(document, custom) == "2 search-matrix\n"


def test_a_shipped_template_is_compiled_once(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = markdown.render(document, Templates())
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_, **__: pytest.fail("compiled"))
    assert markdown.render(document, Templates()) == first


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("one\n{% if %}\n", 2, "TemplateSyntaxError"),
        ("one\ntwo\n{{ gone }}\n", 3, "UndefinedError: 'gone' is undefined"),
        ("{{ document.title }}\n{{ document.gone }}\n", 2, "no attribute 'gone'"),
        ("{{ 1 / 0 }}", 1, "ZeroDivisionError"),
        ("{{ document.__class__.__mro__ }}", 1, "SecurityError"),
        ("\n{% include 'missing.j2' %}", 2, "TemplateNotFound"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", 1, "RecursionError"),
        ("{% include 'report.md.j2' %}", 1, "RecursionError"),
        ("{% include '../../../../etc/hostname' %}", 1, "TemplateNotFound"),
        ("{% include '/etc/hostname' %}", 1, "TemplateNotFound"),
        ("{{ ''|attr('__class__') }}", 1, "SecurityError"),
    ],
)
def test_a_broken_template_is_one_error_with_its_line(
    document: Document, tmp_path: Path, text: str, line: int, cause: str
) -> None:
    path = tmp_path / "report.md.j2"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        markdown.render(document, Templates(tmp_path))
    assert caught.value.code == "BX113"
    assert str(caught.value) == f"the template {path}:{line} cannot be used"
    assert cause in dict(caught.value.details)["cause"]
    assert "nothing was written" in str(caught.value.effect)


def test_a_style_that_is_not_utf8_is_the_same_error(data: ReportData, tmp_path: Path) -> None:
    (tmp_path / "report.css").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"report\.css cannot be used"):
        html.render(build_document(data), data, Templates(tmp_path), {})


def test_an_internal_error_is_not_reported_as_an_error_of_the_user(
    document: Document, tmp_path: Path
) -> None:
    (tmp_path / "report.css").write_text("", encoding="utf-8")
    custom = Templates(tmp_path)
    with pytest.raises(ZeroDivisionError):
        custom.render("report.md.j2", markdown.context(document), markdown.FILTERS, lambda _: 1 / 0)


def test_a_folder_that_replaces_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("a page is no template", encoding="utf-8")
    with pytest.raises(UsageError, match="replaces no template") as caught:
        replaced(tmp_path)
    assert "report.html.j2" in str(caught.value.fix)
    with pytest.raises(UsageError, match="does not exist"):
        replaced(tmp_path / "gone")
    with pytest.raises(UsageError, match=r"/report\.html is not a folder") as caught:
        replaced(tmp_path / "report.html")
    assert str(caught.value.fix).startswith("name a folder that contains one of report.html.j2, ")


@pytest.mark.parametrize("name", ["report.css", "partials"])
def test_a_link_that_leads_out_of_the_folder_is_refused(
    document: Document, tmp_path: Path, name: str
) -> None:
    secret, custom = tmp_path / "secret", tmp_path / "own"
    secret.mkdir()
    custom.mkdir()
    (secret / "passwd").write_text("root", encoding="utf-8")
    (custom / "report.md.j2").write_text("{% include 'partials/passwd' %}", encoding="utf-8")
    (custom / name).symlink_to(secret if name == "partials" else secret / "passwd")
    for attempt in (lambda: replaced(custom), lambda: markdown.render(document, Templates(custom))):
        with pytest.raises(UsageError) as caught:
            attempt()
        assert "points outside" in str(dict(caught.value.details)["cause"])


def test_a_link_within_the_folder_is_permitted(document: Document, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("{{ document.title }}", encoding="utf-8")
    (tmp_path / "report.md.j2").symlink_to("mine.txt")
    assert replaced(tmp_path) == ("report.md.j2",)
    assert markdown.render(document, Templates(tmp_path)) == f"{document.title}\n"
