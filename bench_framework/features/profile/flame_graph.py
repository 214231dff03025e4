"""A flame graph as an SVG that needs no script, and the same stacks as text for other tools.

Equal profiles give equal bytes. The width of a box is the share of samples in whose stack it is
(inclusive). The part of its width that is not covered by boxes above is its self share. Names are
untrusted, because they are symbols of the measured program.
"""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final

from bench_framework.model.profile import Frame, Profile, ProfileShares, SampleShare
from bench_framework.report.charts import DARK, LIGHT, SERIES
from bench_framework.report.context import ReportData
from bench_framework.report.render.widths import visible
from bench_framework.store.columns import to_field
from bench_framework.units import counted

WIDTH: Final = 1200.0
ROW: Final = 17
MARGIN: Final = 10.0
TOP: Final = 62
"""The height for the title, the line below it and the legend."""
CHARACTER: Final = 6.7
"""The width of a character of the monospaced font at 11 px."""
LEAST_WIDTH: Final = 0.5
"""The smallest width of a box. Narrower ones and all above them are only in folded.txt."""
LEAST_TEXT: Final = 3
LONGEST_TITLE: Final = 300
SHARED: Final = ("ground", "ink", "muted", "rule")


@dataclass(slots=True)
class _Box:
    """A function in one chain of callers. `above` contains the functions that it calls."""

    frame: Frame | None
    total: int = 0
    self_samples: int = 0
    above: dict[Frame, "_Box"] = field(default_factory=dict)


def flame_svg(profile: Profile, shares: ProfileShares, label: str) -> str:
    """Return the flame graph of a profile as SVG, with the colours of its buckets."""
    root = _tree(profile)
    colours = {bucket.name: SERIES[n % len(SERIES)] for n, bucket in enumerate(shares.buckets[:-1])}
    drawn = list(_boxes(root))
    height = TOP + (max((level for _, level, _, _ in drawn), default=0) + 1) * ROW + MARGIN
    total, unit, runs = shares.size.total, shares.size.unit, shares.size.runs
    size = f"{WIDTH:.0f}", f"{height:.0f}"
    title = f"Flame graph of {label}"
    about = (
        f"{total} {unit} of {profile.event} in {counted(runs, 'run')}; the width is "
        "the share of stacks that contain a function (inclusive), not a time that could be saved"
    )
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
            f'width="{size[0]}" height="{size[1]}" role="img" aria-labelledby="title about">'
        ),
        f'<title id="title">{_safe(title)}</title><desc id="about">{_safe(about)}</desc>',
        f"<style>{_style(colours)}</style>",
        '<rect width="100%" height="100%" class="ground"/>',
        f'<text x="{MARGIN:.0f}" y="20" class="head">{_safe(title)}</text>',
        f'<text x="{MARGIN:.0f}" y="36" class="note">{_safe(about)}</text>',
        *_legend(colours),
    ]
    for box, level, x, width in drawn:
        y = height - MARGIN - (level + 1) * ROW
        lines.append(
            _drawn(box, root.total, (x, y, width), _class(profile, box.frame, colours), unit)
        )
    return "\n".join((*lines, "</svg>", ""))


def profile_files(data: ReportData) -> dict[str, str]:
    """Return file name → text for profiles with shares, without the recorded profile."""
    by_cell = {shares.cell_id: shares for shares in data.judgement.profiles}
    files: dict[str, str] = {}
    for profile in data.profiles:
        shares = by_cell.get(profile.cell_id)
        if shares is None:
            continue
        folder = f"profiles/{profile.cell_id}"
        files[f"{folder}/folded.txt"] = folded_text(profile)
        files[f"{folder}/top.csv"] = top_csv(shares)
        if profile.unwinding is not None:
            item = data.plan.input(data.plan.cell(profile.cell_id).input_id)
            label = f"{data.label(profile.cell_id)}{data.on_input(item, ', input ')}"
            files[f"{folder}/flame.svg"] = flame_svg(profile, shares, label)
    return files


def folded_text(profile: Profile) -> str:
    """Return one line per stack: functions from the outermost, separated by ``;``, then the count.

    The format is that of Brendan Gregg's FlameGraph. A semicolon within a name becomes a colon, and
    functions of the kernel end in ``_[k]``.
    """
    counts: Counter[str] = Counter()
    for stack in profile.stacks:
        counts[";".join(_folded(profile.frames[place]) for place in stack.frames)] += stack.count
    return "".join(f"{line} {count}\n" for line, count in sorted(counts.items()))


