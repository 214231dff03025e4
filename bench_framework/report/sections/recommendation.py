"""Section "Recommendation": settings of the best group, ready to paste."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Final

from bench_framework.report.blocks import Block, Code, Fallback, Paragraph
from bench_framework.report.claim_blocks import claim_bullets, key_claim, sentence
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import BestGroup
    from bench_framework.model.plan import Variant
    from bench_framework.report.context import ReportData

MOST_BLOCKS: Final = 3
_RUN: Final = "# run"
TWO_REVISIONS: Final = (
    "Two revisions of one program are not variants to choose from: "
    "`benchctl gate` reports regressions."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the recommendations, then one code block per recommended variant."""
    if data.plan.revisions is not None:
        return (Fallback(TWO_REVISIONS),)
    groups = [
        (item, group) for item in data.plan.inputs if (group := data.best(item.id)) is not None
    ]
    if not groups:
        return (Fallback("No recommendation: no two variants were compared on one input."),)
    claims = tuple(c for c in data.claims("recommendation") if c.metric in {None, data.metric})
    if not claims:
        claims = tuple(c for item, _ in groups if (c := key_claim(data, item)) is not None)
    single = len(claims) == 1
    blocks = [Paragraph((sentence(claims[0]),))] if single else claim_bullets(claims)
    if all(len(g.cell_ids) >= len(data.measured(i.id)) for i, g in groups):
        return (
            *blocks,
            Fallback("No recommendation: no compared variant is shown to be better than another."),
        )
    return (*blocks, *_blocks(data, [group for _, group in groups]))


def _blocks(data: ReportData, groups: list[BestGroup]) -> list[Block]:
    """Return the variants that are in the most best groups. The others are listed by name."""
    scores: dict[str, list[str]] = {}
    for group in groups:
        for cell_id in group.cell_ids:
            cell = data.plan.cell(cell_id)
            scores.setdefault(cell.variant_id, []).append(
                data.on_input(data.plan.input(group.input_id), "")
            )
    ordered = sorted(scores, key=lambda v: (-len(scores[v]), _place(data, v)))
    most = len(scores[ordered[0]])
    chosen = [v for v in ordered if len(scores[v]) == most] if most == len(groups) else ordered
    blocks: list[Block] = []
    for variant_id in chosen[:MOST_BLOCKS]:
        variant = data.plan.variant(variant_id)
        where = ", ".join(name for name in scores[variant_id] if name)
        blocks.append(
            Code(
                *_pasted(data, variant),
                f"{variant.label}: in the best group{f' on {where}' if where else ''}",
            )
        )
    if len(chosen) > MOST_BLOCKS:
        rest = ", ".join(data.plan.variant(v).label for v in chosen[MOST_BLOCKS:])
        blocks.append(Fallback(f"Also in a best group: {rest}; choose by cost or simplicity."))
    return blocks


def _place(data: ReportData, variant_id: str) -> int:
    return next(i for i, v in enumerate(data.plan.variants) if v.id == variant_id)


def _pasted(data: ReportData, variant: Variant) -> tuple[str, str]:
    """Return the block and its language. A block with only a command is for a shell."""
    text = paste_block(data, variant)
    if not text.startswith(_RUN + "\n"):
        return text, "toml"
    return " \\\n  ".join(line.removeprefix("#   ") for line in text.splitlines()[1:]), "sh"


def paste_block(data: ReportData, variant: Variant) -> str:
    """Return Cargo.toml lines, flags, environment and command of a variant as TOML."""
    parts: list[list[str]] = []
    spec = variant.build
    if spec is not None:
        if spec.features or not spec.default_features:
            comment = "  # in addition to the current default" if spec.default_features else ""
            features = f"default = {_toml(list(spec.features))}{comment}"
            parts.append(["# Cargo.toml", "[features]", features])
        keys = [f"{key} = {_value(value)}" for key, value in spec.profile_keys if key]
        if keys:
            parts.append([f"[profile.{spec.profile}]", *keys])
        if spec.rustflags:
            flags = f"rustflags = {_toml(list(spec.rustflags))}"
            parts.append(["# .cargo/config.toml", "[build]", flags])
        if spec.toolchain:
            channel = f"channel = {_toml(spec.toolchain)}"
            parts.append(["# rust-toolchain.toml", "[toolchain]", channel])
        if spec.revision:
            parts.append([f"# revision {_one_line(spec.revision)}"])
    cell = next((c for c in data.plan.cells if c.variant_id == variant.id), None)
    if cell is not None:
        env = (f"{_one_line(name)}={shlex.quote(_one_line(value))}" for name, value in cell.env)
        words = _one_line(" ".join(_word(word) for word in cell.command))
        parts.append([_RUN, *(f"#   {line}" for line in (*env, words))])
    return "\n\n".join("\n".join(part) for part in parts).rstrip()


def _word(word: tuple[object, ...]) -> str:
    text = "".join(
        piece if isinstance(piece, str) else "{" + str(getattr(piece, "slot", piece)) + "}"
        for piece in word
    )
    return (
        text
        if text and not set(text) & set(" \t\n\"'`$;&|<>()*?#\\")
        else "'" + text.replace("'", "'\\''") + "'"
    )


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(text: str) -> str:
    """Return a profile key's value: numbers and booleans bare, everything else quoted."""
    return text if text in {"true", "false"} or text.isdigit() else _toml(text)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


RECOMMENDATION = SectionKind(
    "S19",
    "recommendation",
    "Recommendation",
    "the best group, ready to paste",
    build,
    place="report",
    terminal="sentences",
)
