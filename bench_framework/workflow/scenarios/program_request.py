"""The request of ``benchctl sweep`` and ``ablate``: one program, and how it is built if it belongs to a crate."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import UsageError
from bench_framework.execution.build.messages import Package
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.invocation import CrateSelection
from bench_framework.scenario.document import suggest
from bench_framework.scenario.feature_groups import closure
from bench_framework.scenario.scalars import list_names
from bench_framework.workflow.scenarios.crate_scenario import (
    choose_binary,
    choose_package,
    crate_above,
    no_targets,
)
from bench_framework.workflow.scenarios.request import (
    PLACEHOLDER,
    Request,
    escaped,
    flow,
    program_path,
    unfit,
    words_without_shell,
)

BIN: Final = "{bin}"
_SLOTS: Final = ("bin", "input")
_DEFAULT: Final = "default"


@dataclass(frozen=True, kw_only=True)
class ProgramRequest(Request, CrateSelection):
    """A program, and how it is built if it belongs to a crate.

    `command` is the program with its arguments; the program ``{bin}`` is that of the crate.
    """

    command: Sequence[str]

    def program(self, *names: str, built: bool) -> Iterator[str]:
        """Yield lines of program and command, in which the placeholders `names` have values.

        Raises `UsageError`: BX122, an option is wrong; see also `built`.
        """
        program, known = self.command[0], (*_SLOTS, *names)
        if (slot := PLACEHOLDER.fullmatch(program)) and slot[1] not in known:
            available = [f"{{{name}}}" for name in known if name != "input" or self.input]
            raise unfit(
                "BX122.unknown-placeholder",
                program=program,
                near=suggest(program, available),
                known=list_names(available),
            )
        words = _with_slots(self.command, names)
        if not built:
            for option in ("crate", "package", "binary"):
                if getattr(self, option) is not None:
                    name = f"--{option.removesuffix('ary')}"
                    raise unfit("BX122.option-of-build", name=name)
            words[0] = program_path(program, self.folder)
            yield f"worker: {{command: {flow(words)}}}"
            return
        path = f"{os.path.relpath(self.built.folder, self.folder)}/"
        binary, _ = choose_binary(self.built, self.binary)
        yield f"worker: {flow({'crate': path, 'bin': binary, **self.defaults()})}"
        yield f"command: {flow(words)}"

    def crate_folder(self) -> Path:
        """Return the folder of the crate. Raises `UsageError` (BX122): no crate was found."""
        crate = self.crate or crate_above()
        if crate is None or not (crate / "Cargo.toml").is_file():
            raise unfit("BX122.not-a-crate", crate=crate)
        return crate.resolve()

    @cached_property
    def built(self) -> Package:
        """The package that is built.

        Raises `UsageError`: BX122, no crate was found; BX124, it has no such package, or several.
        """
        folder = self.crate_folder()
        try:
            package, _ = choose_package(folder, str(folder), self.package, self.binary)
            if self.package is None and folder not in (package.folder, package.root):
                # A member of a workspace is meant, and not another one that has a binary.
                raise no_targets(folder, str(folder), PhraseCode.BINARY)
        except UsageError as error:
            error.amend("BX124.of-program")
            raise
        return package

    @property
    def listed(self) -> list[str]:
        """Return the features that only some builds have."""
        return []

    def known(self) -> Mapping[str, Sequence[str]]:
        """Return the features of the package with those that each one enables.

        Raises `UsageError`: BX122, a listed feature is unknown; see also `built`.
        """
        features = self.built.features
        for name in self.listed:
            if name not in features and "/" not in name:
                known = sorted({*features} - {_DEFAULT})
                near, names = suggest(name, known), ", ".join(known)
                raise unfit("BX122.no-feature", name=name, near=near, names=names)
        return features

    def defaults(self) -> Mapping[str, Any]:
        """Return the default features to keep: those that enable none of the listed ones.

        Raises `UsageError`: see `known`.
        """
        if not self.listed:
            return {}
        features = self.known()
        enabled, removed = closure(features, [_DEFAULT]), {*self.listed}
        if not enabled & removed:
            return {}
        others = (name for name in enabled - {_DEFAULT} if not closure(features, [name]) & removed)
        return {"default-features": False, "features": sorted(others)}

    def options(self, *names: str) -> Iterator[str]:
        """Yield the lines of the other options, in which the placeholders `names` have values.

        Raises `UsageError` (BX122): an option is wrong.
        """
        before = words_without_shell(self.prepare, option="") if self.prepare else []
        if self.input is None and "input" in PLACEHOLDER.findall(
            " ".join((*self.command, *before))
        ):
            raise unfit("BX122.no-input")
        used = "input" in PLACEHOLDER.findall(" ".join(self.command))
        yield from self.tail(_with_slots(before, names) or None, used=used)


def _with_slots(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return words as a scenario writes them, in which some placeholders have values."""
    slots = "|".join((*_SLOTS, *names))
    return [escaped(word, slots) for word in words]
