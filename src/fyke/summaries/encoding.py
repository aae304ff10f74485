"""A summary as bytes: versioned, checksummed, canonical.

    "FYKS", version, CRC-32 of the rest, and a MessagePack list compressed with zlib

Sorted columns are kept as differences, the bytes of wider integers plane by plane, numbers as
decimals of one exponent, texts without what they share with the text before: zlib then finds what
repeats. Boxes go by axis: which of them have a cell there, and which cell.
A table is in its one form, so equal summaries are equal bytes. Reading trusts nothing: what is cut
short, changed, too large or not in that form is a SummaryError, before anything is built of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np

from fyke.errors import FykeError, SchemaError, shown
from fyke.events.domain import Enumeration
from fyke.events.number import canonical_decimal, meaning
from fyke.events.schema import Schema
from fyke.summaries.groups import Groups
from fyke.summaries.line import Ints, Line
from fyke.summaries.rows import LINES, MOMENTS, NUMBERS, PLACES, Rows, language_of
from fyke.summaries.table import Table

MAGIC: Final = b"FYKS"
VERSION: Final = 2
SIZE_MAX: Final = 256 * 2**20
"""Bytes that a summary may have before it is compressed."""
NUMBER_BITS: Final = 40
"""Bits of the number of a subscription (c2)."""
_HEADER: Final = len(MAGIC) + 1 + 4
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class SummaryError(FykeError):
    """A summary that cannot be read, made, or joined with another one."""


def frame(parts: object) -> bytes:
    """Return data with its header and checksum."""
    body = zlib.compress(msgspec.msgpack.encode(parts), 9)
    return MAGIC + bytes((VERSION,)) + zlib.crc32(body).to_bytes(4, "little") + body


def unframe(data: bytes) -> Any:
    """Return what was framed; SummaryError says what is wrong."""
    if len(data) < _HEADER or data[:4] != MAGIC:
        raise SummaryError("not a summary: it does not begin with FYKS")
    if data[4] != VERSION:
        raise SummaryError(f"a summary of version {data[4]}; expected {VERSION}")
    body = data[_HEADER:]
    if zlib.crc32(body) != int.from_bytes(data[5:_HEADER], "little"):
        raise SummaryError("the summary is damaged or cut short: its checksum is wrong")
    reader = zlib.decompressobj()
    try:
        plain = reader.decompress(body, SIZE_MAX)
        if reader.unconsumed_tail or not reader.eof:
            raise SummaryError(f"the summary has more than {SIZE_MAX:,} bytes")
        return msgspec.msgpack.decode(plain)
    except (zlib.error, ValueError, RecursionError) as refused:
        raise SummaryError(f"the summary is damaged: {refused}") from None


# --- columns --------------------------------------------------------------------------------------


def pack(numbers: Ints) -> bytes:
    """Return numbers from 0 in as few bytes each as they need, plane by plane."""
    if not len(numbers):
        return b""
    width = max(1, (int(numbers.max()).bit_length() + 7) // 8)
    planes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return bytes((width,)) + np.ascontiguousarray(planes.T).tobytes()


def unpack(data: object) -> Ints:
    if data == b"":
        return np.zeros(0, np.int64)
    if not isinstance(data, bytes) or not 1 <= data[0] <= 8 or (len(data) - 1) % data[0]:
        raise SummaryError("the summary is damaged: a column is not whole")
    planes = np.frombuffer(data, np.uint8, offset=1).reshape(data[0], -1)
    whole = np.zeros((planes.shape[1], 8), np.uint8)
    whole[:, : data[0]] = planes.T
    return whole.view("<u8").reshape(-1).astype(np.int64)


def pack_signed(numbers: Ints) -> bytes:
    wide = numbers.astype(np.int64, copy=False)
    return pack((wide << 1) ^ (wide >> 63))


def unpack_signed(data: object) -> Ints:
    numbers = unpack(data)
    return (numbers >> 1) ^ -(numbers & 1)


def pack_sorted(numbers: Ints) -> bytes:
    """Return numbers as the first and the differences."""
    return pack_signed(np.diff(numbers, prepend=0))


def unpack_sorted(data: object) -> Ints:
    return np.cumsum(unpack_signed(data))


# --- values ---------------------------------------------------------------------------------------


def _values_plain(which: int, values: Sequence[Any]) -> object:
    if which == NUMBERS:
        return _numbers_plain(values)
    if which == PLACES:
        return pack_sorted(np.array(values, np.int64))
    if which == MOMENTS:
        return pack_sorted(np.array([(each - _EPOCH) // _MICROSECOND for each in values], np.int64))
    return texts_plain(values)


def _values_of(which: int, plain: Any) -> tuple[Any, ...]:
    if which == NUMBERS:
        return _numbers_of(plain)
    if which == PLACES:
        return tuple(unpack_sorted(plain).tolist())
    if which == MOMENTS:
        return tuple(_EPOCH + each * _MICROSECOND for each in unpack_sorted(plain).tolist())
    return tuple(texts_of(plain))


def _numbers_plain(values: Sequence[Any]) -> object:
    exact = [meaning(each) if isinstance(each, float) else Decimal(each) for each in values]
    parts = [
        each.normalize().as_tuple() if len(each.as_tuple().digits) < 20 else None for each in exact
    ]
    least = min((int(each.exponent) for each in parts if each is not None), default=0)
    if None not in parts and -18 <= least <= 18:
        scaled = [int(each.scaleb(-least)) for each in exact]
        if all(abs(each) < 2**61 for each in scaled):
            return [least, pack_sorted(np.array(scaled, np.int64))]
    return list(map(str, exact))


def _numbers_of(plain: Any) -> tuple[Any, ...]:
    if plain and isinstance(plain[0], int):
        exponent, column = plain
        return tuple(
            each if exponent == 0 else canonical_decimal(Decimal(each).scaleb(exponent))
            for each in unpack_sorted(column).tolist()
        )
    return tuple(canonical_decimal(Decimal(text)) for text in plain)


def texts_plain(texts: Sequence[str]) -> object:
    """Return texts without what each shares with the one before."""
    shared, lengths, rest, before = [], [], [], b""
    for text in texts:
        data = text.encode()
        same = 0
        for one, other in zip(data, before, strict=False):
            if one != other or same == 255:
                break
            same += 1
        shared.append(same)
        lengths.append(len(data) - same)
        rest.append(data[same:])
        before = data
    return [pack(np.array(shared, np.int64)), pack(np.array(lengths, np.int64)), b"".join(rest)]


def texts_of(plain: Any) -> list[str]:
    shared, lengths, rest = plain
    found, before, at, total = [], b"", 0, 0
    for same, length in zip(unpack(shared).tolist(), unpack(lengths).tolist(), strict=True):
        if same > len(before) or at + length > len(rest):
            raise SummaryError("the summary is damaged: a text is cut short")
        before = before[:same] + rest[at : at + length]
        at += length
        total += len(before)
        if total > SIZE_MAX:
            raise SummaryError(f"the summary has texts of more than {SIZE_MAX:,} bytes")
        found.append(before.decode())
    return found


# --- tables ---------------------------------------------------------------------------------------


def table_plain(table: Table) -> list[object]:
    axes = [
        _axis_plain(key, rows, cells)
        for key, rows, cells in zip(table.axes, table.rows, table.cells, strict=True)
    ]
    return [axes, len(table.boxes), _boxes_plain(table), _members_plain(table.members)]


def table_of(plain: Any, owners: int) -> Table:
    """Read a table of `owners` owners; SummaryError if it is none, or not in its one form."""
    try:
        axes, count, boxes, given = plain
        members = _members_of(given, owners)
        if type(count) is not int or count != members[:, 0].max(initial=-1) + 1:
            raise SummaryError("the number of boxes is wrong")
        read = [_axis_of(each) for each in axes]
        table = Table(
            tuple(key for key, _, _ in read),
            tuple(rows for _, rows, _ in read),
            tuple(cells for _, _, cells in read),
            _boxes_of(boxes, [len(cells) for _, _, cells in read], count),
            members,
        )
        same = table.pruned()
    except (ValueError, TypeError, IndexError, KeyError, ArithmeticError, FykeError) as refused:
        raise SummaryError(f"the summary is damaged: {refused}") from None
    if table_plain(same) != plain:
        raise SummaryError("the summary is damaged: it is not in its one form")
    return same


def _axis_plain(key: tuple[str, int], rows: Rows, cells: Groups) -> list[object]:
    order = None if rows.order is None else list(rows.order.values)
    lines = [
        []
        if not len(line)
        else [
            _values_plain(which, line.values),
            pack_sorted(line.lows),
            pack_signed(line.highs - line.lows),
        ]
        for which, line in enumerate(rows.lines)
    ]
    keys = [list(each) for each in rows.languages]
    widths = b"" if (cells.widths == 1).all() else pack(cells.widths)
    return [
        *key,
        order,
        list(rows.flags),
        lines,
        keys,
        widths,
        pack_signed(np.diff(cells.items, prepend=0)),
    ]


def _axis_of(plain: Any) -> tuple[tuple[str, int], Rows, Groups]:
    name, facet, order, flags, lines, keys, widths, items = plain
    if type(name) is not str or type(facet) is not int:
        raise SummaryError("an axis has no name")
    made = tuple(_line_of(which, lines[which]) for which in LINES)
    languages = tuple((str(kind), str(text)) for kind, text in keys)
    for key in languages:
        language_of(key)
    declared = None if order is None else Enumeration(tuple(order))
    rows = Rows(tuple(map(str, flags)), made, languages, declared)  # type: ignore[arg-type]
    inside = np.cumsum(unpack_signed(items))
    _check_within(inside, len(rows))
    each = unpack(widths) if widths else np.ones(len(inside), np.int64)
    offsets = np.concatenate([[0], np.cumsum(each)])
    if offsets[-1] != len(inside):
        raise SummaryError("cells are not whole")
    return (name, facet), rows, Groups(offsets, inside)


def _line_of(which: int, plain: Any) -> Line:
    if not plain:
        return Line()
    values, lows, spans = plain
    read = _values_of(which, values)
    if any(not one < other for one, other in pairwise(read)):
        raise SummaryError("values are not sorted")
    begin = unpack_sorted(lows)
    end = begin + unpack_signed(spans)
    if (begin < -1).any() or (end > 2 * len(read)).any() or (begin >= end).any():
        raise SummaryError("a row begins or ends nowhere")
    return Line(read, begin, end)


def _boxes_plain(table: Table) -> list[object]:
    boxes = table.boxes
    columns: list[object] = []
    owners, axes = boxes.owners, table.axis_of_cell[boxes.items]
    for axis in range(len(table.axes)):
        own = axes == axis
        has = np.zeros(len(boxes), np.uint8)
        has[owners[own]] = 1
        cells = boxes.items[own] - table.bases[axis]
        columns.append([np.packbits(has).tobytes(), pack(cells)])
    return columns


def _boxes_of(plain: Any, sizes: Sequence[int], count: int) -> Groups:
    if len(plain) != len(sizes):
        raise SummaryError("boxes have other axes")
    owners, items, base = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for (mask, column), size in zip(plain, sizes, strict=True):
        has = np.flatnonzero(np.unpackbits(np.frombuffer(mask, np.uint8))[:count])
        cells = unpack(column)
        _check_within(cells, size)
        if len(has) != len(cells):
            raise SummaryError("boxes are not whole")
        owners.append(has)
        items.append(cells + base)
        base += size
    return Groups.by(np.concatenate(owners), np.concatenate(items), count)


def _members_plain(members: Ints) -> list[object]:
    boxes, owners, numbers = members.T
    return [pack_sorted(boxes), pack(owners), pack_signed(np.diff(numbers, prepend=0))]


def _members_of(plain: Any, owners: int) -> Ints:
    """Return members, in half of the memory where they are small: they are most of it.

    Boxes are numbered from 0 without a gap, so that members bound what is built.
    """
    box, owner, number = plain
    columns = [unpack_sorted(box), unpack(owner), np.cumsum(unpack_signed(number))]
    if not len(columns[0]) == len(columns[1]) == len(columns[2]):
        raise SummaryError("members are not whole")
    for column, count in zip(columns, (len(columns[0]), owners, 1 << NUMBER_BITS), strict=True):
        _check_within(column, count)
    members = np.stack(columns, 1) if len(columns[0]) else np.zeros((0, 3), np.int64)
    return members.astype(np.int32) if members.max(initial=0) < 2**31 else members


def _check_within(numbers: Ints, count: int) -> None:
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
        raise SummaryError("a column points nowhere")


def schema_of(document: object) -> Schema | None:
    try:
        return None if document is None else Schema.from_document(document)
    except SchemaError as refused:
        raise SummaryError(f"the summary is damaged: {shown(str(refused))}") from None
