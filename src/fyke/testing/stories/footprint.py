"""Footprint: how many things a node holds on to, so that what is never let go can be seen.

Entries of all dictionaries, lists and sets that can be reached from a node are counted, through
objects of brokers and strategies only: matchers, filters and schemas have sizes of their own.
"""

from __future__ import annotations

import gc
from collections import Counter
from typing import Final

from fyke.nodes.node import Node
from fyke.routing.adaptive.weighing import Weighing

_WALKED: Final = (
    *("fyke.broker", "fyke.routing", "fyke.testing"),
    *("fyke.filters.covering_index", "fyke.filters.packed.packing"),
)


def footprint(node: Node, passed: tuple[str, ...] = ()) -> Counter[str]:
    """Count the entries of the containers of each class, except in modules that are passed over."""
    found: Counter[str] = Counter()
    seen: set[int] = set()
    waiting: list[tuple[object, str]] = [(node, "")]
    while waiting:
        each, owner = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict | list | set):
            found[owner] += len(each)
            waiting += ((part, owner) for part in gc.get_referents(each))
        elif isinstance(each, tuple):
            waiting += ((part, owner) for part in each)
        elif _is_walked(each) and not type(each).__module__.startswith(passed):
            waiting += ((part, type(each).__name__) for part in _parts(each))
    return +found


def _is_walked(each: object) -> bool:
    return type(each).__module__.startswith(_WALKED) and not isinstance(each, type | Weighing)


def _parts(instance: object) -> list[object]:
    """Return the values of its attributes: those of `__dict__` are no container of its own."""
    parts = list(getattr(instance, "__dict__", {}).values())
    for kind in type(instance).__mro__:
        names = getattr(kind, "__slots__", ())
        parts += [getattr(instance, name, None) for name in names if name != "__weakref__"]
    return parts
