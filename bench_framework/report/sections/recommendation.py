"""Section "Recommendation": the variant to use, and its settings to paste."""

import json
import shlex
from pathlib import PurePath
from typing import Final

from bench_framework.model.plan import Variant, filled
from bench_framework.report.blocks import Block, Code, Fallback, Paragraph
from bench_framework.report.claim_blocks import claim_bullets, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind

MOST_BLOCKS: Final = 3
NOTHING_BETTER: Final = "No recommendation: no compared variant is shown to be better than another."
NOT_COMPARED: Final = "No recommendation: no two variants were compared on one input."


def build(data: ReportData) -> tuple[Block, ...]:
    """Return one recommendation per input, then what to paste for each recommended variant."""
    if data.plan.revisions is not None:
        return ()  # two revisions of one program are not variants to choose from
    groups = [g for item in data.plan.inputs if (g := data.best(item.id)) is not None]
    claims = data.claims("recommendation")
    if not claims or all(len(g.cell_ids) >= len(data.measured(g.input_id)) for g in groups):
        return (Fallback(NOTHING_BETTER if groups else NOT_COMPARED),)
    single = len(claims) == 1
    blocks: list[Block] = []
    blocks += [Paragraph((sentence(claims[0]),))] if single else claim_bullets(claims)
    chosen = dict.fromkeys(data.plan.cell(c.cells[0]).variant_id for c in claims)
    for variant_id in list(chosen)[:MOST_BLOCKS]:
        blocks += _pasted(data, data.plan.variant(variant_id))
    return tuple(blocks)


def _pasted(data: ReportData, variant: Variant) -> list[Code]:
    """Return the lines of Cargo.toml and other files, then the command, of a variant."""
    files, command = files_of(variant), command_of(data, variant)
    return [
        *([Code(files, "toml", f"Build {variant.label}")] if files else []),
        *([Code(command, "sh", f"Run {variant.label}")] if command else []),
    ]


_PGO = (
    "# PGO: build with RUSTFLAGS=-Cprofile-generate=DIR, run the training, then",
    "# llvm-profdata merge -o pgo.profdata DIR, and build with RUSTFLAGS=-Cprofile-use=pgo.profdata",
)


def files_of(variant: Variant) -> str:
    """Return features, profile, flags and toolchain of a variant as TOML."""
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
        if spec.dependencies:
            commands = (f"# cargo update -p {n} --precise {v}" for n, v in spec.dependencies)
            parts.append(["# Cargo.lock", *commands])
        parts += [[f"# git apply {PurePath(path).name}"] for path in spec.patches]
        if spec.pgo:
            parts.append(list(_PGO))
        if spec.revision:
            parts.append([f"# revision {_one_line(spec.revision)}"])
        if spec.registry:
            parts.append([f"# {spec.registry} {spec.version} of the registry"])
    return "\n\n".join("\n".join(part) for part in parts)


def command_of(data: ReportData, variant: Variant) -> str:
    """Return environment and command of a variant for a shell: ``LC_ALL=C tally run FILE``."""
    cell = next((c for c in data.plan.cells if c.variant_id == variant.id), None)
    if cell is None:
        return ""
    program = variant.build.bin if variant.build is not None else (data.plan.program or ("",))[0]
    names = {"bin": PurePath(program).name or "program", "input": "FILE", "tuning": "TUNING.json"}
    build = data.build_of(variant)
    preload = (
        (("LD_PRELOAD", PurePath(build.preload.path).name),) if build and build.preload else ()
    )
    env = [
        f"{_one_line(name)}={shlex.quote(_one_line(value))}"
        for name, value in (*preload, *cell.env)
    ]
    words = (filled(word, names) for word in cell.command)
    if cell.shell:
        return " ".join((*env, *map(_one_line, words)))
    return " ".join((*env, *(_one_line(shlex.quote(word)) for word in words)))


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
    "one variant per input, and how to build and run it",
    build,
    place="report",
    terminal="sentences",
)
