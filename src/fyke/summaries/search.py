"""Search: from an event to the boxes that may accept it (Algorithm 1, SUM-12 to SUM-14).

Idea. For each attribute of the event the satisfied rows are looked up, and from them the satisfied
cells. A box matches iff as many of its cells are satisfied as its id has attributes, popcount(c3):
attributes are counted, not lists (SUM-Q6). To count for few boxes only, each box is filed under the
cell that fewest boxes have.
Cost. A binary search per attribute and line, then a few array operations over the boxes that are
filed under satisfied cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.summaries.groups import Groups
from fyke.summaries.line import NONE, Ints
from fyke.summaries.table import Table


class Search:
    """Finds boxes of a table."""

    def __init__(self, table: Table, schema: Schema | None = None) -> None:
        self._single = _single(table, schema)
        boxes, bases = table.boxes, table.bases
        self._axes = []
        first_row, owners, cells = 0, [NONE], [NONE]
        for axis, ((name, _), rows) in enumerate(zip(table.axes, table.rows, strict=True)):
            self._axes.append((name, rows, first_row))
            owners.append(table.cells[axis].items + first_row)
            cells.append(table.cells[axis].owners + bases[axis])
            first_row += len(rows)
        self._count = int(bases[-1])
        self._cells_of_row = Groups.by(np.concatenate(owners), np.concatenate(cells), first_row)
        self._offsets, self._widths, self._items = boxes.offsets[:-1], boxes.widths, boxes.items
        self.always = np.flatnonzero(self._widths == 0)
        """The boxes without constraints."""
        sizes = np.bincount(boxes.items, minlength=self._count)
        filed = np.flatnonzero(self._widths)
        rarest = np.lexsort((boxes.items, sizes[boxes.items], boxes.owners))
        key = boxes.items[rarest[self._offsets[filed]]]
        self._filed = Groups.by(key, filed, self._count)

    def find(self, event: Event) -> Ints:
        """Return the numbers of the boxes that may accept an event, in order."""
        found = self._find(event)
        return np.sort(np.concatenate([self.always, found])) if len(found) else self.always

    def any(self, event: Event) -> bool:
        """Return True if some box may accept an event."""
        return len(self.always) > 0 or len(self._find(event)) > 0

    def _find(self, event: Event) -> Ints:
        rows = self.satisfied(event)
        if not rows:
            return NONE
        cells = {*self._cells_of_row.gather(rows).tolist()}
        boxes = self._filed.gather([*cells])
        if not len(boxes):
            return NONE
        is_met = np.zeros(self._count, bool)
        is_met[[*cells]] = True
        return np.compress(self._counted(boxes, is_met) == self._widths[boxes], boxes)

    def satisfied(self, event: Event) -> list[int]:
        """Return the rows that an event satisfies; those of all axes are numbered through."""
        attributes, types = event.attributes, types_of(event)
        found: list[int] = []
        for name, rows, first in self._axes:
            is_there = name in attributes
            if is_there or name == "type":
                of_type = types if name == "type" else ()
                value = attributes.get(name)
                if type(value) is tuple and name in self._single and len(value) > 1:
                    some = list(range(len(rows)))  # what the schema excludes may satisfy any
                else:
                    some = rows.find(value, is_there, of_type)
                found += [first + row for row in some] if first else some
        return found

    def _counted(self, boxes: Ints, is_met: npt.NDArray[np.bool_]) -> Ints:
        """Return the number of satisfied cells of each box."""
        widths = self._widths[boxes]
        ends = np.cumsum(widths)
        places = np.repeat(self._offsets[boxes] - ends + widths, widths) + np.arange(ends[-1])
        return np.add.reduceat(is_met[self._items[places]].astype(np.int64), ends - widths)


def _single(table: Table, schema: Schema | None) -> frozenset[str]:
    if schema is None:
        return frozenset()
    return frozenset(name for name, _ in table.axes if schema.is_single(name))


def types_of(event: Event) -> tuple[str, ...]:
    """Return the names that `type is` accepts for an event."""
    declared = event.attributes.get("type")
    if type(declared) is str:
        return (declared, *event.supertypes)
    if type(declared) is tuple:
        named = (each for each in declared if type(each) is str)
        return (*named, *event.supertypes)
    return event.supertypes
