"""Build the pages of the repository as a website: ``python docs/site.py OUT``.

The pages keep their paths, so the links of GitHub are those of the site. Pages outside of docs/ and other files are
copied if a page links to them. A broken link or anchor, and an asset of another host, is an error.
"""

import re
import shutil
import subprocess  # noqa: TID251 -- the rule is for the package
import sys
import tempfile
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_LINK: Final = re.compile(
    r"\]\(([^)\s#]+)|^\[[^\]]+\]: (\S+)|<(?:img|source)[^>]* src(?:set)?=\"([^\"]+)\"", re.MULTILINE
)
_FOREIGN: Final = re.compile(
    r"<(?:script|img|link)[^>]*(?:src|href)=\"?(?:https?:)?//[^\s>]*", re.IGNORECASE
)


def linked_files() -> set[Path]:
    """Return README.md, the pages of docs/, and every file to which they link, directly or not."""
    waiting = [_ROOT / "README.md", _ROOT / "SECURITY.md", *(_ROOT / "docs").rglob("*.md")]
    files: set[Path] = {_ROOT / "docs" / "site.css"}
    while waiting:
        file = waiting.pop()
        if file in files or not file.is_file():
            continue
        files.add(file)
        if file.suffix == ".md":
            links = (next(filter(None, m)) for m in _LINK.findall(file.read_text(encoding="utf-8")))
            waiting += [(file.parent / link).resolve() for link in links if ":" not in link]
    return files


def _tables(text: str) -> str:
    """Return a page without the backslash that GitHub needs before a bar in code of a table, and that MkDocs prints."""
    return re.sub(r"`[^`\n]+`", lambda code: code[0].replace("\\|", "|"), text)


def build(out: Path) -> None:
    """Build the site. Raises `CalledProcessError`: a link is broken; `SystemExit`: an asset is foreign."""
    with tempfile.TemporaryDirectory() as folder:
        for file in linked_files():
            copy = Path(folder, "pages", file.relative_to(_ROOT))
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                copy.write_text(_tables(file.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                shutil.copy(file, copy)
        config = shutil.copy(_ROOT / "docs" / "mkdocs.yml", folder)
        call = [sys.executable, "-m", "mkdocs", "build", "--config-file", config]
        subprocess.run([*call, "--site-dir", str(out.resolve())], check=True)  # noqa: S603
    pages = ((page, page.read_text(encoding="utf-8")) for page in out.rglob("*.html"))
    foreign = [f"{page}: {tag}" for page, text in pages for tag in _FOREIGN.findall(text)]
    if foreign:
        sys.exit("\n".join(foreign))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
