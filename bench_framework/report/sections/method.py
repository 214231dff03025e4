"""Section "Method": schedule, families of comparisons and intervals of all tables, stated once."""

from bench_framework.model.metrics import LEAST_BYTES, PEAK_RSS
from bench_framework.model.plan.plan import Role
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Facts
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.masthead import configurations
from bench_framework.text.names import capital
from bench_framework.text.numbers import format_percent, format_size, interim_analyses
from bench_framework.text.words import server_starts
from bench_framework.units import counted


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the facts that apply to all tables."""
    looks, structure, plan = data.judgement.looks, data.judgement.structure, data.plan
    tables = (t for t in structure.contributions if t.design != "alone" or t.total is not None)
    contributions = structure.contribution_family if any(tables) else 0
    separate = ""
    if any(cell.role is Role.BOUND for cell in plan.cells):
        separate = (
            "a bound is a limit or a reference that does different work. It is not compared with the "
            "baseline."
        )
    facts = {
        "Schedule": (
            "each round measures every configuration of an input once, in a new random order; rounds "
            f"× runs {data.replication(c.id for c in plan.cells)}; {interim_analyses(looks.count)} "
            "planned before the start."
        ),
        "Configurations": f"{configurations(data)}.",
        "Server": _server(data),
        "Ratios": (
            "variant ÷ reference, paired within rounds. A ratio can differ from the quotient of two "
            "medians."
        ),
        "Intervals": (
            "95\u202f% CIs that hold for all comparisons of this record together, and allow for changes "
            f"of the machine during the record: each is that of the test{_levels(data)}, united with "
            f"{_variation(data)}. Ends are rounded outward. The ratio need not be in the middle."
        ),
        "Unstable": (
            "the ratio changed during the record: an exact test of three pairs of phases, at 1\u202f% for "
            "all comparisons together."
        ),
        "Comparisons": (
            f"{counted(looks.family, 'comparison')} with the references in one family, "
            f"Holm-adjusted, family-wise level {data.level}, margin {format_percent(data.margin)}. "
            "Pairs within the best group are adjusted separately."
        ),
        "Memory": f"{_memory(data)}.",
        "Effects": _family(structure.effect_family, "effects and interactions"),
        "Contributions": _family(contributions, "contributions"),
        "Bold": "the best group: no other variant of the same input is shown to be better.",
        "Bounds": separate,
    }
    stated = ((name, capital(text)) for name, text in facts.items() if text)
    return (Facts(tuple(stated)),)


def _server(data: ReportData) -> str:
    """Return what is measured of a server and what of its client; empty without one."""
    if (server := data.plan.server) is None:
        return ""
    return (
        f"{server_starts(server)}. The time is that of a run of the command, its client. CPU time and "
        "memory are those of the server while the client runs; CPU time is per run of the client."
    )


def _variation(data: ReportData) -> str:
    """Return the interval that contains the variation during the record."""
    looks, comparisons = data.judgement.looks, data.judgement.comparisons
    levels = sorted(
        looks.session_level(c.sessions.count, c.look) for c in comparisons if c.sessions is not None
    )
    if not levels:
        return "a jackknife of six batches of rounds"
    ends = dict.fromkeys((levels[0], levels[-1]))
    span = " to ".join(format_percent(level, digits=3) for level in ends)
    return f"that of the means of the sessions, with a level of {span}"


def _levels(data: ReportData) -> str:
    """Return the lowest and the highest level of the adjusted intervals, and those of equivalences."""
    families = {"headline", "reference"}
    levels: dict[bool, list[float]] = {False: [], True: []}
    for c in data.judgement.comparisons:
        if c.family in families and c.unadjusted and c.shown is not None:
            levels[c.verdict is Verdict.EQUIVALENT].append(c.shown.level)
    adjusted, equal = map(_span, levels.values())
    return adjusted + (f" (for an equivalence, not adjusted,{equal})" if equal else "")


def _span(levels: list[float]) -> str:
    """Return the lowest and the highest level, or nothing without any."""
    ends = dict.fromkeys((min(levels), max(levels)) if levels else ())
    span = " to ".join(format_percent(level, digits=4) for level in ends)
    return f" with a level of {span}" if span else ""


def _memory(data: ReportData) -> str:
    """Return the family of the memory comparisons (docs/method.md#memory)."""
    margin = f"margin {format_percent(data.plan.judge.margin_of(PEAK_RSS))}"
    if PEAK_RSS in data.plan.judge.metrics:
        return f"judged with the family of the results, {margin}"
    size = sum(cell.role is Role.CANDIDATE for cell in data.plan.cells)
    return (
        f"{counted(size, 'comparison')} of peak RSS (separate family), Bonferroni-adjusted, judged "
        f"once, family-wise level {data.level}, {margin}, at least {format_size(LEAST_BYTES, digits=1)}"
    )


def _family(size: int, kind: str) -> str:
    return f"{size} {kind} in a separate family, Holm-adjusted." if size else ""


METHOD = SectionKind(
    "S30",
    "method",
    "Method",
    "schedule, families of comparisons and intervals, which hold for all tables",
    build,
)
