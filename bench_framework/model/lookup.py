"""Look-up of variants, inputs and cells by their ids."""

from __future__ import annotations

from typing import Any, Final, Protocol, TypeVar

_KEPT_INDICES: Final = 64


class Identified(Protocol):
    """A part of a plan with an id."""

    @property
    def id(self) -> str:
        """Id of the part."""
        ...


_Item = TypeVar("_Item", bound=Identified)
_indices: dict[int, tuple[tuple[object, ...], dict[str, Any]]] = {}
"""Indexes of the tuples in plans, by `id` of the tuple. Hashing a whole plan would cost more than a
linear search."""


def by_id(items: tuple[_Item, ...], item_id: str) -> _Item:
    """Return the item with this id. Raises `KeyError` if it does not exist."""
    index = _indices.get(id(items))
    if index is None or index[0] is not items:  # Python reuses an `id` after deallocation
        if len(_indices) >= _KEPT_INDICES:
            _indices.clear()
        index = _indices[id(items)] = (items, {item.id: item for item in reversed(items)})
    item: _Item = index[1][item_id]
    return item
