"""Table: rows of scalars, and the few questions that figures and claims ask them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fyke.errors import FykeError

Scalar: TypeAlias = bool | int | float | str | None
Row: TypeAlias = dict[str, Any]
"""Scalars by the names of columns."""
Wanted: TypeAlias = Scalar | tuple[Scalar, ...]
"""A value, or any of some."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in the order in which they were made; a row lacks what it has nothing to say about."""

    rows: tuple[Row, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Table:
        return cls(tuple(rows))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def names(self) -> list[str]:
        """Return all columns, in the order in which rows brought them."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def where(self, **values: Wanted) -> Table:
        """Return the rows that have all these values."""
        return self.keep(lambda row: all(_has(row, *each) for each in values.items()))

    def keep(self, wanted: Callable[[Row], bool]) -> Table:
        return Table.of(filter(wanted, self.rows))

    def sort(self, *names: str) -> Table:
        """Sort by these columns, whose values compare."""
        return Table.of(sorted(self.rows, key=lambda row: tuple(_key(row[name]) for name in names)))

    def values(self, name: str) -> list[Any]:
        """Return the different values of a column, in ascending order."""
        return sorted({row[name] for row in self.rows if row.get(name) is not None}, key=_key)

    def column(self, name: str) -> list[Any]:
        """Return a column as it is; FykeError without rows, so that no claim holds of nothing."""
        if not self.rows:
            raise FykeError(f"there are no rows to take {name} from")
        return [row[name] for row in self.rows]

    def curve(self, x: str, y: str, **values: Wanted) -> list[Any]:
        """Return `y` by ascending `x`, of the rows that have these values."""
        return self.where(**values).sort(x).column(y)

    def one(self, name: str, **values: Wanted) -> Any:
        """Return the value in the only row that has these values."""
        found = self.where(**values).rows
        if len(found) != 1:
            raise FykeError(f"{len(found)} rows with {values}; expected one")
        return found[0][name]

    def write(self, path: Path) -> None:
        """Write as CSV; a cell is empty where a row has no value."""
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, self.names(), restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)


def _has(row: Row, name: str, value: Wanted) -> bool:
    return row.get(name) in value if isinstance(value, tuple) else row.get(name) == value


def _key(value: Any) -> tuple[bool, Any]:
    """Return a key that puts numbers before texts."""
    return isinstance(value, str), value
