"""The table of a sweep: what the runs returned, as columns.

A column has the type of its values: boolean, whole number, number, text. Whole numbers and others
together are numbers. A run whose results do not fit, in the columns that the runs before it made or
that a schema declares, has failed: its rows are one with the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESERVED: Final = frozenset({"run", "seed", "error"})
_TYPES: Final[dict[type, pa.DataType]] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
}
_NUMBERS: Final = (pa.int64(), pa.float64())


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: rows as JSON, or an error."""

    run: int
    results: str | None
    error: str | None


def table(
    runs: list[tuple[dict[str, Any], int]],
    outcomes: list[Outcome],
    declared: dict[str, pa.DataType] | None,
) -> pa.Table:
    """Return run, the parameters, seed, the results, error."""
    columns = ColumnTypes(declared)
    rows: list[dict[str, Any]] = []
    for (parameters, seed), outcome in zip(runs, outcomes, strict=True):
        known = {"run": outcome.run, **parameters, "seed": seed}
        try:
            results = [] if outcome.results is None else json.loads(outcome.results)
            columns.admit(results)
            rows.extend({**known, **each} for each in results)
            error = outcome.error
        except FykeError as refused:
            error = str(refused)
        if error is not None:
            rows.append({**known, "error": error})
    given = ColumnTypes()
    given.admit([parameters for parameters, _ in runs])
    fields = [
        pa.field("run", pa.int64()),
        *given.fields(),
        pa.field("seed", pa.int64()),
        *columns.fields(),
        pa.field("error", pa.string()),
    ]
    cells = {
        field.name: [_cell(row.get(field.name), field.type) for row in rows] for field in fields
    }
    return pa.table(cells, pa.schema(fields))


def _cell(value: Any, type: pa.DataType) -> Any:
    return float(value) if isinstance(value, int) and type == pa.float64() else value


class ColumnTypes:
    """Names and types, in the order in which they were met; None: only nulls so far."""

    def __init__(self, declared: dict[str, pa.DataType] | None = None) -> None:
        self._is_open = declared is None
        self._types: dict[str, pa.DataType | None] = dict(declared or {})

    def admit(self, rows: list[dict[str, Any]]) -> None:
        """Make room for some rows, all of them or none; FykeError where they do not fit."""
        types = dict(self._types)
        for row in rows:
            for name, value in row.items():
                if name not in types and not self._is_open:
                    expected = ", ".join(types)
                    raise FykeError(f"there is no column {shown(name)}; expected {expected}")
                types[name] = self._type(name, types.get(name), value)
        self._types = types

    def _type(self, name: str, known: pa.DataType | None, value: Any) -> pa.DataType | None:
        if value is None:
            return known
        given = _TYPES[type(value)]
        if known is None or given == known:
            return given
        if given in _NUMBERS and known in _NUMBERS and (self._is_open or known == pa.float64()):
            return pa.float64()
        raise FykeError(f"{shown(name)} is {shown(value)}; expected {known}")

    def fields(self) -> list[pa.Field]:
        return [pa.field(name, type or pa.string()) for name, type in self._types.items()]


def declared(session: SparkSession, schema: str) -> dict[str, pa.DataType]:
    """Return the columns that a schema declares, as SQL writes them."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        fields = session.createDataFrame([], schema).schema.fields
        types = {field.name: to_arrow_type(field.dataType) for field in fields}
    except PySparkException as error:
        raise FykeError(f"schema={shown(schema)} cannot be read: {shown(str(error))}") from None
    for name, type in types.items():
        if type not in _TYPES.values() or name in RESERVED:
            raise FykeError(
                f"schema: {shown(name)} is {type}; expected boolean, long, double or string, and a "
                f"name other than {', '.join(sorted(RESERVED))}"
            )
    return types
