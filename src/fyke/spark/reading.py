"""Reading: how the rows of a DataFrame are events.

    columns       every column is an attribute (or those that are named); a null cell is missing
    json          one column holds JSON documents; null is a value there. Only what subscriptions
                  read is read of them (`events.door`), unless the whole is asked for
    cloudevents   one column holds CloudEvents as JSON

A row that cannot be read (NaN, a number beyond int64, malformed JSON) has a reason instead. Text is
read as a timestamp where the schema that the subscriptions were compiled with says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from fyke.errors import EventError, FykeError, shown
from fyke.events import cloudevents as cloud
from fyke.events.columns import Columns, read
from fyke.events.documents import as_bytes, in_columns, read_document
from fyke.events.door import Door
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.spark.columns import arrow_schema, need_names, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.matching.matcher import Matcher

Form = Literal["columns", "json", "cloudevents"]
MISFIT: Final = "the row does not fit the schema"
_TEXTS: Final = ("string", "binary")


@dataclass(frozen=True)
class Found:
    """The content of a batch of rows: the matches of each matcher, and why other rows are bad.

    A part is the numbers of rows, ascending, and for each an id: a dictionary array, whose indices
    are those of the matcher (`Matcher.match_columns`). `rows` and `ids` are all parts together,
    ordered by row.
    """

    parts: tuple[tuple[pa.Array, pa.DictionaryArray], ...]
    bad: dict[int, str]

    def __len__(self) -> int:
        return sum(len(rows) for rows, _ in self.parts)

    @cached_property
    def together(self) -> tuple[pa.Array, pa.Array]:
        if len(self.parts) == 1:
            ((rows, ids),) = self.parts
            return rows, ids.dictionary_decode()
        rows = pa.concat_arrays([rows for rows, _ in self.parts])
        ids = pa.concat_arrays([ids.dictionary_decode() for _, ids in self.parts])
        order = pc.sort_indices(rows)
        return rows.take(order), ids.take(order)

    @property
    def rows(self) -> pa.Array:
        return self.parts[0][0] if len(self.parts) == 1 else self.together[0]

    @property
    def ids(self) -> pa.Array:
        return self.together[1]


@dataclass(frozen=True, slots=True)
class Reading:
    """Which columns are read, and as what."""

    form: Form
    names: tuple[str, ...]
    schema: Schema | None = None
    """The schema that says what text is read as timestamps."""
    misfits: str | None = None
    """A column with the text of rows that do not fit the schema of their file, null for others."""

    @classmethod
    def of(
        cls,
        events: DataFrame,
        attributes: Sequence[str] | None,
        json: str | None,
        cloudevents: str | None,
    ) -> Reading:
        """Return the reading; FykeError for what can be checked before anything runs."""
        need_names(events, (), "events")
        given = {"attributes": attributes, "json": json, "cloudevents": cloudevents}
        told = [name for name, value in given.items() if value is not None]
        if len(told) > 1:
            raise FykeError(f"events are read in one way; {' and '.join(told)} were given")
        for form, column in (("json", json), ("cloudevents", cloudevents)):
            if column is not None:
                return cls._text(events, form, column)
        if isinstance(attributes, str):
            raise FykeError(f"attributes={shown(attributes)}; expected a list of columns")
        names = events.columns if attributes is None else attributes
        names = need_names(events, names, "events")
        read(arrow_schema(events.select(*map(quoted, names))).empty_table())
        return cls("columns", tuple(names))

    @classmethod
    def _text(cls, events: DataFrame, form: Any, column: str) -> Reading:
        need_names(events, [column], "events")
        found = events.schema[column].dataType.simpleString()
        if found not in _TEXTS:
            expected = " or ".join(_TEXTS)
            raise FykeError(f"events: the column {shown(column)} is {found}; expected {expected}")
        return cls(form, (column,))

    def under(self, schema: Schema | None) -> Reading:
        """Return the same columns, read by a schema."""
        return replace(self, schema=schema)

    @property
    def timestamps(self) -> frozenset[str]:
        """Return the attributes whose text is read as a timestamp."""
        return frozenset() if self.schema is None else self.schema.timestamps

    def columns(self, batch: pa.RecordBatch) -> Columns:
        """Return the rows of a batch as events; those that cannot be read are set apart."""
        cells = batch.select(list(self.names))
        return read(cells, errors="collect", timestamps=self.timestamps)

    def bad(self, batch: pa.RecordBatch) -> dict[int, str]:
        """Return why rows cannot be read."""
        if self.form == "columns":
            return self.columns(batch).bad | self._misfits(batch)
        return {row: event for row, event in self.decoded(batch) if isinstance(event, str)}

    def events(self, batch: pa.RecordBatch) -> Callable[[int], Event]:
        """Make the event of a row, which can be read."""
        if self.form == "columns":
            return self.columns(batch).event
        held = as_bytes(batch.column(self.names[0]))
        return lambda row: self._decode(held[row].as_py())

    def events_at(self, batch: pa.RecordBatch, attribute: str) -> Callable[[int], Event]:
        """Make the event of a row for the sake of one attribute: of JSON no more is read."""
        if self.form != "json":
            return self.events(batch)
        held, read = as_bytes(batch.column(self.names[0])), Door([attribute], self.schema).event
        return lambda row: read(held[row].as_py())

    def _decode(self, text: bytes) -> Event:
        if self.form == "json":
            return read_document(text, self.schema)
        event = cloud.decode(text)
        return event if self.schema is None else self.schema.read(event)

    def match(
        self, matchers: list[Matcher], batch: pa.RecordBatch, *, strict: bool = False
    ) -> Found:
        """Match all rows that can be read. They are read once, however many matchers there are.

        A document that goes by the door is read by each matcher, which reads no more of it than its
        subscriptions read. With `strict` the whole of each document is read.
        """
        if self.form == "json" and not strict:
            return self._match_lines(matchers, batch)
        columns, good, bad = self._readable(batch)
        parts = []
        for matcher in matchers:
            table = matcher.match_columns(columns)
            rows, ids = _one(table["event"]), _one(table["subscription"])
            parts.append((rows if good is None else good.take(rows), ids))
        return Found(tuple(parts), bad)

    def _match_lines(self, matchers: list[Matcher], batch: pa.RecordBatch) -> Found:
        """Match by the door of each matcher; a row that one of them refuses is bad."""
        texts = as_bytes(batch.column(self.names[0])).to_pylist()
        bad = {row: _unread(text) for row, text in enumerate(texts) if not text or text.isspace()}
        lines = [text or b"" for text in texts]
        found = [matcher.match_lines(lines, is_coded=True) for matcher in matchers]
        for part in found:
            bad.update(part.refused)
        parts = []
        for part in found:
            rows, ids = _one(part.table["event"]), _one(part.table["subscription"])
            if not isinstance(ids, pa.DictionaryArray):  # no line was an event
                ids = ids.dictionary_encode()
            if bad and len(found) > 1:
                good = pc.invert(pc.is_in(rows, pa.array(list(bad), pa.int64())))
                rows, ids = rows.filter(good), ids.filter(good)
            parts.append((rows, ids))
        return Found(tuple(parts), dict(sorted(bad.items())))

    def _readable(self, batch: pa.RecordBatch) -> tuple[Columns, pa.Array | None, dict[int, str]]:
        """Return the rows that are events, their numbers unless all are, and why others are not.

        Only a batch with such a row is read again, without it.
        """
        if self.form == "columns":
            columns = self.columns(batch)
            bad = columns.bad | self._misfits(batch)
            if not bad:
                return columns, None, bad
            good = pa.array([row for row in range(batch.num_rows) if row not in bad], pa.int64())
            return self.columns(batch.take(good)), good, bad
        decoded = dict(self.decoded(batch))
        bad = {row: event for row, event in decoded.items() if isinstance(event, str)}
        good = pa.array([row for row in decoded if row not in bad], pa.int64())
        return in_columns([each for each in decoded.values() if isinstance(each, Event)]), good, bad

    def _misfits(self, batch: pa.RecordBatch) -> dict[int, str]:
        if self.misfits is None:
            return {}
        held = pc.is_valid(batch.column(self.misfits)).to_numpy(zero_copy_only=False)
        return dict.fromkeys(held.nonzero()[0].tolist(), MISFIT)

    def decoded(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Event | str]]:
        """Yield rows as events, or why they are not events."""
        for row, text in enumerate(as_bytes(batch.column(self.names[0])).to_pylist()):
            try:
                yield row, "the row is null" if text is None else self._decode(text)
            except EventError as refused:
                yield row, str(refused)


def _unread(text: bytes | None) -> str:
    return "the row is null" if text is None else "not JSON: the text is empty"


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
