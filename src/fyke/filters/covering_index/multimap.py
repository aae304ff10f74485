"""Multimap: members by key, in little memory if most keys have one member.

A single member of a key is held bare. The second one makes a dictionary, which keeps the order of
adding. So a member must not be a dictionary itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Hashable)


class Multimap(Generic[K, T]):
    """Members by key; keys without members are dropped."""

    __slots__ = ("_at", "total")

    def __init__(self) -> None:
        self._at: dict[K, Any] = {}
        self.total = 0
        """The number of members at all keys."""

    def add(self, key: K, member: T) -> bool:
        """Add a member at a key. Return True if the key is new."""
        self.total += 1
        found = self._at.setdefault(key, member)
        if found is member:
            return True
        if type(found) is dict:
            found[member] = None
        else:
            self._at[key] = {found: None, member: None}
        return False

    def remove(self, key: K, member: T) -> bool:
        """Remove a member from a key. Return True if the key is empty now."""
        self.total -= 1
        found = self._at[key]
        if type(found) is dict:
            del found[member]
            if found:
                return False
        del self._at[key]
        return True

    def at(self, key: K) -> Iterable[T]:
        found = self._at.get(key)
        if found is None:
            return ()
        return found if type(found) is dict else (found,)

    def size(self, key: K) -> int:
        found = self._at.get(key)
        if found is None:
            return 0
        return len(found) if type(found) is dict else 1

    def all(self) -> Iterator[T]:
        """Yield every member, once per key."""
        for key in self._at:
            yield from self.at(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)
