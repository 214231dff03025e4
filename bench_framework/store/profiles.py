"""Profiles of a record. Other files are derived from ``profiles/<cell>/profile.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench_framework.model.plan import Plan
from bench_framework.model.profile import Profile
from bench_framework.store import layout, wire

FOLDER: Final = "profiles"
NAME: Final = "profile.json"


def write_profile(record: Path, profile: Profile) -> None:
    """Write a profile. It replaces the profile of the same cell and its derived files.

    Raises `MachineError` (BX235): writing failed.
    """
    folder = record / FOLDER / profile.cell_id
    layout.write_whole(folder / NAME, wire.dump_profile(profile))
    with layout.writing(folder):
        for file in folder.iterdir():
            if file.name != NAME:
                file.unlink()


def read_profiles(record: Path, plan: Plan) -> tuple[Profile, ...]:
    """Return the profiles in the order of the cells. Raises `RecordError` (BX411): one is damaged."""
    paths = (record / FOLDER / cell.id / NAME for cell in plan.cells)
    return tuple(wire.load_profile(path.read_bytes()) for path in paths if path.is_file())
