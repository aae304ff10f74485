"""Sweeping: a function for every choice of parameters and every seed, as a Spark job.

    def simulate(parameters: dict[str, Any], seed: int) -> dict[str, Any]: ...

    sweep(simulate, {"brokers": [10, 100], "strategy": ["flood", "cover"]}, seeds=3)

A *run* is one call. The result has a row per run, or several where the function returns a list:
`run` (from 0, in the order of the grid, then of the seeds), a column per parameter, `seed`, a
column per result, and `error`, which says what a run failed of; the other runs go on.

Idea. The runs are dealt out to jobs, submitted in order and a few more at a time than keep all
cores busy, so that runs begin in the order of the grid: who lists the longest first ends soonest.
Every job that ends is progress. Results come to the driver as JSON, so that nothing runs twice, and
their columns are known from all of them. A run that kills its worker takes down its job, of which
each run is then tried alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.spark.sessions.settings import cores, is_here
from fyke.spark.sessions.starting import reason_of
from fyke.spark.sessions.starting import session as start_session
from fyke.spark.sweeps.sweep_table import RESERVED, ColumnTypes, Outcome, declared, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fyke.spark.columns import Batches

Parameters: TypeAlias = dict[str, Any]
Function: TypeAlias = Callable[[Parameters, int], Mapping[str, Any] | Sequence[Mapping[str, Any]]]
Progress: TypeAlias = Callable[[int, int], None]
Finished: TypeAlias = Callable[[Sequence[int]], None]

JOBS_MAX: Final = 64
AT_ONCE: Final = 24
"""Jobs at a time, at most, and where the number of cores is not known."""
TASKS_MAX: Final = 8
"""At most this many tasks of a job; each does one run or more."""
_DDL: Final = "run long, results string, error string"
_SCHEMA: Final = pa.schema([("run", pa.int64()), ("results", pa.string()), ("error", pa.string())])


def sweep(
    function: Function,
    grid: Mapping[str, Iterable[Any]] | Iterable[Parameters],
    seeds: int | Iterable[int] = 1,
    *,
    session: SparkSession | None = None,
    schema: str | None = None,
    progress: Progress | None = None,
    finished: Finished | None = None,
) -> DataFrame:
    """Run it all, now; return a table that is there.

    `grid` gives the values of each parameter, all combinations of which are run, or lists the
    combinations. `seeds` are numbers, or how many, from 0. `schema` declares the results as in SQL
    (`"hops long, load double"`); without it they are what the runs return. `progress` is told,
    time and again, how many runs of how many are done; `finished`, the numbers of those that have
    ended just now.
    """
    if not callable(function):
        raise FykeError(f"{shown(function)} cannot be called; expected a function")
    choices, numbers = _choices(grid), _seeds(seeds)
    runs = [(choice, seed) for choice in choices for seed in numbers]
    used = start_session() if session is None else session
    types = None if schema is None else declared(used, schema)
    outcomes = _Sweep(used, _Calls(function, runs), progress, finished).outcomes()
    return used.createDataFrame(table(runs, outcomes, types))


def _choices(grid: Mapping[str, Iterable[Any]] | Iterable[Parameters]) -> list[Parameters]:
    """Return all combinations, of names and scalars that make columns."""
    given = _combined(grid) if isinstance(grid, Mapping) else _listed(grid)
    choices = [
        {_name(name, ()): _scalar(name, value) for name, value in choice.items()}
        for choice in given
    ]
    for choice in choices:
        if choice.keys() != choices[0].keys():
            raise FykeError(f"grid: {shown(choice)} has not the parameters of {shown(choices[0])}")
    ColumnTypes().admit(choices)
    return choices


def _combined(grid: Mapping[str, Iterable[Any]]) -> list[Parameters]:
    for name, values in grid.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise FykeError(f"grid: {shown(name)} is {shown(values)}; expected a list")
    return [dict(zip(grid, each, strict=True)) for each in product(*grid.values())]


def _listed(grid: Iterable[Parameters]) -> list[Parameters]:
    listed = [*grid] if isinstance(grid, Iterable) else [grid]
    for each in listed:
        if not isinstance(each, Mapping):
            raise FykeError(f"grid: {shown(each)}; expected a dictionary of parameters")
    return [dict(each) for each in listed]


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if not isinstance(seeds, int | Iterable):
        raise FykeError(f"seeds={shown(seeds)}; expected numbers, or how many")
    numbers = list(range(seeds) if isinstance(seeds, int) else seeds)
    for seed in numbers:
        if type(seed) is not int or not -(2**63) <= seed < 2**63:
            raise FykeError(f"seeds: {shown(seed)}; expected whole numbers of 64 bits")
    return numbers


# --- in the driver -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sweep:
    """The runs, dealt out to jobs."""

    session: SparkSession
    calls: _Calls
    progress: Progress | None
    finished: Finished | None
    found: dict[int, Outcome] = field(default_factory=dict)

    def outcomes(self) -> list[Outcome]:
        """Yield what became of each run."""
        count = len(self.calls.runs)
        size = max(1, -(-count // JOBS_MAX))
        jobs = [range(start, min(start + size, count)) for start in range(0, count, size)]
        with ThreadPoolExecutor(_at_once(self.session), "fyke-sweep") as pool:
            waiting = {pool.submit(self._job, job) for job in jobs}
            try:
                for done in as_completed(waiting):
                    self._take(done.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [self.found[number] for number in range(count)]

    def _take(self, outcomes: list[Outcome]) -> None:
        self.found.update({outcome.run: outcome for outcome in outcomes})
        if self.progress is not None:
            self.progress(len(self.found), len(self.calls.runs))
        if self.finished is not None:
            self.finished([outcome.run for outcome in outcomes])

    def _job(self, runs: range) -> list[Outcome]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException, PythonException

        numbers = self.session.range(runs.start, runs.stop, numPartitions=min(len(runs), TASKS_MAX))
        try:
            rows = numbers.mapInArrow(self.calls.outcomes, _DDL).collect()
            return [Outcome(row["run"], row["results"], row["error"]) for row in rows]
        except PythonException as error:
            raise FykeError(f"the function cannot be run in Spark's workers: {error}") from error
        except (PySparkException, Py4JError) as error:
            if len(runs) == 1:
                return [Outcome(runs.start, None, f"the worker ended: {reason_of(error)}")]
        return [each for run in runs for each in self._job(range(run, run + 1))]


def _at_once(session: SparkSession) -> int:
    """Return how many jobs wait or run at a time."""
    master = session.conf.get("spark.master", None)
    return min(AT_ONCE, 2 * cores(master)) if is_here(master) else AT_ONCE


# --- in the workers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Calls:
    """The runs by number; Spark takes the function to its workers."""

    function: Function
    runs: list[tuple[Parameters, int]]

    def outcomes(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for run in batch.column(0).to_pylist():
                results, error = self._outcome(run)
                row = {"run": run, "results": results, "error": error}
                yield pa.RecordBatch.from_pylist([row], _SCHEMA)

    def _outcome(self, run: int) -> tuple[str | None, str | None]:
        parameters, seed = self.runs[run]
        try:
            return json.dumps(_rows(self.function(dict(parameters), seed), parameters)), None
        except Exception as error:  # whatever a user's function raises is a row
            return None, f"{type(error).__name__}: {error}"


def _rows(results: Any, parameters: Parameters) -> list[dict[str, Any]]:
    """Return the results of one run as rows of scalars."""
    rows = [results] if isinstance(results, Mapping) else results
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise FykeError(f"the function returned {shown(results)}; expected a dictionary or a list")
    return [
        {_name(name, parameters): _scalar(name, value) for name, value in row.items()}
        for row in rows
    ]


def _name(name: Any, taken: Container[str]) -> str:
    if not isinstance(name, str) or name in RESERVED or name in taken:
        raise FykeError(f"{shown(name)} names no column; expected a name that is not taken")
    return name


def _scalar(name: str, value: Any) -> bool | int | float | str | None:
    """Return one of Python's own scalars, also for those of numpy and of enumerations."""
    value = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise FykeError(f"{shown(name)} is {shown(value)}; expected a scalar")
