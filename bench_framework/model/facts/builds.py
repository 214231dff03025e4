"""Differences between the builds of two variants or revisions: settings, packages and the size of the code."""

from dataclasses import dataclass

from bench_framework.model.reasons import Difference


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A part of the program whose size differs, in bytes: a section of the file, or the code of a crate."""

    name: str
    """Name of the section or crate."""
    reference: int
    """Size in the reference."""
    value: int
    """Size in the candidate."""

    @property
    def difference(self) -> int:
        """Return the bytes that were added."""
        return self.value - self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildChanges:
    """Differences between two programs."""

    settings: tuple[Difference, ...] = ()
    """Settings of the build."""
    packages: tuple[Difference, ...] = ()
    """Linked packages whose versions differ, or that one side lacks."""
    sections: tuple[SizeChange, ...] = ()
    """Sections of the file, the largest difference first."""
    crates: tuple[SizeChange, ...] = ()
    """Crates by the size of their functions, the largest difference first."""
    size: SizeChange | None = None
    """Size of the file without symbols."""
