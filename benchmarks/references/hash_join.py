"""DuckDB: a hash join on the access predicate, the rest of the filter as a residual condition.

A subscription lies in the table of the attribute on which its rarest equality is; rarity is the
true one, of the generator. The query is a join per attribute, all of them together.
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.references.broadcast import dense
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.predicates import Conjunctions


def access(workload: ConjunctiveWorkload, filters: Conjunctions) -> npt.NDArray[np.int64]:
    """The column of each filter's rarest equality."""
    sizes = np.array([each.size for each in workload.attributes] + [1], np.float64)
    harmonic = np.array([np.sum(1 / np.arange(1, size + 1)) for size in sizes])
    attribute = np.minimum(filters.attribute, len(workload.attributes))
    rarity = (filters.low + 1.0) * harmonic[attribute]
    chosen: npt.NDArray[np.int64] = np.where(filters.is_equality, rarity, -1.0).argmax(axis=1)
    return chosen


class HashJoin:
    """Subscriptions as tables; events are loaded, then joined."""

    def __init__(self, workload: ConjunctiveWorkload, count: int) -> None:
        self._names = [attribute.name for attribute in workload.attributes]
        self._connection = duckdb.connect(config={"threads": 1})
        filters = workload.conjunctions(count)
        chosen = access(workload, filters), np.arange(count)
        at, code = filters.attribute[chosen[1], chosen[0]], filters.low[chosen[1], chosen[0]]
        low, high = dense(filters, len(self._names))
        ids = np.array([workload.id(number) for number in range(count)], dtype=object)
        self._keys = np.unique(at).tolist()
        for key in self._keys:
            rows = np.flatnonzero(at == key)
            columns: dict[str, Any] = {"number": rows, "id": ids[rows], "code": code[rows]}
            for attribute in self._others(key):
                columns[f"low_{attribute}"] = low[attribute, rows]
                columns[f"high_{attribute}"] = high[attribute, rows]
            self._load(f"subscriptions_{key}", pa.table(columns))

    def load_codes(self, codes: npt.NDArray[np.int32]) -> None:
        """Takes up encoded events."""
        columns = {f"a{at}": column for at, column in enumerate(codes.T.copy())}
        self._load("events", pa.table({"event": np.arange(len(codes)), **columns}))

    def match(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The matches of the events that were taken up last: events and subscriptions."""
        found = self._connection.sql(self._query("number")).fetchnumpy()
        return found["event"], found["number"]

    def match_table(self) -> pa.Table:
        """The same as an Arrow table, with ids."""
        return self._connection.sql(self._query("id as subscription")).to_arrow_table()

    def _others(self, key: int) -> list[int]:
        return [at for at in range(len(self._names)) if at != key]

    def _query(self, out: str) -> str:
        return " union all ".join(self._join(key, out) for key in self._keys)

    def _join(self, key: int, out: str) -> str:
        residual = " and ".join(f"a{at} between low_{at} and high_{at}" for at in self._others(key))
        tables = f"events join subscriptions_{key}"
        return f"select event, {out} from {tables} on a{key} = code and {residual}"

    def _load(self, name: str, table: pa.Table) -> None:
        self._connection.register("given", table)
        self._connection.execute(f"create or replace table {name} as select * from given")
        self._connection.unregister("given")
