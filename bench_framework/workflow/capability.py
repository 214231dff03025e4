"""What cannot run on this machine, left out of a plan before anything is measured, with the worker's own reason."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import MachineError
from bench_framework.model.plan import Hole, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bench_framework.model.plan import Plan, Variant, Word

PROGRAM: Final = "program"
"""Id of the build of a program that is not built."""
Description = Mapping[str, Any]
"""What a worker printed when it was asked to `describe`."""


def leave_out(plan: Plan, descriptions: Mapping[str, Description]) -> Plan:
    """The plan without the variants that this machine cannot run; each becomes a hole with its reason.

    Args:
        plan: as the scenario asks.
        descriptions: by build id, or "program" for a program that is not built. What is not described is taken
            to run everything.

    Raises:
        MachineError: BX223, the baseline cannot run here, or nothing beside it.
    """
    reasons = {
        v.id: why for v in plan.variants if (why := _reason(plan, v, descriptions)) is not None
    }
    if not reasons:
        return plan
    if plan.baseline_id in reasons:
        raise _impossible(plan, f"the baseline cannot run here: {reasons[plan.baseline_id]}")
    kept = tuple(cell for cell in plan.cells if cell.variant_id not in reasons)
    if any(c.role is Role.CANDIDATE for c in plan.cells) and not any(
        c.role is Role.CANDIDATE for c in kept
    ):
        raise _impossible(plan, "nothing can run here beside the baseline", tuple(reasons.values()))
    holes = [
        Hole(
            (*plan.variant(cell.variant_id).values, *plan.input(cell.input_id).values),
            reasons[cell.variant_id],
        )
        for cell in plan.cells
        if cell.variant_id in reasons and cell.role is not Role.CONTROL
    ]
    variants = tuple(variant for variant in plan.variants if variant.id not in reasons)
    return replace(
        plan,
        variants=variants,
        cells=kept,
        holes=(*plan.holes, *holes),
        builds=tuple(
            spec for spec in plan.builds if any(variant.build == spec for variant in variants)
        ),
        anchor_id="" if plan.anchor_id in reasons else plan.anchor_id,
        further_baselines=tuple(v for v in plan.further_baselines if v not in reasons),
        experiments=tuple(
            experiment for experiment in plan.experiments if experiment.variant_id not in reasons
        ),
        named=tuple(cell for cell in plan.named if cell.variant_id not in reasons),
    )


def _reason(plan: Plan, variant: Variant, descriptions: Mapping[str, Description]) -> str | None:
    described = descriptions.get(variant.build.id if variant.build is not None else PROGRAM)
    if described is None:
        return None
    commands = (cell.command for cell in plan.cells if cell.variant_id == variant.id)
    asked = (*variant.values, *(pair for words in commands for pair in _flags(words)))
    for axis, value in dict.fromkeys(asked):
        if why := unavailable(described, axis, value):
            return f"{axis}={value} is not available here: {why}"
    return None


def _flags(words: Iterable[Word]) -> Iterator[tuple[str, str]]:
    """``--name value`` and ``--name=value`` of a command: knobs that are not varied, and what an axis value adds."""
    texts = ["".join(part for part in word if isinstance(part, str)) for word in words]
    for word, after in itertools.pairwise((*texts, "")):
        name, sign, value = word.partition("=")
        if name.startswith("--"):
            yield name.removeprefix("--"), value if sign else after


def unavailable(described: Description, axis: str, value: str) -> str | None:
    """Why a worker cannot run a value of one of its axes; `None` if it can, or does not know it."""
    axes = described.get("axes")
    entry = axes.get(axis) if isinstance(axes, Mapping) else None
    values = entry.get("values") if isinstance(entry, Mapping) else None
    if not isinstance(values, Sequence) or isinstance(values, str):
        return None
    found = (
        v.get("unavailable") for v in values if isinstance(v, Mapping) and v.get("name") == value
    )
    why = next(found, None)
    return str(why) if why else None


def _impossible(plan: Plan, message: str, reasons: tuple[str, ...] = ()) -> MachineError:
    return MachineError(
        message,
        code="BX223",
        details=tuple(("reason", reason) for reason in dict.fromkeys(reasons)),
        effect="nothing was measured",
        help=f"choose other values with -k, other knobs with -S (such as -S fixed.direct=off), or change "
        f"{plan.scenario_path}; or work in a folder where it can be had",
    )
