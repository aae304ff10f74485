"""Layouts: the subscriptions of a pin, filed into parts as a placement wants them.

A job of two stages. Tasks read slices of the subscriptions and say where each belongs (a *filing*);
filters travel in their binary form; then a task per part builds a matcher and saves it. The parts
of a layout never change: they belong to a version, or to a folder that lives as long as this
process.

    ById           by the hash of the id: shards of equal size
    ByValue        by the bucket of a value; the common part is the last
    Weakened       all in one part, without their costly leaves, equal ones once
    FirstStage     all in one part, as far as they speak of some attributes, equal ones once
    ByFirstStage   as they are, by the hash of what the first stage has of them
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from zlib import crc32

import pyarrow as pa

from fyke.events.schema import Schema
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.algebra.weakening import indexable, weaken
from fyke.filters.codec import decode, encode
from fyke.filters.filter import Filter
from fyke.filters.residual import Residual
from fyke.limits import DEPTH_CEILING, Limits
from fyke.matching.matcher import Matcher
from fyke.routing.stages.attributes import classes_of
from fyke.spark.placements.buckets import filed_under
from fyke.spark.sessions.sizes import tasks
from fyke.spark.shipping.delivering import DDL, FIELDS, SnapshotDelivery
from fyke.spark.shipping.kernels import take_kernels
from fyke.spark.shipping.shipping import ship
from fyke.spark.versions.snapshots import Layout, Pin, opened_only, part_folders, part_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches = Iterable[pa.RecordBatch]
ByType: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Attributes for each type of events."""

_FILED: Final = pa.schema([("part", pa.int32()), ("id", pa.string()), ("filter", pa.binary())])
_FILED_DDL: Final = "part int, id string, filter binary"
_BUILT: Final = pa.schema(FIELDS)
_CHUNK: Final = 1_000
_MAX: Final = 2**62
_ADMITTED_BEFORE: Final = Limits(_MAX, DEPTH_CEILING, _MAX, _MAX, _MAX, _MAX)


class Filing(Protocol):
    """A rule that says in which part a subscription belongs."""

    @property
    def parts(self) -> int: ...

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        """Return the part of a subscription, its id there, and what is kept of its filter."""
        ...


@dataclass(frozen=True, slots=True)
class ById:
    """Shards of about the same size."""

    parts: int

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        return part_of(id, self.parts), id, filter


@dataclass(frozen=True, slots=True)
class ByValue:
    """Buckets of the values of an attribute, and the common part."""

    attribute: str
    buckets: int

    @property
    def parts(self) -> int:
        return self.buckets + 1

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        found = filed_under(filter, self.attribute, self.buckets)
        return (self.buckets if found is None else found), id, filter


@dataclass(frozen=True, slots=True)
class Weakened:
    """All filters in one part, weakened to what an index decides alone, without their own ids."""

    @property
    def parts(self) -> int:
        return 1

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        kept = weakened(filter)
        return 0, _name(kept), kept


@dataclass(frozen=True, slots=True)
class FirstStage:
    """All subscriptions in one part, as far as they speak of what is kept, equal ones once.

    `by_type` has attributes for types of events. What asks for types by name keeps what is kept for
    each of them; for any other type, and where no type is named, all that is kept for anything.
    """

    kept: tuple[str, ...]
    by_type: ByType = ()

    @property
    def parts(self) -> int:
        return 1

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        weak = self.weakened(filter)
        return 0, _name(weak), weak

    def weakened(self, filter: Filter) -> Filter:
        """Return what the first stage knows of a filter; it covers the filter."""
        return weakened(weaken(filter, {"type"}.union(*self._kept(filter))))

    def _kept(self, filter: Filter) -> Iterable[tuple[str, ...]]:
        if not self.by_type:
            return (self.kept,)
        known, names = dict(self.by_type), classes_of(filter)
        if names is None or not names <= known.keys():
            return (self.kept, *known.values())
        return [known[name] for name in names]


