"""A script that applies the regular expressions of `answer` or `metrics` to the text on stdin.

Some expressions need years for one line, and Python does not interrupt a search. A process can be
killed after a time limit and by Ctrl-C.

Arguments: pairs of a key (``answer.extract``, ``answer.ignore``, or ``metrics`` and a name) and its
expression as JSON, and the file to write. For metrics, that has the different values of each first group
as lists in JSON. The script prints the name of each expression to stderr before it applies it. If nothing is
left of the text, it prints an excerpt of the text and exits with `NOTHING_LEFT`.
"""

import json
import os
import re
import sys

NOTHING_LEFT = 3
_EXCERPT = 80
"""Bytes of a text that a message quotes."""


def main() -> int:
    """Apply the expressions in their order."""
    content = sys.stdin.buffer.read()
    text = content.decode("utf-8", "surrogateescape")
    groups = []
    for key, expression in json.loads(sys.argv[1]):
        name = f"{key} ({' '.join(expression.splitlines())})\n"
        os.write(2, name.encode(errors="replace"))
        if key.startswith("metrics."):
            values = {match[1] for match in re.finditer(expression, text, re.MULTILINE)}
            groups.append([v and v.encode("utf-8", "replace").decode() for v in values])
            continue
        if key == "answer.ignore":
            text = re.sub(expression, "", text, flags=re.MULTILINE)
            continue
        matches = re.finditer(expression, text, re.MULTILINE)
        parts = ("\t".join(match.groups("")) or match[0] for match in matches)
        text = "\n".join(part for part in parts if part)
    if groups:
        text = json.dumps(groups)
    elif content.strip() and not text.strip():
        os.write(2, repr(content[:_EXCERPT]).encode())
        return NOTHING_LEFT
    with open(os.fsencode(sys.argv[2]), "wb") as file:  # noqa: PTH123 -- pathlib is slow to import
        file.write(text.encode("utf-8", "surrogateescape"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
