"""Templates that want more than a page needs: each is one error, and nothing else happens."""

from __future__ import annotations

import functools
import resource
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from bench_framework.errors import UsageError
from bench_framework.report.render import bounds, markdown, templates
from bench_framework.report.render.templates import Templates, replaced

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.report import Document

LOOP = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3


@pytest.fixture
def shipped(templates: Path) -> Path:
    return templates


def refused(document: Document, shipped: Path, own: Path, text: str) -> str:
    (own / "report.md.j2").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        markdown.render(document, Templates(shipped, own))
    assert caught.value.code == "BX113"
    assert str(own) in str(caught.value)
    return str(dict(caught.value.details)["cause"])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{{ 'x' * 10000000000 }}", "multiplied too often"),
        ("{{ 10 ** 10000000 }}", "power is too large"),
        (
            "{% set n = namespace(x=9) %}{% for i in range(64) %}{% set n.x = n.x * n.x %}{% endfor %}",
            "product is too",
        ),
        ("{{ '%9999999999s' % 'x' }}", "a text is no number"),
        ("{{ 'x'|center(10000000000) }}", "MemoryError"),
        ("{{ '{:9999999999}'.format('x') }}", "MemoryError"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
        ("{% include 'report.md.j2' %}", "RecursionError"),
        ("{% include '../../../../etc/hostname' %}", "TemplateNotFound"),
        ("{% include '/etc/hostname' %}", "TemplateNotFound"),
        ("{{ ''|attr('__class__') }}", "SecurityError"),
    ],
)
def test_a_template_that_takes_too_much_is_one_error(
    document: Document, shipped: Path, tmp_path: Path, text: str, cause: str
) -> None:
    limit, handler = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGVTALRM)
    assert cause in refused(document, shipped, tmp_path, text)
    assert resource.getrlimit(resource.RLIMIT_AS) == limit
    assert signal.getsignal(signal.SIGVTALRM) == handler
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_a_template_that_never_ends_is_stopped(
    document: Document, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templates, "bounded", functools.partial(bounds.bounded, seconds=0.1))
    assert "more than 0.1 s of processor time" in refused(document, shipped, tmp_path, LOOP)


def test_small_products_are_what_they_are(document: Document, shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "report.md.j2").write_text(
        "{{ '-' * 3 }}{{ 2 * 3 }}{{ 2 ** 10 }}{{ 7 % 4 }}{{ 1.5 * 2 }}", encoding="utf-8"
    )
    assert markdown.render(document, Templates(shipped, tmp_path)) == "---6102433.0\n"


def test_where_nothing_can_be_stopped_nothing_is_begun(
    document: Document, shipped: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.md.j2").write_text("x", encoding="utf-8")
    caught: list[UsageError] = []

    def render() -> None:
        try:
            markdown.render(document, Templates(shipped, tmp_path))
        except UsageError as error:
            caught.append(error)

    thread = threading.Thread(target=render)
    thread.start()
    thread.join()
    assert "main thread" in str(dict(caught[0].details)["cause"])


@pytest.mark.parametrize("name", ["report.css", "partials"])
def test_a_link_that_leads_out_of_the_folder_is_refused(
    document: Document, shipped: Path, tmp_path: Path, name: str
) -> None:
    secret, own = tmp_path / "secret", tmp_path / "own"
    secret.mkdir()
    own.mkdir()
    (secret / "passwd").write_text("root", encoding="utf-8")
    (own / "report.md.j2").write_text("{% include 'partials/passwd' %}", encoding="utf-8")
    (own / name).symlink_to(secret if name == "partials" else secret / "passwd")
    for attempt in (lambda: replaced(own), lambda: markdown.render(document, Templates(shipped, own))):
        with pytest.raises(UsageError) as caught:
            attempt()
        assert "leads out of" in str(dict(caught.value.details)["cause"])


def test_a_link_within_the_folder_is_a_file_like_any(
    document: Document, shipped: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("{{ document.title }}", encoding="utf-8")
    (tmp_path / "report.md.j2").symlink_to("mine.txt")
    assert replaced(tmp_path) == ("report.md.j2",)
    assert markdown.render(document, Templates(shipped, tmp_path)) == f"{document.title}\n"
