"""Source: the events that a job counts, whole or a sample of them, and how their rows are read.

All jobs over events take the same keywords, `Options`. A row that cannot be read as an event stops
the job; with `errors="skip"` it counts nowhere, not even in the number of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import pyarrow as pa

from fyke.errors import EventError, FykeError, shown
from fyke.events.columns import Columns, read
from fyke.events.event import Event
from fyke.spark.columns import map_batches, need_frame
from fyke.spark.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Work


class Options(TypedDict, total=False):
    """Options for reading rows, as in `fyke.spark.match`; `sample` is the share to look at."""

    attributes: Sequence[str] | None
    json: str | None
    cloudevents: str | None
    errors: Literal["raise", "skip"]
    sample: float | None
    seed: int


@dataclass(frozen=True, slots=True)
class Source:
    """Some events in a DataFrame."""

    frame: DataFrame
    rows: Rows

    @classmethod
    def of(cls, events: DataFrame, options: Options) -> Source:
        need_frame(events, "events")
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            expected = ", ".join(Options.__annotations__)
            raise FykeError(f"{shown(min(unknown))} is not known; expected {expected}")
        given = (options.get(name) for name in ("attributes", "json", "cloudevents"))
        reading = Reading.of(events, *given)  # type: ignore[arg-type]
        errors = options.get("errors", "raise")
        if errors not in ("raise", "skip"):
            raise FykeError(f"errors={shown(errors)}; expected 'raise' or 'skip'")
        return cls(_sampled(events, options), Rows(reading, errors == "skip"))

    def mapped(self, work: Work, schema: Any) -> DataFrame:
        """Return what workers make of the columns that are read."""
        return map_batches(self.frame, list(self.rows.reading.names), work, schema)


def _sampled(events: DataFrame, options: Options) -> DataFrame:
    share, seed = options.get("sample"), options.get("seed", 0)
    if share is None:
        return events
    if not isinstance(share, int | float) or not 0 < share <= 1:
        raise FykeError(f"sample={shown(share)}; expected a share above 0, up to 1")
    if type(seed) is not int:
        raise FykeError(f"seed={shown(seed)}; expected a whole number")
    return events.sample(float(share), seed)


@dataclass(frozen=True, slots=True)
class Rows:
    """In a worker: batches as events."""

    reading: Reading
    skips: bool

    def columns(self, batch: pa.RecordBatch) -> Columns | list[Event]:
        """Return the rows that can be read: in columns, where they are columns."""
        if self.reading.form != "columns":
            return self._decoded(batch)
        cells = batch.select(list(self.reading.names))
        columns = read(cells, errors="collect")
        if not columns.bad:
            return columns
        self.check(columns.bad)
        good = [row for row in range(columns.rows) if row not in columns.bad]
        return read(cells.take(pa.array(good, pa.int64())))

    def _decoded(self, batch: pa.RecordBatch) -> list[Event]:
        decoded = dict(self.reading.decoded(batch))
        self.check({row: event for row, event in decoded.items() if isinstance(event, str)})
        return [event for event in decoded.values() if not isinstance(event, str)]

    def check(self, bad: dict[int, str]) -> None:
        """Raise EventError where rows that cannot be read are not to be skipped."""
        if bad and not self.skips:
            raise EventError(
                f"a row cannot be read as an event: {next(iter(bad.values()))}; with "
                "errors='skip' such rows are not counted"
            )
