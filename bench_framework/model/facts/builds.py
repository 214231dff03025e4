"""Differences between the builds of two variants or revisions: settings, packages and the size of the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting or a package that differs.

    Attributes:
        name: setting, such as ``compiler``, or name of the package.
        reference: value or version in the reference; empty if it has none.
        value: the same in the variant.
    """

    name: str
    reference: str
    value: str


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A part of the program whose size differs, in bytes: a section of the file, or the code of a crate."""

    name: str
    reference: int
    value: int

    @property
    def difference(self) -> int:
        """Return the bytes that were added."""
        return self.value - self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildChanges:
    """Differences between two programs.

    Attributes:
        settings: settings of the build.
        packages: linked packages whose versions differ, or that one side lacks.
        sections: sections of the file, the largest difference first.
        crates: crates by the size of their functions, the largest difference first.
        size: size of the file without symbols.
    """

    settings: tuple[Difference, ...] = ()
    packages: tuple[Difference, ...] = ()
    sections: tuple[SizeChange, ...] = ()
    crates: tuple[SizeChange, ...] = ()
    size: SizeChange | None = None