def top_csv(shares: ProfileShares) -> str:
    """Return the functions of a profile as CSV. Shares are fractions of all samples."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    kinds = itertools.product(("self", "inclusive"), ("samples", "share", "lo", "hi"))
    columns = [f"{kind}_{what}" for kind, what in kinds]
    head = ["symbol", "module", "kernel", "bucket", *columns, "samples", "runs", "unit"]
    writer.writerow(head)
    size = shares.size
    for f in shares.functions:
        names = [to_field(visible(text)) for text in (f.frame.name, f.frame.module)]
        row = [*names, "true" if f.frame.kernel else "false", f.bucket]
        figures = (*_figures(f.own), *_figures(f.inclusive))
        writer.writerow([*row, *figures, size.total, size.runs, size.unit])
    return out.getvalue()


def _figures(part: SampleShare | None) -> tuple[float | None, ...]:
    if part is None:
        return (None,) * 4
    return part.count, part.share.value, part.share.lo, part.share.hi


def _folded(frame: Frame) -> str:
    name = visible(frame.name).replace(";", ":")
    return f"{name}_[k]" if frame.kernel else name


def _tree(profile: Profile) -> _Box:
    root = _Box(None)
    for stack in profile.stacks:
        box = root
        box.total += stack.count
        for place in stack.frames:
            frame = profile.frames[place]
            box = box.above.setdefault(frame, _Box(frame))
            box.total += stack.count
        box.self_samples += stack.count
    return root


def _boxes(root: _Box) -> Iterator[tuple[_Box, int, float, float]]:
    """Yield level, position and width of boxes, callers first; stacks are too deep to recurse."""
    waiting: list[tuple[_Box, int, float, float]] = [(root, 0, MARGIN, WIDTH - 2 * MARGIN)]
    while waiting:
        box, level, x, width = waiting.pop()
        yield box, level, x, width
        callees: list[tuple[_Box, int, float, float]] = []
        for frame in sorted(box.above, key=lambda f: (f.name, f.module)):
            above = box.above[frame]
            share = width * above.total / box.total
            if share >= LEAST_WIDTH:
                callees.append((above, level + 1, x, share))
            x += share
        waiting.extend(reversed(callees))


def _drawn(box: _Box, total: int, place: tuple[float, float, float], kind: str, unit: str) -> str:
    x, y, width = place
    name = box.frame.name if box.frame else "all"
    module = f" ({box.frame.module})" if box.frame and box.frame.module else ""
    share = f"{100 * box.total / total:.2f} % of {total} {unit} (inclusive)"
    title = f"{name[:LONGEST_TITLE]}{module}: {share}"
    if box.self_samples:
        title += f", {100 * box.self_samples / total:.2f} % at this place itself (self)"
    label, room, text = visible(name), int((width - 4) / CHARACTER), ""
    if room >= LEAST_TEXT:
        label = label if len(label) <= room else label[: room - 1] + "…"
        text = f'<text x="{x + 2:.1f}" y="{y + 12:.1f}">{escape(label)}</text>'
    return (
        f'<g><title>{_safe(title)}</title><rect x="{x:.1f}" y="{y:.1f}" '
        f'width="{max(width - 0.4, 0.1):.1f}" height="{ROW - 1}" class="{kind}"/>{text}</g>'
    )


def _class(profile: Profile, frame: Frame | None, colours: Mapping[str, str]) -> str:
    if frame is None:
        return "user"
    return colours.get(profile.bucket_of(frame), "kernel" if frame.kernel else "user")


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    x = MARGIN
    for name, token in (*colours.items(), ("other functions", "user"), ("the kernel", "kernel")):
        yield f'<rect x="{x:.1f}" y="43" width="11" height="11" class="{token}"/>'
        yield f'<text x="{x + 15:.1f}" y="52" class="note">{_safe(name)}</text>'
        x += 27 + CHARACTER * len(visible(name))


def _style(colours: Mapping[str, str]) -> str:
    """Return the style sheet with both palettes. The reader's theme selects one of them."""
    used = dict.fromkeys(colours.values())
    tokens = dict.fromkeys((*SHARED, *used, "series-6"))
    light, dark = (
        "".join(f"--{token}:{palette[token]};" for token in tokens) for palette in (LIGHT, DARK)
    )
    boxes = "".join(f".{token}{{fill:var(--{token});fill-opacity:.42}}" for token in used)
    return (
        f":root{{{light}}}@media (prefers-color-scheme: dark){{:root{{{dark}}}}}"
        "text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--ink);"
        "pointer-events:none}"
        ".head{font-weight:700;font-size:14px}.note{fill:var(--muted)}.ground{fill:var(--ground)}"
        ".user{fill:var(--series-6);fill-opacity:.22}.kernel{fill:var(--series-6);fill-opacity:.5}"
        f"{boxes}g:hover rect{{stroke:var(--ink);stroke-width:1}}"
    )


def _safe(text: str) -> str:
    return escape(visible(text))
