"""Flame graphs as SVG, and the same stacks as text for other tools.

Equal profiles give equal bytes. Callers are above the functions that they call, so that a deep graph begins with what
matters. The width of a box is the share of samples in whose stack it is (inclusive); the part of it that has no boxes
below is its self share. The graph of a difference shows two profiles: the width is the mean of both, so that functions
of one side only are visible, and the colour is the direction of the difference. Names are untrusted, because they are
symbols of the measured program. The script in the file, which zooms and searches, is constant, and without it the
graph is complete.
"""

import csv
import io
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final

from bench_framework import assets
from bench_framework.features.profile.compute import DIFFERENCE, reference_of
from bench_framework.model.record.profile import Frame, Profile, ProfileShares, SampleShare
from bench_framework.report.charts import DARK, LESS, LIGHT, MORE, SERIES
from bench_framework.report.context import ReportData
from bench_framework.report.render.widths import visible
from bench_framework.stats.portable_math import t_quantile
from bench_framework.store.columns import to_field
from bench_framework.text.write import render

WIDTH: Final = 1200.0
ROW: Final = 17
MARGIN: Final = 10.0
TOP: Final = 62
"""The height for the title, the line below it and the legend."""
CHARACTER: Final = 6.7
"""The width of a character of the monospaced font at 11 px."""
LEAST_WIDTH: Final = 0.5
"""The smallest width of a box. Narrower ones and all below them are only in folded.txt."""
LEAST_TEXT: Final = 3
LONGEST_TITLE: Final = 300
SHARED: Final = ("ground", "ink", "muted", "rule")
LEVEL: Final = 0.95
SCRIPT: Final = "flame.js"


@dataclass(slots=True)
class _Box:
    """A function in one chain of callers. `called` contains the functions that it calls.

    `sides` has the samples by run of the profile and of its reference, and `at_top` those at the place itself.
    """

    frame: Frame | None
    sides: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))
    at_top: list[int] = field(default_factory=lambda: [0, 0])
    called: dict[Frame, "_Box"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Graph:
    """The tree of one or two profiles, with the texts and colours of its boxes."""

    root: _Box
    profiles: tuple[Profile, ...]
    """The profile, and its reference in the graph of a difference."""
    unit: str
    colours: Mapping[str, str]
    """The token of each entry of the legend."""

    def weight(self, box: _Box) -> float:
        """Return the samples per run, as the sum of both sides."""
        sides = zip(box.sides, self.profiles, strict=False)
        return sum(side.total() / len(profile.runs) for side, profile in sides)

    def colour(self, box: _Box) -> str:
        """Return the token of a box: of its bucket, or of the direction of its difference."""
        if box.frame is None:
            return "user"
        if len(self.profiles) == 1:
            usual = "kernel" if box.frame.kernel else "user"
            return self.colours.get(self.profiles[0].bucket_of(box.frame), usual)
        here, there = (
            means(side, len(p.runs)) for side, p in zip(box.sides, self.profiles, strict=True)
        )
        runs = sum(len(profile.runs) for profile in self.profiles)
        distance = t_quantile(0.5 + LEVEL / 2, max(1, runs - 2)) * math.hypot(here[1], there[1])
        if abs(here[0] - there[0]) <= distance:
            return "user"
        return MORE if here[0] > there[0] else LESS

    def words(self, box: _Box) -> str:
        """Return the figures of a box."""
        if len(self.profiles) == 1:
            counts = box.sides[0].total(), box.at_top[0]
            return render("flame_box", *counts, self.profiles[0].total, self.unit)
        pairs = [
            zip(counts, self.profiles, strict=True)
            for counts in ([s.total() for s in box.sides], box.at_top)
        ]
        inclusive, at_top = ([count / len(p.runs) for count, p in pair] for pair in pairs)
        return render("flame_box_difference", inclusive, at_top, self.unit)


def means(counts: Counter[int], runs: int) -> tuple[float, float]:
    """Return the mean of a count over runs, and its standard error.

    The error is at least that of a Poisson count, because a few runs that agree by chance must not give a smaller one.
    """
    mean = counts.total() / runs
    if runs == 1:
        return mean, math.sqrt(mean)
    squares = math.fsum((counts[run] - mean) ** 2 for run in range(1, runs + 1))
    return mean, math.sqrt(max(squares / (runs - 1), mean) / runs)


def flame_svg(profile: Profile, shares: ProfileShares, label: str) -> str:
    """Return the flame graph of a profile as SVG, with the colours of its buckets."""
    colours = {bucket.name: SERIES[n % len(SERIES)] for n, bucket in enumerate(shares.buckets[:-1])}
    legend = colours | {render("flame_legend", kind): kind for kind in ("user", "kernel")}
    graph = _Graph(_tree(profile), (profile,), shares.size.unit, legend)
    about = render("flame_about", shares.size, profile.event)
    return _svg(graph, render("flame_title", label), about)


def difference_svg(profile: Profile, reference: Profile, unit: str, labels: tuple[str, str]) -> str:
    """Return the flame graph of the difference between a profile and a reference that was profiled in the same way."""
    colours = {"more": MORE, "less": LESS, "same": "user"}
    legend = {render("flame_legend", kind, labels[0]): colour for kind, colour in colours.items()}
    profiles = profile, reference
    graph = _Graph(_tree(*profiles), profiles, unit, legend)
    runs = [len(p.runs) for p in profiles]
    about = render("flame_difference_about", unit, profile.event, runs)
    return _svg(graph, render("flame_title", *labels), about)


def _svg(graph: _Graph, title: str, about: str) -> str:
    drawn = list(_boxes(graph))
    height = TOP + (max((level for _, level, _, _ in drawn), default=0) + 1) * ROW + MARGIN
    size = f"{WIDTH:.0f}", f"{height:.0f}"
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
            f'width="{size[0]}" height="{size[1]}" role="img" aria-labelledby="title about">'
        ),
        f'<title id="title">{_safe(title)}</title><desc id="about">{_safe(about)}</desc>',
        f"<style>{_style(graph.colours)}</style>",
        '<rect width="100%" height="100%" class="ground"/>',
        f'<text x="{MARGIN:.0f}" y="20" class="head">{_safe(title)}</text>',
        f'<text x="{MARGIN:.0f}" y="36" class="note">{_safe(about)}</text>',
        *_legend(graph.colours),
    ]
    lines += [_drawn(graph, box, TOP + level * ROW, x, width) for box, level, x, width in drawn]
    script = (assets.template_dir() / SCRIPT).read_text(encoding="utf-8")
    return "\n".join((*lines, f"<script><![CDATA[\n{script}]]></script>", "</svg>", ""))


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
            if (reference := reference_of(data.plan, data.profiles, profile)) is not None:
                names = [data.label(p.cell_id) for p in (profile, reference)]
                labels = names[0], f"{names[1]}{data.on_input(item, ', input ')}"
                unit = shares.size.unit
                files[f"{folder}/{DIFFERENCE}"] = difference_svg(profile, reference, unit, labels)
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


