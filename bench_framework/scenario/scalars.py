"""Readers of scalars: each turns a `Scalar` into the type of its key.

A reader takes a `Scalar` (or a list or mapping, which most refuse) and returns a Python value. It
raises `Refused` with a code of docs/reference/codes.md, a message, a label and a fix.
"""

import re
import warnings
from collections.abc import Callable, Collection
from typing import Any, Final

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.policies import HostPolicy, is_label
from bench_framework.scenario.document import Scalar, is_null, suggest
from bench_framework.text.errors import error_text
from bench_framework.units import parse_duration, parse_percent

_VERSION: Final = re.compile(r"=?\s*(\d+\.\d+\.\d+[-+.0-9A-Za-z]*)")
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,19}")  # the digits of a 64-bit number
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_YES: Final = frozenset({"yes", "on", "y"})
_NO: Final = frozenset({"no", "off", "n"})
_RESERVED_VARIABLES: Final = frozenset({"BENCHCTL_ANSWERS", "HYPERFINE_ITERATION"})
"""Variables that benchctl sets for the worker protocol and for hyperfine."""
AXIS_NAME: Final = "[A-Za-z][A-Za-z0-9_-]{0,63}"
SYMBOL: Final = "[a-z][a-z0-9_]{0,63}"
CLASSES_OF_CALLS: Final = frozenset(
    ("all", "desc", "file", "ipc", "memory", "network", "none", "process", "signal")
)
"""Names that strace reads as many system calls, or none."""
SCENARIO_NAME: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
MAX_LISTED: Final = 14
"""Largest number of allowed names that a message lists."""


def compiled_regex(text: str) -> re.Pattern[str] | str:
    """Return a regular expression, or the reason why a text is not one.

    An expression that a later Python may read differently, such as ``[[a]``, is not one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(text, re.MULTILINE)
    except (re.error, RecursionError, OverflowError, FutureWarning) as error:
        return str(error)


class Refused(Exception):  # noqa: N818 -- `schema.types` turns it into a validation error
    """A value that its key does not accept, with an entry in ``text/errors.toml``."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.text, self.values = error_text(key, values), values
        super().__init__(self.text.message)


def describe(value: Any) -> Phrase:
    """Return a description of a value: ``the text "ten"``, ``the number 5``, ``a list``."""
    if isinstance(value, dict):
        return Phrase(FaultCode.A_MAPPING)
    if isinstance(value, list):
        return Phrase(FaultCode.A_LIST)
    if is_null(value):
        return Phrase(FaultCode.NOTHING)
    if isinstance(value, Scalar) and value.plain and _NUMBER.fullmatch(value):
        return Phrase(FaultCode.THE_NUMBER, str(value))
    if isinstance(value, Scalar) and value.plain and value in _TRUE | _FALSE:
        return Phrase(FaultCode.THE_BOOLEAN, str(value))
    return Phrase(FaultCode.THE_TEXT, str(value))


def text(value: Any) -> str:
    """Read any scalar as text."""
    if not isinstance(value, str) or is_null(value):
        raise Refused("BC102.not-text", value=describe(value))
    return str(value)


def whole(least: int, most: int | None = None) -> Callable[[Any], int]:
    """Return a reader of whole numbers from `least` to `most`, if `most` is given."""

    def read(value: Any) -> int:
        if not (isinstance(value, Scalar) and value.plain and _WHOLE.fullmatch(value)):
            raise Refused("BC102.not-a-whole-number", least=least, value=describe(value))
        number = int(value)
        if most is not None and number > most:
            raise Refused("BC102.number-too-large", most=most, number=number, least=least)
        if number < least:
            raise Refused("BC102.number-too-small", least=least, number=number)
        return number

    return read


def flag(value: Any) -> bool:
    """Read ``true`` or ``false``. The words yes and no of YAML 1.1 are refused with a reason."""
    if isinstance(value, Scalar) and value.plain:
        if value in _TRUE | _FALSE:
            return value in _TRUE
        if value.lower() in _YES | _NO:
            boolean = "true" if value.lower() in _YES else "false"
            raise Refused("BC106", value=value, boolean=boolean)
    raise Refused("BC102.not-a-boolean", value=describe(value))


def _amount(value: Any, parse: Callable[[str], float], below: float) -> float | None:
    """Return the amount of a scalar, `None` if it has none or is not below a limit."""
    try:
        amount = parse(value) if isinstance(value, Scalar) else below
    except ValueError:
        return None
    return amount if amount < below else None


def percent(value: Any) -> float:
    """Read a percentage such as ``2%`` as the fraction 0.02. 1000 % or more is a mistake."""
    if (fraction := _amount(value, parse_percent, below=10)) is not None:
        return fraction
    number = value if isinstance(value, Scalar) and _NUMBER.fullmatch(value) else ""
    raise Refused("BC102.not-a-percentage", value=describe(value), number=number)


def fraction_of_all(value: Any) -> float:
    """Read a percentage strictly between 0 and 100 %."""
    fraction = percent(value)
    if 0 < fraction < 1:
        return fraction
    raise Refused("BC102.percentage-out-of-range", value=value)


def tolerance(value: Any) -> float:
    """Read a relative difference between 0 and 1: ``1e-6`` or ``0.01%``."""
    if isinstance(value, Scalar) and _NUMBER.fullmatch(value) and 0 < float(value) < 1:
        return float(value)
    if isinstance(value, Scalar) and value.endswith("%"):
        return fraction_of_all(value)
    raise Refused("BC102.not-a-relative-difference", value=describe(value))


