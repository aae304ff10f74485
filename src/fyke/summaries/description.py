"""A summary as text: the rows of each attribute and who lies in them (figures 4 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fyke.events.value import format_timestamp
from fyke.filters.algebra.intervals import Span, is_point, prefix_span
from fyke.sizes import written_size
from fyke.summaries.rows import (
    FLAG,
    LANGUAGE,
    MOMENTS,
    PLACES,
    STRINGS,
    TYPE,
    Piece,
    Rows,
    key_text,
)

if TYPE_CHECKING:
    from fyke.summaries.summary import Summary

IDS_SHOWN = 8


def describe(summary: Summary, rows_max: int) -> str:
    """Return all attributes, each with up to `rows_max` rows."""
    table = summary.table
    always = summary.always
    head = (
        f"{len(summary):,} subscriptions in {len(table.boxes):,} boxes, {summary.mode}, "
        f"{written_size(summary.size)}"
    )
    lines = [head]
    if always:
        lines.append(f"always: {_list_ids(always)}")
    for axis, (name, facet) in enumerate(table.axes):
        rows = table.rows[axis]
        label = f"{name} (again)" if facet else name
        lines.append(f"{label}: {len(rows):,} row{'s' * (len(rows) != 1)}")
        ids = _ids_of_rows(summary, axis)
        pieces = rows.pieces()
        order = sorted(range(len(rows)), key=lambda at: (-len(ids[at]), at))[:rows_max]
        for at in sorted(order):
            lines.append(f"  {piece_text(pieces[at], rows):<24} → {_list_ids(ids[at])}")
        if len(rows) > rows_max:
            lines.append(f"  ... and {len(rows) - rows_max:,} more")
    return "\n".join(lines)


def _ids_of_rows(summary: Summary, axis: int) -> list[list[str]]:
    """Return the ids in each row of an axis."""
    table = summary.table
    base = int(table.bases[axis])
    rows: list[dict[str, None]] = [{} for _ in range(len(table.rows[axis]))]
    cells = table.cells[axis].lists()
    boxes = table.boxes.lists()
    owners = list(summary.versions)
    for box, owner, number in table.members.tolist():
        for cell in boxes[box]:
            if 0 <= cell - base < len(cells):
                for row in cells[cell - base]:
                    rows[row][summary.name(owners[owner], number)] = None
    return [sorted(each) for each in rows]


def _list_ids(ids: list[str]) -> str:
    more = f", ... {len(ids):,} in all" if len(ids) > IDS_SHOWN else ""
    return ", ".join(ids[:IDS_SHOWN]) + more


def piece_text(piece: Piece, rows: Rows) -> str:
    """Return a row as filters write it."""
    which, what = piece
    if which == FLAG:
        if what.startswith(TYPE):
            return f"is {what.removeprefix(TYPE)}"
        return str({"present": "any value", "list": "any list of two or more"}.get(what, what))
    if which == LANGUAGE:
        return key_text(what)
    if which == PLACES and rows.order is not None:
        return f"= '{rows.order.values[what[0][1]]}'" if is_point(what) else _span(what, which)
    return _span(what, which)


def _span(span: Span, which: int) -> str:
    low, high = span
    if is_point(span):
        return f"= {_value(low[1], which)}"
    if which == STRINGS and low[0] == 0 and low[1] and span == prefix_span(low[1]):
        return f"starts with {_value(low[1], which)}"
    left = "(-∞" if low[0] else f"{'(' if low[2] else '['}{_value(low[1], which)}"
    right = "∞)" if high[0] else f"{_value(high[1], which)}{']' if high[2] else ')'}"
    return f"{left}, {right}"


def _value(value: Any, which: int) -> str:
    if which == STRINGS:
        return f"'{value}'"
    return format_timestamp(value) if which == MOMENTS else str(value)
