from __future__ import annotations

from fyke.errors import FykeError
from fyke.filters.covering import covers
from fyke.filters.filter import Filter


class CoveringIndex:
    def __init__(self) -> None:
        self._filters: dict[str, Filter] = {}
        self.tests = 0

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, id: object) -> bool:
        return id in self._filters

    def add(self, id: str, filter: Filter) -> None:
        if id in self._filters:
            raise FykeError("there")
        self._filters[id] = filter

    def remove(self, id: str) -> None:
        del self._filters[id]

    def covering(self, filter: Filter) -> list[str]:
        self.tests += len(self)
        return [id for id, each in self._filters.items() if covers(each, filter)]

    def covered(self, filter: Filter) -> list[str]:
        self.tests += len(self)
        return [id for id, each in self._filters.items() if covers(filter, each)]
