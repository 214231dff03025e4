"""SVG of matplotlib, made small: no metadata, short ids, marks of one style together."""

import re
from typing import Final

_TAG: Final = re.compile(r"<[^>]+>")
_LOOK: Final = re.compile(r' (?:style|clip-path)="[^"]*"')
_PAIR: Final = r"(-?[\d.]+) (-?[\d.]+)"
_STROKE: Final = re.compile(rf'<path id="([^"]*)" d="M {_PAIR} L {_PAIR} ?" style="([^"]*)"/>\n?')
_USE: Final = re.compile(r'<use href="#([^"]*)" x="([^"]*)" y="([^"]*)"[^>]*/>')
_LINE: Final = re.compile(rf"M {_PAIR} L {_PAIR}")
_HATCH: Final = re.compile(
    r'<pattern id="([^"]*)"[^>]*>\s*<rect[^>]*/>\s*<path d="((?:M [^ ]+ [^ ]+ L [^ ]+ [^ ]+ ?){3,})" style=("[^"]*")'
)
_KINDS: Final = ("path", "use", "text")
_MARK: Final = re.compile(r"<(path|use|text)\b[^>]*?(?:/>|>[^<]*</text>)")
_CLIPPED: Final = re.compile(r'<g clip-path="[^"]*">')
_COMMAND: Final = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_PATH: Final = re.compile(r' d="([^"]*)"')


