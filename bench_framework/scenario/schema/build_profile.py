"""The profile of a build: the name of one of Cargo's, or keys that are set on top of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator

from bench_framework.scenario import scalars
from bench_framework.scenario.scalars import Refused
from bench_framework.scenario.schema.types import ByShape, Text, read_by, refusal

PROFILE_KEYS: Final = (
    *("opt-level", "lto", "codegen-units", "panic", "debug", "debug-assertions"),
    *("overflow-checks", "strip", "incremental", "split-debuginfo", "rpath"),
)
PROFILE_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "opt-level": ("0", "1", "2", "3", "s", "z"),
    "lto": ("off", "thin", "fat", "false", "true", "n", "no", "y", "yes", "on"),
    "panic": ("unwind", "abort", "immediate-abort"),
}
"""The values of profile keys with a closed set. Cargo refuses others only when it builds a program."""


def _profile(value: Any) -> Any:
    """Return the profile, if the value of each key with a closed set is one of it."""
    for key, given in value.items() if isinstance(value, dict) else ():
        if allowed := PROFILE_VALUES.get(key):
            try:
                scalars.choice(*allowed)(given)
            except Refused as refused:
                raise refusal(refused, (key,)) from None
    return value


Profile: TypeAlias = Annotated[
    Text | dict[Annotated[str, read_by(scalars.choice(*PROFILE_KEYS))], Text],
    ByShape(),
    AfterValidator(_profile),
]
"""Name of a Cargo profile, or profile keys that are set on top of it."""
