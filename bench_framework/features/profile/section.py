"""Section "Profile": functions by share of samples, which is not a possible saving."""

from typing import Final

from bench_framework.features.profile.compute import DIFFERENCE, reference_of
from bench_framework.model.facts import Claim, ProfileShare
from bench_framework.model.record.profile import Profile, ProfileShares, SampleShare
from bench_framework.report.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Fallback,
    Heading,
    KeyFinding,
    Links,
    Row,
    Table,
)
from bench_framework.report.claim_blocks import claim_bullets, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import CI
from bench_framework.text.names import capital, closed
from bench_framework.text.numbers import DASH, fixed, show_plain
from bench_framework.units import counted

MOST_ROWS: Final = 15
MOST_DECIMALS: Final = 2
FAILED: Final = ("BX350", "BX352")
_CALLERS: Final = {
    "frame-pointers": "by frame pointers; callers of code without frame pointers are missing",
    "dwarf": "by unwinding a copy of the stack (DWARF); frames deeper than the copy are missing",
}


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the profile of each cell, then the buckets compared with the baseline."""
    blocks: list[Block] = []
    by_cell = {shares.cell_id: shares for shares in data.judgement.profiles}
    for number, profile in enumerate(data.profiles, start=1):
        if (shares := by_cell.get(profile.cell_id)) is not None:
            blocks += _cell(data, profile, shares, number)
    if not blocks:
        return ()
    if changes := claim_bullets(data.claims("profile-before-after")):
        blocks += [Heading("Buckets compared with the baseline", "profile-before-after"), *changes]
    return (*blocks, *map(Fallback, _failures(data)))


def missing(data: ReportData) -> str:
    """Return why there is no profile."""
    return " ".join(_failures(data)).rstrip(".") or "no profile was recorded"


def _failures(data: ReportData) -> tuple[str, ...]:
    messages = (event.message for event in data.contents.events if event.code in FAILED)
    return tuple(dict.fromkeys(closed(capital(text)) for text in messages))


def _cell(data: ReportData, profile: Profile, shares: ProfileShares, number: int) -> list[Block]:
    cell = data.plan.cell(profile.cell_id)
    item = data.plan.input(cell.input_id)
    label = data.label(cell.id)
    blocks: list[Block] = [
        Heading(f"{label}{data.on_input(item, ', input ')}", f"profile-{number}")
    ]
    functions, buckets, few = (
        [c for c in data.claims(f"profile-{kind}") if c.cells == (cell.id,)]
        for kind in ("function", "bucket", "few")
    )
    if shares.enough:
        blocks.append(_functions(shares, label, functions, number))
        blocks += [KeyFinding(sentence(claim)) for claim in functions[:1]]
    if shares.buckets:
        blocks.append(_buckets(shares, label, buckets, number))
    blocks += [*claim_bullets(few), Facts(_facts(profile))]
    folder = f"profiles/{cell.id}"
    files = [("stacks", f"{folder}/folded.txt"), ("functions", f"{folder}/top.csv")]
    if profile.unwinding is not None:
        files.insert(0, ("flame graph", f"{folder}/flame.svg"))
        if (reference := reference_of(data.plan, data.profiles, profile)) is not None:
            name = f"flame graph of the difference from {data.label(reference.cell_id)}"
            files.insert(1, (name, f"{folder}/{DIFFERENCE}"))
    return [*blocks, Links(tuple(files))]


def _functions(shares: ProfileShares, label: str, claims: list[Claim], number: int) -> Table:
    claim_ids = {c.fact.name: c.id for c in claims if isinstance(c.fact, ProfileShare)}
    rows = tuple(
        Row.build(
            Cell(f.frame.name, code=True),
            *_share(f.own, claim_ids.get(f.frame.name)),
            *_share(f.inclusive),
            *_counts(f.own, shares),
            "kernel" if f.frame.kernel else f.frame.module or DASH,
            *((Cell(f.bucket),) if shares.buckets else ()),
        )
        for f in shares.functions[:MOST_ROWS]
    )
    columns = (
        Column("Symbol"),
        Column("Self %", "decimal"),
        Column(CI, drop=2),
        Column("Inclusive %", "decimal"),
        Column(CI, drop=3),
        Column(f"{capital(shares.size.unit)}, self", "right", drop=1),
        Column("Runs", "right"),
        Column("In", drop=4),
        *((Column("Bucket", drop=5),) if shares.buckets else ()),
    )
    caption = (
        f"Functions of {label} by their self share of {shares.size.total} {shares.size.unit} "
        f"({shares.event}) in {counted(shares.size.runs, 'run')}. Self: the function itself was "
        "running. Inclusive: the function or a function that it called was running. "
        f"{_interval_words(shares)}"
    )
    legend = (
        "A share of the samples is not a possible saving. Only self shares may be added up.",
        "If two intervals overlap, the order of the two functions is inconclusive.",
        "Samples of an inlined function count for the function that it was inlined into.",
    )
    return Table(f"profile-{number}-functions", caption, columns, rows, legend)


def _buckets(shares: ProfileShares, label: str, claims: list[Claim], number: int) -> Table:
    claim_ids = {c.fact.name: c.id for c in claims if isinstance(c.fact, ProfileShare)}
    rows = tuple(
        Row.build(b.name, *_share(b.own, claim_ids.get(b.name)), *_counts(b.own, shares))
        for b in shares.buckets
    )
    columns = (
        Column("Bucket"),
        Column("Self %", "decimal"),
        Column(CI, drop=2),
        Column(f"{capital(shares.size.unit)}, self", "right", drop=1),
        Column("Runs", "right"),
    )
    caption = (
        f"The same {shares.size.unit} of {label} by bucket: the first pattern of the scenario that "
        f"matches a function's name; “other” contains the rest. {_interval_words(shares)}"
    )
    return Table(f"profile-{number}-buckets", caption, columns, rows, sortable=False)


def _counts(part: SampleShare, shares: ProfileShares) -> tuple[Cell, Cell]:
    return Cell(str(part.count), part.count), Cell(str(shares.size.runs), shares.size.runs)


def _share(part: SampleShare | None, claim: str | None = None) -> tuple[Cell, Cell]:
    if part is None:
        return Cell(DASH), Cell("")
    share = part.share
    if share.lo is None or share.hi is None:
        return Cell(fixed(share.value * 100, MOST_DECIMALS), share.value, claim), Cell("")
    figure = show_plain(share.value * 100, share.lo * 100, share.hi * 100, most=MOST_DECIMALS)
    return Cell(figure.estimate, share.value, claim), Cell(figure.bounds, share.lo)


def _interval_words(shares: ProfileShares) -> str:
    if shares.size.unit == "instructions":
        return "Counted, not sampled: no interval."
    over = "runs" if shares.size.runs > 1 else "the samples of one run"
    return f"95 % CIs are over {over}."


def _facts(profile: Profile) -> tuple[tuple[str, str], ...]:
    digests = (profile.measured_sha256, profile.profiled_sha256)
    measured, profiled = ((digest or DASH)[:16] for digest in digests)
    binary = f"the measured binary ({measured})"
    if measured != profiled:
        binary = f"a build with symbols ({profiled}), not the measured binary ({measured})"
    each = ", ".join(map(str, profile.runs))
    unknown = "unknown: no inclusive shares, no flame graph"
    lost = (("Lost", f"the kernel dropped {profile.lost} samples"),) if profile.lost else ()
    return (
        ("Sampled by", _sampler(profile)),
        ("Binary", binary),
        ("Runs", f"{len(profile.runs)} of {profile.runs_asked}, untimed; {each}"),
        ("Callers", _CALLERS.get(str(profile.unwinding), unknown)),
        *lost,
        *(("Remark", closed(text)) for text in profile.remarks),
    )


def _sampler(profile: Profile) -> str:
    if profile.frequency_hz is None:
        what = "instructions of the program, without the kernel and without waiting"
        return f"{profile.tool}: {what}"
    user_only = profile.event.partition(":")[2].startswith("u")
    kernel = "; without functions of the kernel" if user_only else ""
    return f"{profile.tool}, event {profile.event}, {profile.frequency_hz} Hz{kernel}"


PROFILE = SectionKind(
    "S15",
    "profile",
    "Profile and remaining bottlenecks",
    "functions by their share of the samples",
    build,
    missing,
)
