"""Section "Reproduce": settings to paste, and commands."""

import json
import shlex
from pathlib import PurePath
from typing import Final

from bench_framework.model.plan.arguments import TUNING, filled
from bench_framework.model.plan.plan import Variant
from bench_framework.report.blocks import Block, Code
from bench_framework.report.claim_blocks import leading_input, recommended
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind

MOST_BLOCKS: Final = 3
TUNING_FILE: Final = "TUNING.json"
"""File for the output of the tuning command, which the command of a variant reads."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return what to paste for each recommended variant, and the commands that repeat the record."""
    blocks: list[Block] = []
    chosen = dict.fromkeys(data.plan.cell(c.cells[0]).variant_id for c in recommended(data))
    for variant in map(data.plan.variant, list(chosen)[:MOST_BLOCKS]):
        files, command = files_of(variant), command_of(data, variant)
        blocks += [Code(files, "toml", f"Build {variant.label}")] if files else []
        blocks += [Code(command, "sh", f"Run {variant.label}")] if command else []
    commands = data.commands or (f"benchctl run {data.plan.name}",)
    return (*blocks, Code("\n".join(commands), "sh", "Measure again" if blocks else ""))


_PGO = (
    "# PGO: build with RUSTFLAGS=-Cprofile-generate=DIR, run the training, then",
    "# llvm-profdata merge -o pgo.profdata DIR, and build with RUSTFLAGS=-Cprofile-use=pgo.profdata",
)


def files_of(variant: Variant) -> str:
    """Return features, profile, flags and toolchain of a variant as TOML."""
    parts: list[list[str]] = []
    if (spec := variant.build) is not None:
        if spec.features or not spec.default_features:
            comment = "  # in addition to the current default" if spec.default_features else ""
            features = f"default = {_toml(list(spec.features))}{comment}"
            parts.append(
                [f"# Cargo.toml of {_one_line(spec.package or spec.bin)}", "[features]", features]
            )
        keys = [
            # Numbers and booleans have no quotes.
            f"{key} = {text if text in {'true', 'false'} or text.isdigit() else _toml(text)}"
            for key, text in spec.profile_keys
            if key
        ]
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
            parts.append([f"# cargo install {spec.registry} --version {spec.version}"])
    return "\n\n".join("\n".join(part) for part in parts)


def command_of(data: ReportData, variant: Variant) -> str:
    """Return environment and command of a variant for a shell: ``LC_ALL=C tally run FILE``.

    If it reads the output of the tuning command, the tuning command is the line before.
    """
    cells = [cell for cell in data.plan.cells if cell.variant_id == variant.id]
    if not cells:
        return ""
    leading = leading_input(data)
    cell = next((c for c in cells if leading is not None and c.input_id == leading.id), cells[0])
    program = variant.build.bin if variant.build is not None else (data.plan.program or ("",))[0]
    names = {"bin": PurePath(program).name or "program", "input": "FILE", "tuning": TUNING_FILE}
    build, env = data.build_of(variant), list(cell.env)
    if build and build.preload:
        env.insert(0, ("LD_PRELOAD", PurePath(build.preload.path).name))
    settings = (f"{_one_line(name)}={shlex.quote(_one_line(value))}" for name, value in env)
    command = cell.server.command if cell.server is not None else cell.command
    words = [filled(word, names) for word in command]
    words = words if cell.shell and cell.server is None else list(map(shlex.quote, words))
    line = " ".join((*settings, *map(_one_line, words)))
    if not any(TUNING in word for word in command):
        return line
    tuning = (_one_line(shlex.quote(filled(word, names))) for word in data.plan.tuning)
    return f"{' '.join(tuning)} > {TUNING_FILE}\n{line}"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


REPRODUCE = SectionKind(
    "S19",
    "reproduce",
    "Reproduce",
    "how to build and run the recommended variants, and to measure again",
    build,
    place="report",
)