def differs(value: Any) -> str | float:
    """Read ``refuse``, ``warn``, or a share of lines such as ``<0.1%`` as the fraction 0.001."""
    if isinstance(value, Scalar) and value.startswith("<"):
        return fraction_of_all(Scalar(value[1:].strip()))
    if isinstance(value, Scalar) and value.endswith("%"):
        raise Refused("BC102.percentage-without-sign", value=describe(value), share=value)
    return choice("refuse", "warn")(value)


def duration(value: Any) -> float:
    """Read a duration such as ``15m`` as seconds, above zero and below thirty years."""
    seconds = _amount(value, parse_duration, below=1e9)
    if seconds:
        return seconds
    if isinstance(value, Scalar) and _NUMBER.fullmatch(value):
        raise Refused("BC102.duration-without-unit", value=value, text=describe(value))
    if seconds == 0:
        raise Refused("BC102.zero-duration", value=value)
    raise Refused("BC102.not-a-duration", value=describe(value))


def choice(*allowed: str) -> Callable[[Any], str]:
    """Return a reader of a closed set of values."""

    def read(value: Any) -> str:
        if isinstance(value, str) and str(value) in allowed:
            return str(value)
        key, near, known = "BC102.not-an-allowed-value", suggest(value, allowed), ", ".join(allowed)
        raise Refused(key, value=describe(value), near=near, allowed=known)

    return read


def list_names(names: Collection[str]) -> str:
    """Return names for a message; an empty text if they are too many."""
    return ", ".join(names) if len(names) <= MAX_LISTED else ""


def similar(name: object, known: Collection[str]) -> dict[str, str | None]:
    """Return what a message about an unknown name says: the nearest known name, and all of them."""
    return {"near": suggest(name, known), "known": list_names(known)}


def axis_name(value: Any) -> str:
    """Read a name that is valid in ``{braces}``, in ``-k`` and as the name of a column."""
    name = text(value)
    if not re.fullmatch(AXIS_NAME, name):
        raise Refused("BC108.not-a-name", name=name)
    if name in {"bin", "input", "args", "variant", "experiment", "because"}:
        raise Refused("BC108.reserved-name", name=name)
    return name


def symbol(value: Any) -> str:
    """Read a name that is valid in a formula, where `-` is a minus sign."""
    name = text(value)
    if not re.fullmatch(SYMBOL, name):
        near = name.replace("-", "_").lower()
        near = near if re.fullmatch(SYMBOL, near) else ""
        raise Refused("BC108.not-a-symbol", name=name, near=near)
    return name


def system_call(value: Any) -> str:
    """Read the name of a system call."""
    name = symbol(value)
    if name in CLASSES_OF_CALLS:
        raise Refused("BC108.class-of-calls", name=name)
    return name


def hosts(value: Any) -> Any:
    """Read ``all``. A mapping is read by its keys."""
    if isinstance(value, dict):
        return value
    if value == "all":
        return HostPolicy(everyone=True)
    raise Refused("BC102.not-hosts", value=describe(value), near=suggest(value, ["all"]))


def host_labels(value: Any) -> tuple[str, ...]:
    """Read labels of hosts, each given once."""
    names = [text(word) for word in words(value)]
    for number, name in enumerate(names):
        fault = FaultCode.GIVEN_TWICE if name in names[:number] else None
        if not is_label(name):
            fault = FaultCode.NO_LABEL
        if fault:
            raise Refused("BC108.host-label", name=name, fault=Phrase(fault))
    return tuple(names)


def scenario_name(value: Any) -> str:
    """Read a scenario's name, which is also the name of a folder."""
    name = text(value)
    if not re.fullmatch(SCENARIO_NAME, name):
        raise Refused("BC102.not-a-folder-name", value=describe(value))
    return name


def value_name(value: Any) -> str:
    """Read the name of an axis value: any text except an empty one."""
    name = text(value)
    if not name:
        raise Refused("BC102.empty-text")
    return name


def variable_name(value: Any) -> str:
    """Read the name of an environment variable that a scenario may set."""
    name = text(value)
    if not name or "=" in name:
        raise Refused("BC108.not-a-variable-name", name=name)
    if name in _RESERVED_VARIABLES:
        raise Refused("BC108.reserved-variable", name=name)
    return name


def cpu_list(value: Any) -> str:
    """Read CPU numbers in the format of ``taskset -c``: ``0``, ``0-3``, ``0,2-3``."""
    cpus = text(value)
    if not re.fullmatch(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*", cpus):
        raise Refused("BC102.not-a-list-of-cpus", value=describe(value))
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        if last and int(last) < int(first):
            raise Refused("BC102.cpus-in-descending-order", part=part, last=last, first=first)
    return cpus


def version(value: Any) -> str:
    """Read an exact version such as ``1.0.120`` or ``=1.0.120``."""
    if (match := _VERSION.fullmatch(text(value))) is None:
        raise Refused("BC102.not-a-version", value=describe(value))
    return match[1]


def mappings(value: Any) -> list[Any]:
    """Read one mapping, or a list of them."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value]
    raise Refused("BC102.not-a-mapping", value=describe(value))


def words(value: Any) -> list[Any]:
    """Read one string, split at spaces, or a list of strings."""
    if isinstance(value, list):
        return value
    return [Scalar(word) for word in text(value).split()]
