"""Custom templates that try to access more than their variables: each is one error."""

from pathlib import Path

import pytest

from bench_framework.errors import UsageError
from bench_framework.report.blocks import Document
from bench_framework.report.render import markdown
from bench_framework.report.render.templates import Templates, replaced


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
        ("{% include 'report.md.j2' %}", "RecursionError"),
        ("{% include '../../../../etc/hostname' %}", "TemplateNotFound"),
        ("{% include '/etc/hostname' %}", "TemplateNotFound"),
        ("{{ ''|attr('__class__') }}", "SecurityError"),
    ],
)
def test_a_template_that_leaves_its_sandbox_is_one_error(
    document: Document, tmp_path: Path, text: str, cause: str
) -> None:
    (tmp_path / "report.md.j2").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        markdown.render(document, Templates(tmp_path))
    assert caught.value.code == "BX113"
    assert str(tmp_path) in str(caught.value)
    assert cause in dict(caught.value.details)["cause"]


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