def _tree(*profiles: Profile) -> _Box:
    root = _Box(None)
    for side, profile in enumerate(profiles):
        for stack in profile.stacks:
            box = root
            box.sides[side][stack.run] += stack.count
            for place in stack.frames:
                frame = profile.frames[place]
                box = box.called.setdefault(frame, _Box(frame))
                box.sides[side][stack.run] += stack.count
            box.at_top[side] += stack.count
    return root


def _boxes(graph: _Graph) -> Iterator[tuple[_Box, int, float, float]]:
    """Yield level, position and width of boxes, callers first; stacks are too deep to recurse."""
    waiting: list[tuple[_Box, int, float, float]] = [(graph.root, 0, MARGIN, WIDTH - 2 * MARGIN)]
    while waiting:
        box, level, x, width = waiting.pop()
        yield box, level, x, width
        callees: list[tuple[_Box, int, float, float]] = []
        whole = graph.weight(box)
        for frame in sorted(box.called, key=lambda f: (f.name, f.module)):
            callee = box.called[frame]
            share = width * graph.weight(callee) / whole
            if share >= LEAST_WIDTH:
                callees.append((callee, level + 1, x, share))
            x += share
        waiting.extend(reversed(callees))


def _drawn(graph: _Graph, box: _Box, y: float, x: float, width: float) -> str:
    name = box.frame.name if box.frame else "all"
    module = f" ({box.frame.module})" if box.frame and box.frame.module else ""
    title = f"{name[:LONGEST_TITLE]}{module}: {graph.words(box)}"
    label, room, text = visible(name)[:LONGEST_TITLE], int((width - 4) / CHARACTER), ""
    if room >= LEAST_TEXT:
        fitting = label if len(label) <= room else label[: room - 1] + "…"
        text = f'<text x="{x + 2:.1f}" y="{y + 12:.1f}">{escape(fitting)}</text>'
    return (
        f'<g data-name="{escape(label)}"><title>{_safe(title)}</title><rect x="{x:.1f}" y="{y:.1f}" '
        f'width="{max(width - 0.4, 0.1):.1f}" height="{ROW - 1}" class="{graph.colour(box)}"/>{text}</g>'
    )


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    x = MARGIN
    for name, token in colours.items():
        yield f'<rect x="{x:.1f}" y="43" width="11" height="11" class="{token}"/>'
        yield f'<text x="{x + 15:.1f}" y="52" class="note">{_safe(name)}</text>'
        x += 27 + CHARACTER * len(visible(name))


def _style(colours: Mapping[str, str]) -> str:
    """Return the style sheet with both palettes. The reader's theme selects one of them."""
    used = dict.fromkeys(token for token in colours.values() if token in LIGHT)
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
        f"{boxes}g:hover rect,g:focus rect{{stroke:var(--ink);stroke-width:1}}g:focus{{outline:none}}"
        ".above rect{fill-opacity:.15}.found rect{stroke:var(--ink);stroke-width:2}g{cursor:pointer}"
        ".tools{display:flex;gap:8px;align-items:center;font:13px system-ui,sans-serif;color:var(--ink)}"
        ".tools input,.tools button{font:inherit;color:inherit;background:var(--ground);"
        "border:1px solid var(--rule);border-radius:4px;padding:3px 6px;min-width:0}"
    )


def _safe(text: str) -> str:
    return escape(visible(text))
