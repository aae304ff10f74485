"""Reading: how the rows of a DataFrame are events.

    columns       every column is an attribute (or those that are named); a null cell is missing
    json          one column holds JSON documents; null is a value there
    cloudevents   one column holds CloudEvents as JSON

A row that cannot be read (NaN, a number beyond int64, malformed JSON) has a reason instead. Text is
read as a timestamp where the schema that the subscriptions were compiled with says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from fyke.errors import EventError, FykeError, shown
from fyke.events import cloudevents as cloud
from fyke.events.columns import Columns, read
from fyke.events.documents import as_bytes, in_columns, read_document
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.spark.columns import arrow_schema, need_names, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.matching.matcher import Matcher

Form = Literal["columns", "json", "cloudevents"]
_TEXTS: Final = ("string", "binary")


@dataclass(frozen=True, slots=True)
class Found:
    """What a batch of rows holds: matches as (row, id), ordered by row, and rows that are bad."""

    rows: pa.Array
    ids: pa.Array
    bad: dict[int, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """Which columns are read, and as what."""

    form: Form
    names: tuple[str, ...]
    schema: Schema | None = None
    """What text is read as timestamps by."""

    @classmethod
    def of(
        cls,
        events: DataFrame,
        attributes: Sequence[str] | None,
        json: str | None,
        cloudevents: str | None,
    ) -> Reading:
        """Checks what can be checked before anything runs."""
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
        """The same columns, read by a schema."""
        return replace(self, schema=schema)

    @property
    def timestamps(self) -> frozenset[str]:
        """The attributes whose text is read as a timestamp."""
        return frozenset() if self.schema is None else self.schema.timestamps

    def columns(self, batch: pa.RecordBatch) -> Columns:
        """The rows of a batch as events; those that cannot be read are set apart."""
        cells = batch.select(list(self.names))
        return read(cells, errors="collect", timestamps=self.timestamps)

    def bad(self, batch: pa.RecordBatch) -> dict[int, str]:
        """Why rows cannot be read."""
        if self.form == "columns":
            return self.columns(batch).bad
        return {row: event for row, event in self.decoded(batch) if isinstance(event, str)}

    def events(self, batch: pa.RecordBatch) -> Callable[[int], Event]:
        """Makes the event of a row, which can be read."""
        if self.form == "columns":
            return self.columns(batch).event
        held = as_bytes(batch.column(self.names[0]))
        return lambda row: self._decode(held[row].as_py())

    def _decode(self, text: bytes) -> Event:
        if self.form == "json":
            return read_document(text, self.schema)
        event = cloud.decode(text)
        return event if self.schema is None else self.schema.read(event)

    def match(self, matchers: list[Matcher], batch: pa.RecordBatch) -> Found:
        """The matches of all rows that can be read."""
        if self.form == "columns":
            return self._match_columns(matchers, batch.select(list(self.names)))
        return self._match_documents(matchers, batch)

    def _match_documents(self, matchers: list[Matcher], batch: pa.RecordBatch) -> Found:
        decoded = dict(self.decoded(batch))
        bad = {row: event for row, event in decoded.items() if isinstance(event, str)}
        good = pa.array([row for row in decoded if row not in bad], pa.int64())
        events = [event for event in decoded.values() if not isinstance(event, str)]
        rows, ids = _matched(matchers, in_columns(events))
        return Found(good.take(rows), ids, bad)

    def _match_columns(self, matchers: list[Matcher], batch: pa.RecordBatch) -> Found:
        try:
            return Found(*_matched(matchers, batch), {})
        except EventError:
            bad = self.columns(batch).bad
            if not bad:
                raise
        good = pa.array([row for row in range(batch.num_rows) if row not in bad], pa.int64())
        rows, ids = _matched(matchers, batch.take(good))
        return Found(good.take(rows), ids, bad)

    def decoded(self, batch: pa.RecordBatch) -> Iterator[tuple[int, Event | str]]:
        """Rows as events, or why they are none."""
        for row, text in enumerate(as_bytes(batch.column(self.names[0])).to_pylist()):
            try:
                yield row, "the row is null" if text is None else self._decode(text)
            except EventError as refused:
                yield row, str(refused)


def _matched(matchers: list[Matcher], batch: pa.RecordBatch | Columns) -> tuple[pa.Array, pa.Array]:
    tables = [matcher.match_batch(batch) for matcher in matchers]
    table = tables[0]
    if len(tables) > 1:
        table = pa.concat_tables(tables).combine_chunks()
        table = table.take(pc.sort_indices(table["event"]))
    return _one(table["event"]), _one(table["subscription"])


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