@dataclass(frozen=True, slots=True)
class ByFirstStage:
    """Subscriptions as they are, in the part that their weakened filter names."""

    first: FirstStage
    parts: int

    def place(self, id: str, filter: Filter) -> tuple[int, str, Filter]:
        weak = self.first.weakened(filter)
        return part_of(_name(weak), self.parts), id, filter


def _name(weak: Filter) -> str:
    """Return the id of a weakened filter, for all subscriptions that it stands for."""
    return sha256(encode(weak)).hexdigest()


def part_of(id: str, parts: int) -> int:
    """Return the part that an id names."""
    return crc32(id.encode()) % parts


def weakened(filter: Filter) -> Filter:
    """Return the filter without its costly leaves; itself, where it has none."""
    return simplify(indexable(filter)) if is_costly(filter) else filter


def is_costly(filter: Filter) -> bool:
    """Return True if a dialect's own interpreter decides a part of the filter."""
    return isinstance(filter, Residual) or any(map(is_costly, filter.children))


def filing_for(name: str, on: str | None, parts: int) -> Filing:
    """Return how a placement wants subscriptions filed."""
    match name:
        case "rendezvous":
            return ByValue(on or "", parts)
        case "multistage":
            return Weakened()
        case _:
            return ById(parts)


def filing_of(layout: Layout) -> Filing:
    """Return how a layout files subscriptions."""
    count = len(layout.parts)
    is_common = layout.placement == "rendezvous"
    return filing_for(layout.placement, layout.on, count - 1 if is_common else count)


def lay_out(pin: Pin, filing: Filing, folder: Path, session: SparkSession) -> Pin:
    """File the subscriptions of a pin into parts below a folder; return them in their order."""
    ship(pin, session)
    slices = tasks(session)

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at in batch.column(0).to_pylist():
                yield from _filed(pin, filing, at, slices)

    delivery, schema = SnapshotDelivery.begin(folder), pin.schema()

    def build(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from _built(delivery, batches, schema)

    numbers = session.range(0, slices, 1, slices)
    filed = numbers.mapInArrow(read, _FILED_DDL).repartitionById(filing.parts, "part")
    paths = part_folders(folder, filing.parts)
    full = {row["name"] for row in delivery.receive(filed.mapInArrow(build, DDL))}
    for path in paths:
        if path.name not in full:
            Matcher(schema=schema).save(path)
    return Pin.of(map(str, paths), pin.place)


def _filed(pin: Pin, filing: Filing, at: int, slices: int) -> Iterator[pa.RecordBatch]:
    """In a worker: yield a slice of the subscriptions."""
    for part in pin.parts:
        (matcher,) = opened_only(part)
        ids = islice(matcher, at, None, slices)
        while chunk := list(islice(ids, _CHUNK)):
            yield pa.RecordBatch.from_pylist([_row(matcher, id, filing) for id in chunk], _FILED)


def _row(matcher: Matcher, id: str, filing: Filing) -> dict[str, Any]:
    part, name, filter = filing.place(id, matcher.filter(id))
    return {"part": part, "id": name, "filter": encode(filter)}


def _built(
    delivery: SnapshotDelivery, batches: Batches, schema: Schema | None
) -> Iterator[pa.RecordBatch]:
    """In a worker: build the parts whose subscriptions this task gets."""
    take_kernels()
    opened_only()  # what was read from needs no memory any more
    take_kernels()
    matchers: defaultdict[int, Matcher] = defaultdict(partial(Matcher, schema=schema))
    for batch in batches:
        for row in batch.to_pylist():
            matcher = matchers[row["part"]]
            if row["id"] not in matcher:
                matcher.add(row["id"], decode(row["filter"], _ADMITTED_BEFORE))
    for part, matcher in matchers.items():
        for row in delivery.deliver(part_name(part), matcher):
            yield pa.RecordBatch.from_pylist([row], _BUILT)
