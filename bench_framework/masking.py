"""Secrets of a scenario: each is masked when the scenario is read, and revealed to programs only.

A plan contains masks such as ``***1***`` in place of secrets. So whatever is derived from a plan
(records, tables, pages, messages) does not contain them. docs/reference/scenario.md#secrets lists
the names that are recognised.
"""

import itertools
import json
import re
from typing import Any, Final

NAMES: Final = (
    "token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "api-key",
    "apikey", "access-key", "private-key", "auth", "authorization",
)  # fmt: skip
"""Last words of the names of variables and arguments whose values are secrets."""
SHORTEST: Final = 4
"""Shorter secrets are masked in plans only: other text would contain them by chance."""
_LAST: Final = "|".join(NAMES).replace("-", "[-_]?")
_NAME: Final = re.compile(rf"(?:.*[-_.])?(?:{_LAST})", re.IGNORECASE)
_ASSIGNED: Final = re.compile(
    rf"(?<![\w.-])(?:--?(?:[\w.-]*[-_.])?(?:{_LAST})(?:=|\s+)"
    rf"|(?:[\w.-]*[-_.])?(?:{_LAST})(?:=|:\s*))"
    r"(?:(?:bearer|basic)\s+)?(?P<value>[^\s'\"{-][^\s'\"]*)",
    re.IGNORECASE,
)
"""An option and its value, or a variable or header and its value."""
_USERINFO: Final = re.compile(
    r"\b(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<value>[^/?#\s]+)@", re.IGNORECASE
)
_HOME: Final = re.compile(r"(?<![\w.~-])/(?:root|home/[^/\s\"']+)(?=/)")
_MASK: Final = re.compile(r"\*\*\*\d+\*\*\*")
_JSON_STRING: Final = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*:)?', re.DOTALL)
"""A string of a JSON text, and the colon after it if it is a key."""
_COMMANDS: Final = frozenset(
    {"command", "args", "prepare", "cleanup", "tuning", "build", "stop", "filter", "check", "train"}
)
_ENVIRONMENTS: Final = frozenset({"env", "build-env"})
_secrets: dict[str, str] = {}
"""Secrets of this process by mask, in the order of the scenario."""


def home_as_tilde(text: str) -> str:
    """Return a text with ``~`` in place of home folders: published pages name no user."""
    return _HOME.sub("~", text)


def mask_document(data: Any, key: str = "") -> Any:
    """Return the data of a scenario with its secrets masked."""
    command = key in _COMMANDS
    if isinstance(data, dict):
        return {
            name: _masked_whole(part)
            if key in _ENVIRONMENTS and _is_secret(name, part)
            else mask_document(part, key if command else str(name))
            for name, part in data.items()
        }
    if isinstance(data, list):
        parts = [mask_document(part, key) for part in data]
        for number, (name, part) in enumerate(itertools.pairwise(parts), 1):
            option = command and isinstance(name, str) and name.startswith("-")
            if option and _is_secret(name.lstrip("-"), part):
                parts[number] = _masked_whole(part)
        return parts
    if not isinstance(data, str):
        return data
    text = _USERINFO.sub(_mask_userinfo, data)
    if command:
        text = _ASSIGNED.sub(_mask_assigned, text)
    return data if text == data else type(data)(text)


def masked(text: str) -> str:
    """Return a text without the secrets of this process that have at least four characters."""
    for mask, secret in _secrets.items():
        if len(secret) >= SHORTEST:
            text = text.replace(secret, mask)
    return text


def masked_json(text: str) -> str:
    """Return a JSON text without the secrets that `masked` removes.

    Only strings change: numbers, literals and keys can contain the characters of a secret by chance.
    """
    return _JSON_STRING.sub(_mask_json_string, text) if _secrets else text


def masked_source(text: str) -> str:
    """Return the text of a scenario without its secrets, also short ones next to their names."""
    return masked(
        "".join(
            _hide_short(line) if _ASSIGNED.search(line) else line
            for line in text.splitlines(keepends=True)
        )
    )


def revealed(text: str) -> str:
    """Return a text with the secrets in place of their masks, for a program that is started.

    Raises `LookupError`: the secret is not known, because the text is from a record.
    """
    return _MASK.sub(lambda match: _secrets[match[0]], text)


def without_userinfo(url: str) -> str:
    """Return a URL without user and password if these are masked."""
    return re.sub(rf"://{_MASK.pattern}@", "://", url)


def _is_secret(name: object, value: object) -> bool:
    return (
        isinstance(value, str)
        and bool(value)
        and not value.startswith("{")
        and not _MASK.fullmatch(value)
        and _NAME.fullmatch(str(name)) is not None
    )


def _mask_userinfo(match: re.Match[str]) -> str:
    web, value = match["scheme"].lower().startswith(("http", "ftp")), match["value"]
    if _MASK.fullmatch(value) or not (web or ":" in value):  # git@ of ssh is no secret
        return match[0]
    return f"{match['scheme']}://{_mask(value)}@"


def _mask_assigned(match: re.Match[str]) -> str:
    if _MASK.fullmatch(match["value"]):
        return match[0]
    return match[0].removesuffix(match["value"]) + _mask(match["value"])


def _mask_json_string(match: re.Match[str]) -> str:
    if match["colon"]:
        return match[0]
    value = json.loads(match["string"])
    return match[0] if masked(value) == value else json.dumps(masked(value), ensure_ascii=False)


def _masked_whole(text: str) -> str:
    return type(text)(_mask(str(text)))


def _mask(secret: str) -> str:
    for mask, known in _secrets.items():
        if known == secret:
            return mask
    mask = f"***{len(_secrets) + 1}***"
    _secrets[mask] = secret
    return mask


def _hide_short(line: str) -> str:
    for mask, secret in _secrets.items():
        line = re.sub(rf"(?<![\w.-]){re.escape(secret)}(?![\w.-])", mask, line)
    return line