def trimmed(text: str, anchor: str) -> str:
    """Return a drawing without prolog, metadata and layout, with ids that are unique in a page.

    Coordinates are rounded to a tenth of a unit, which is less than a pixel at any size. `text` is
    the output of matplotlib, and every id begins with `anchor`.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    # The font is set once, at the root.
    text = re.sub(r"font: ([^\"';]*?)'DejaVu Sans'[^\";]*", _font, text)
    text = re.sub(r"font-family: 'DejaVu Sans'[^;\"]*;? ?", "", text)
    text = _ungrouped(re.sub(r'<g id="[^"]*">', "<g>", text))
    text = text.replace('xlink:href="', 'href="')
    text = text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = re.sub(r"\s*\n\s*(?=<)", "\n", text)
    text = re.sub(r" transform=\"rotate\(-0 [^\"]*\)\"", "", text)
    text = re.sub(r"\s*\n(?!<)", " ", text)
    text = re.sub(r"M (\S+ \S+) L \1(?=[ \"])", r"M\1h0", text)
    text = _TAG.sub(_shorter, _with_short_ids(_tiled(_stroked(text)), anchor)).strip()
    return _gathered(text)


def _stroked(text: str) -> str:
    """Replace markers that are one stroke, such as ticks, by strokes; a quarter of the bytes."""
    strokes: dict[str, tuple[list[float], str]] = {}

    def drop(match: re.Match[str]) -> str:
        strokes[match[1]] = ([float(number) for number in match.groups()[1:5]], match[6])
        return ""

    def place(match: re.Match[str]) -> str:
        if match[1] not in strokes:
            return match[0]
        (x0, y0, x1, y1), look = strokes[match[1]]
        x, y = float(match[2]), float(match[3])
        return f'<path d="M {x + x0:g} {y + y0:g} L {x + x1:g} {y + y1:g}" style="fill: none; {look}"/>'

    return _USE.sub(place, _STROKE.sub(drop, text))


def _tiled(text: str) -> str:
    """Replace hatches by the smallest tile that repeats. Matplotlib draws a whole inch of them."""

    def tile(match: re.Match[str]) -> str:
        lines = [[float(number) for number in line] for line in _LINE.findall(match[2])]
        step = lines[1][0] - lines[0][0]
        return (
            f'<pattern id="{match[1]}" patternUnits="userSpaceOnUse" width="{step:g}" height="{step:g}">\n'
            f'<path d="M -1 1 L 1 -1 M 0 {step:g} L {step:g} 0 '
            f'M {step - 1:g} {step + 1:g} L {step + 1:g} {step - 1:g}" style={match[3]}'
        )

    return _HATCH.sub(tile, text)


def _with_short_ids(text: str, anchor: str) -> str:
    """Replace the ids, which are digests in matplotlib, by numbers in their order."""
    ids = dict.fromkeys(re.findall(r'\bid="([^"]*)"', text))
    names = {name: f"{anchor}-{number}" for number, name in enumerate(ids, 1)}
    text = re.sub(r'\bid="([^"]*)"', lambda m: f'id="{names[m[1]]}"', text)
    return re.sub(r'(url\(#|href="#)([^)"]*)', lambda m: m[1] + names[m[2]], text)


def _ungrouped(text: str) -> str:
    """Remove groups without attributes."""
    text = re.sub(r"<g\b[^>]*/>", "", text)
    silent: list[bool] = []

    def keep(match: re.Match[str]) -> str:
        if match[0] == "</g>":
            return "" if silent.pop() else match[0]
        silent.append(match[0] == "<g>")
        return "" if silent[-1] else match[0]

    return re.sub(r"</?g\b[^>]*>", keep, text)


def _shorter(tag: re.Match[str]) -> str:
    """Return a tag with coordinates in tenths of units and without redundant spaces."""
    text = re.sub(r"(\.\d)\d+(?=[ \",)zh])", r"\1", tag[0])
    text = re.sub(r"(\d)\.0(?=[ \",)zh])", r"\1", text)
    text = re.sub(
        r'(?<= d=")[^"]*', lambda m: _straight(re.sub(r" ?([A-Za-z]) ?", r"\1", m[0]).strip()), text
    )
    return re.sub(r' style="[^"]*"', lambda m: re.sub(r"(?<=[:;]) | ?;(?=\")", "", m[0]), text)


def _straight(path: str) -> str:
    """Return a path with `H` and `V` for straight lines, which halves steps and frames."""
    if "e" in path:  # a power of ten, not a command
        return path
    commands: list[str] = []
    at: list[str] = []
    for command, values in _COMMAND.findall(path):
        to = values.split() if command in {"M", "L"} else []
        if command == "L" and at and to[0] == at[0]:
            commands.append(f"V{to[1]}")
        elif command == "L" and at and to[1] == at[1]:
            commands.append(f"H{to[0]}")
        else:
            commands.append(command + values)
        at = to
    return "".join(commands)


def _gathered(text: str) -> str:
    """Group consecutive marks by style.

    Lines come first, then markers, then text, so that no text is covered. Line styles
    are in the order of their first use. Definitions between the marks come before them.
    """
    lines: list[str] = []
    clips: list[str] = []
    defs: list[str] = []
    marks: dict[tuple[int, str], list[str]] = {}

    def end_group() -> None:
        lines.extend(["<defs>", *defs, "</defs>"] if defs else [])
        for (kind, look), same in sorted(marks.items(), key=lambda item: item[0][0]):
            if kind == 0 and "fill:none" in look:  # strokes of one style become one path
                same[:] = [
                    f'<path d="{"".join(p for mark in same for p in _PATH.findall(mark))}"/>'
                ]
            # A clip path on a marker would move with it, so that it is set on a group.
            clipped_marker = _KINDS[kind] == "use" and "clip-path" in look
            if not look:
                lines.extend(same)
            elif len(same) == 1 and not clipped_marker:
                lines.append(same[0].replace(" ", f"{look} ", 1))
            else:
                lines.extend([f"<g{look}>", *same, "</g>"])
        defs.clear()
        marks.clear()

    inside = False
    for line in text.split("\n"):
        if _CLIPPED.fullmatch(line):
            clips.append(line[2:-1])
        elif line == "</g>" and clips:
            clips.pop()
        elif line in {"<defs>", "</defs>"}:
            inside = line == "<defs>"
        elif inside:
            defs.append(line)
        elif (match := _MARK.fullmatch(line)) is not None:
            look = "".join(clips) + "".join(sorted(_LOOK.findall(line)))
            marks.setdefault((_KINDS.index(match[1]), look), []).append(_LOOK.sub("", line))
        else:
            end_group()
            lines.append(line)
    end_group()
    return "\n".join(lines)


def _font(match: re.Match[str]) -> str:
    """Return the properties of ``font: 700 12px `` without the family."""
    *weight, size = match[1].split()
    return f"font-size: {size}" + (f"; font-weight: {weight[-1]}" if weight else "")
