"""Summary: a small thing that never says no to an event that somebody wants.

    summary = Summary.of([("alice", "price < 10"), ("bob", "symbol = 'OTE'")])
    summary.may_match({"price": 12, "symbol": "OTX"})        False, and that is certain
    summary.match({"price": 8})                              ["alice"], candidates

Modes. *coarse* is the paper's: overlapping ranges and covered patterns share rows. *exact* keeps
the ends of all ranges and all patterns. With a `budget`, rows of exact mode are joined until
`to_bytes()` is short enough.
Owners. Each subscription belongs to an owner, a broker perhaps, and each owner's contribution has a
version. `one | other` merges: of two contributions of one owner the newer one stays. Contributions
without a version are joined.
Law. After any changes and merges, every subscription that accepts an event is among the candidates,
its owner among the owners (`fyke.testing.covering.check_covers`). Whoever owns the subscriptions
checks candidates exactly (SUM-15).
Changes. A summary that was made of filters keeps its rows as they were said, so what it becomes
after `add` and `remove` are the rows of a new one. One that was received has wide rows only, which
stay wide when what they were made for is gone.
Cost. Changes are worked in when somebody asks next: a pass over all boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fyke.errors import FykeError, shown
from fyke.events.event import Document, Event, as_event
from fyke.events.schema import Schema
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.summaries.budget import SAMPLE_MAX, fit
from fyke.summaries.constraints import Box, boxes
from fyke.summaries.encoding import SummaryError, frame, schema_of, table_of, table_plain, unframe
from fyke.summaries.groups import Groups, unique_rows
from fyke.summaries.joining import coarsen
from fyke.summaries.line import Ints
from fyke.summaries.search import Search
from fyke.summaries.sizes import read_size
from fyke.summaries.table import EMPTY_TABLE, Builder, Table, concat

if TYPE_CHECKING:
    from fyke.summaries.identifiers import SubscriptionId

COARSE: Final = "coarse"
EXACT: Final = "exact"
MODES: Final = (COARSE, EXACT)
NUMBERED: Final = "#"
"""Between the owner and the number of a subscription whose name is not known here."""


class Summary:
    """A set of subscriptions, in short. Make one with `Summary.of` or `Summary.from_bytes`."""

    def __init__(
        self,
        mode: str | None = None,
        *,
        schema: Schema | None = None,
        budget: int | str | None = None,
        sample: Iterable[Event | Document] = (),
    ) -> None:
        self._budget = None if budget is None else read_size(budget)
        self._mode = (COARSE if budget is None else EXACT) if mode is None else mode
        if self._mode not in MODES:
            raise SummaryError(f"unknown mode {shown(mode)}; expected {' or '.join(MODES)}")
        self._schema = schema
        self._sample = [as_event(each) for each in islice(sample, SAMPLE_MAX)]
        self._owners: list[str] = []
        self._versions: dict[str, int] = {}
        self._names: dict[str, dict[str, int]] = {}
        self._source = EMPTY_TABLE
        self._pending: dict[tuple[int, int], list[Box]] = {}
        self._dropped: set[tuple[int, int]] = set()
        self._derived: Table | None = None
        self._searching: Search | None = None
        self._by_box: tuple[Groups, Groups] | None = None
        self._named: dict[tuple[int, int], str] | None = None
        self._following: dict[str, int] = {}
        """The next number of each owner."""
        self._taken: dict[str, frozenset[int]] = {}
        """The numbers of each owner that were merged in."""

    @classmethod
    def of(
        cls,
        subscriptions: Iterable[tuple[str, Filter | object]] | Matcher,
        mode: str | None = None,
        *,
        schema: Schema | None = None,
        budget: int | str | None = None,
        sample: Iterable[Event | Document] = (),
        owner: str = "",
        version: int = 0,
    ) -> Summary:
        """Return the summary of (id, filter) pairs, or of a Matcher.

        `budget` is a number of bytes, or a text such as "64 kB"; `sample` are events by which rows
        are joined where they let least through. `owner` and `version` say whose they are.
        """
        if isinstance(subscriptions, Matcher):
            schema = subscriptions.schema if schema is None else schema
            subscriptions = [(id, subscriptions.filter(id)) for id in subscriptions]
        summary = cls(mode, schema=schema, budget=budget, sample=sample)
        summary._claim(owner, version)
        for pair in subscriptions:
            try:
                id, filter = pair
            except (TypeError, ValueError):
                raise FykeError(f"{shown(pair)} is no pair of an id and a filter") from None
            summary._add(id, filter, owner)
        summary._renumber()
        return summary

    # --- asking -----------------------------------------------------------------------------------

    def may_match(self, event: Event | Document) -> bool:
        """Return False only if no subscription accepts the event, which is certain then."""
        return self._search().any(self._event(event))

    def match(self, event: Event | Document) -> list[str]:
        """Return the ids of the candidates: all that accept the event, and perhaps others."""
        found = self._search().find(self._event(event))
        members = self._boxes()[0].take(found).items
        pairs, _ = unique_rows(self.table.members[members][:, 1:])
        return [self._name(owner, number) for owner, number in pairs.tolist()]

    def owners(self, event: Event | Document) -> list[str]:
        """Return the owners of the candidates."""
        found = self._search().find(self._event(event))
        owners = self._boxes()[1].take(found).items
        if not len(owners):
            return []
        is_there = np.zeros(len(self._owners), bool)
        is_there[owners] = True
        names: list[str] = np.array(self._owners, object)[is_there].tolist()
        return names

    @property
    def always(self) -> list[str]:
        """The ids of subscriptions that constrain no attribute, so that they are always met."""
        members = self._boxes()[0].take(self._search().always).items
        pairs, _ = unique_rows(self.table.members[members][:, 1:])
        return [self._name(owner, number) for owner, number in pairs.tolist()]

    # --- changing ---------------------------------------------------------------------------------

    def add(self, id: str, filter: Filter | object, owner: str | None = None) -> None:
        """Add a subscription; FykeError if its id is taken."""
        name = self._only_owner() if owner is None else owner
        self._add(id, filter, name)
        self._touch(name)

    def remove(self, id: str, owner: str | None = None) -> None:
        """Remove a subscription; FykeError if there is none of that id."""
        name, number = self._known(id, owner)
        self._drop(name, number, id)
        self._touch(name)

    def replace(self, id: str, filter: Filter | object, owner: str | None = None) -> None:
        """Give a subscription another filter; nothing changes if that is refused."""
        name, number = self._known(id, owner)
        made = self._made(filter)
        self._drop(name, number, None)
        self._pending[self._owners.index(name), number] = made
        self._dropped.discard((self._owners.index(name), number))
        self._source = self._without([(self._owners.index(name), number)])
        self._touch(name)

    def without(self, owners: Iterable[str]) -> Summary:
        """Return the summary without the contributions of some owners."""
        gone = set(owners)
        kept = [name for name in self._owners if name not in gone]
        return self._restricted(kept)

    def selected(self, numbers: Mapping[str, Collection[int]]) -> Summary:
        """Return the summary of some subscriptions, by owner and number; their owners are in."""
        summary = self._restricted([name for name in self._owners if name in numbers])
        wanted = {summary._owners.index(name): set(some) for name, some in numbers.items()}
        members = summary.table.members
        keep = [number in wanted[owner] for _, owner, number in members.tolist()]
        summary._source = summary._derived = summary.table.with_members(
            members[np.array(keep, bool)]
        )
        return summary

    def update(self, part: Summary, removed: Mapping[str, Collection[int]]) -> None:
        """Take in what another summary says of its owners, and let some of theirs go.

        An owner of whom nothing is known, or another life, comes in whole.
        """
        merged = Summary(self._mode, schema=self._schema, budget=self._budget)
        for owner in sorted({*self._owners, *part._owners}):
            merged._claim(owner, part._versions.get(owner, self._versions.get(owner, 0)))
            merged._names[owner] = self._names.get(owner, {})
        self._work_in()
        gone = [
            (self._owners.index(owner), number)
            for owner, some in removed.items()
            if owner in self._versions
            for number in some
        ]
        kept = self._without(gone)
        tables = []
        for table, owners in ((kept, self._owners), (part.table, part._owners)):
            members = table.members.copy()
            if len(members):
                places = np.array([merged._owners.index(name) for name in owners], np.int64)
                members[:, 1] = places[members[:, 1]]
                tables.append(table.with_members(members))
        self._owners, self._versions, self._names = merged._owners, merged._versions, merged._names
        self._source = concat(tables) if tables else EMPTY_TABLE
        self._derived = self._searching = self._by_box = self._named = None

    def forget(self, owners: Collection[str]) -> None:
        """Let the contributions of some owners go."""
        left = [name for name in self._owners if name not in owners]
        if len(left) == len(self._owners):
            return
        self._work_in()
        places = np.full(len(self._owners), -1, np.int64)
        for at, name in enumerate(left):
            places[self._owners.index(name)] = at
        members = self._source.members.copy()
        if len(members):
            members[:, 1] = places[members[:, 1]]
        self._source = self._source.with_members(members[members[:, 1] >= 0])
        self._owners = left
        self._versions = {name: self._versions[name] for name in left}
        self._names = {name: self._names[name] for name in left}
        self._derived = self._searching = self._by_box = self._named = None

    def compact(self) -> None:
        """Number subscriptions anew: a summary made of filters then equals a new one."""
        self._work_in()
        self._renumber()

    def __or__(self, other: Summary) -> Summary:
        return merge([self, other], budget=self._budget)

    # --- as data ----------------------------------------------------------------------------------

    def to_bytes(self, *, names: bool = False) -> bytes:
        """Return the summary as bytes; with `names`, ids are known where it is read."""
        return frame(self._parts(self.table, names))

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """Read a summary; SummaryError says what is wrong with it."""
        parts = unframe(data)
        if not isinstance(parts, list) or len(parts) != 5 or parts[0] not in MODES:
            raise SummaryError("the summary is damaged: it has other parts")
        mode, document, owners, plain, names = parts
        summary = cls(mode, schema=schema_of(document))
        try:
            for name, version in owners:
                summary._claim(name, version)
        except (TypeError, ValueError):
            raise SummaryError("the summary is damaged: owners have no versions") from None
        table = table_of(plain)
        if len(table.members) and table.members[:, 1].max() >= len(summary._owners):
            raise SummaryError("the summary is damaged: a subscription has no owner")
        summary._source = summary._derived = table
        summary._read_names(names)
        return summary

    @property
    def size(self) -> int:
        """The length of `to_bytes()`."""
        return len(self.to_bytes())

    def describe(self, rows_max: int = 20) -> str:
        """Return the rows as text, as the paper's figures 4 and 5 draw them."""
        from fyke.summaries.description import describe

        return describe(self, rows_max)

    # --- facts ------------------------------------------------------------------------------------

    @property
    def mode(self) -> str:
        return self._mode

    @property
    def schema(self) -> Schema | None:
        return self._schema

    @property
    def versions(self) -> Mapping[str, int]:
        """Whose subscriptions these are, and as of when (Merged_Brokers, SUM-18)."""
        return dict(self._versions)

    @property
    def table(self) -> Table:
        """The arrays."""
        self._work_in()
        if self._derived is None:
            self._derived = self._derive(self._source)
        return self._derived

    def claim(self, owner: str, version: int = 0) -> None:
        """Begin a contribution of an owner, without subscriptions."""
        self._claim(owner, version)

    def set_version(self, owner: str, version: int) -> None:
        """Say as of when an owner's contribution is."""
        self._versions[owner] = version

    def known_numbers(self, owner: str) -> list[int]:
        """Return the numbers of an owner's subscriptions by name, also of those never met."""
        return list(self._names[owner].values())

    def numbers(self, owner: str) -> list[int]:
        """Return the numbers (c2) of an owner's subscriptions."""
        at = self._owners.index(owner)
        members = self.table.members
        return [int(each) for each in np.unique(members[members[:, 1] == at, 2])]

    def identifiers(self) -> dict[str, SubscriptionId]:
        """Return the ids of three parts of all subscriptions, by name (SUM-11)."""
        from fyke.summaries.identifiers import SubscriptionId

        attributes = sorted({name for name, _ in self.table.axes})
        if self._schema is not None:
            declared = [each.name for each in self._schema.attributes]
            attributes = [*declared, *(each for each in attributes if each not in declared)]
        places = {name: at + 1 for at, name in enumerate(attributes)}
        table, found = self.table, {}
        cells = table.boxes.lists()
        for box, owner, number in table.members.tolist():
            axes = {table.axes[table.axis_of_cell[cell]][0] for cell in cells[box]}
            used = [places[name] for name in axes]
            found[self._name(owner, number)] = SubscriptionId.of(owner, number, used)
        return found

    def name(self, owner: str, number: int) -> str:
        """Return the id of a subscription."""
        return self._name(self._owners.index(owner), number)

    def __len__(self) -> int:
        pairs, _ = unique_rows(self.table.members[:, 1:])
        never = sum(len(names) for names in self._names.values()) if self._names else 0
        return max(len(pairs), never)

    def __contains__(self, id: object) -> bool:
        return any(id in names for names in self._names.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Summary of {len(self):,} subscriptions, {self._mode}, {self.size:,} bytes>"

    # --- inside: owners and ids -------------------------------------------------------------------

    def _claim(self, owner: str, version: int) -> None:
        if type(owner) is not str or type(version) is not int or version < 0:
            raise SummaryError(f"{shown(owner)} of version {shown(version)} is no owner")
        if owner in self._versions:
            raise SummaryError(f"two contributions call their owner {shown(owner)}")
        self._owners.append(owner)
        self._versions[owner] = version
        self._names.setdefault(owner, {})

    def _only_owner(self) -> str:
        if len(self._owners) != 1:
            known = ", ".join(map(shown, self._owners[:10]))
            raise SummaryError(f"say whose subscription it is: owner= one of {known or 'none'}")
        return self._owners[0]

    def _known(self, id: str, owner: str | None) -> tuple[str, int]:
        """Return the owner and the number of a subscription."""
        owners = self._owners if owner is None else [owner]
        found = [
            (name, self._names[name][id]) for name in owners if id in self._names.get(name, ())
        ]
        if len(found) > 1:
            names = ", ".join(shown(name) for name, _ in found)
            raise FykeError(f"several owners have a subscription {shown(id)}: {names}; say which")
        if found:
            return found[0]
        name, mark, number = id.rpartition(NUMBERED)
        if mark and number.isascii() and number.isdigit() and name in self._versions:
            at = self._owners.index(name)
            members = self.table.members
            if ((members[:, 1] == at) & (members[:, 2] == int(number))).any():
                return name, int(number)
        raise FykeError(f"there is no subscription {shown(id)}")

    def _name(self, owner: int, number: int) -> str:
        if self._named is None:
            self._named = {
                (self._owners.index(name), each): id
                for name, names in self._names.items()
                for id, each in names.items()
            }
        return self._named.get((owner, number)) or f"{self._owners[owner]}{NUMBERED}{number}"

    def _read_names(self, names: Any) -> None:
        if names is None:
            return
        try:
            for owner, some in zip(self._owners, names, strict=True):
                self._names[owner] = {str(id): int(number) for number, id in some}
        except (TypeError, ValueError):
            raise SummaryError("the summary is damaged: ids are not whole") from None

    # --- inside: changes --------------------------------------------------------------------------

    def _made(self, filter: Filter | object) -> list[Box]:
        read = filter if isinstance(filter, Filter) else parse(filter, schema=self._schema)
        return boxes(read, self._schema, exact=self._mode == EXACT)

    def _add(self, id: str, filter: Filter | object, owner: str) -> None:
        if owner not in self._versions:
            raise SummaryError(f"{shown(owner)} owns nothing here; expected {self._owners}")
        if type(id) is not str:
            raise FykeError(f"an id is {shown(id)}; expected a text")
        names = self._names[owner]
        if id in names:
            raise FykeError(f"there is a subscription {shown(id)} already")
        made = self._made(filter)
        at = self._owners.index(owner)
        number = self._next(owner)
        names[id] = number
        self._pending[at, number] = made

    def _next(self, owner: str) -> int:
        if owner not in self._following:
            members = self._source.members
            own = members[members[:, 1] == self._owners.index(owner), 2]
            taken = max(self._names[owner].values(), default=-1)
            self._following[owner] = max(taken, int(own.max()) if len(own) else -1) + 1
        number = self._following[owner]
        self._following[owner] += 1
        return number

    def _drop(self, owner: str, number: int, id: str | None) -> None:
        at = self._owners.index(owner)
        self._pending.pop((at, number), None)
        self._dropped.add((at, number))
        if id is not None:
            self._names[owner].pop(id, None)

    def _touch(self, owner: str) -> None:
        """Forget what is no longer right."""
        if self._versions[owner]:
            self._versions[owner] += 1
        self._derived = self._searching = self._by_box = self._named = None

    def _work_in(self) -> None:
        """Bring pending changes into the arrays."""
        if self._dropped:
            self._source = self._without(self._dropped)
            self._dropped = set()
        if not self._pending:
            return
        orders = self._schema.orders if self._schema is not None else {}
        builder = Builder(orders)
        for (owner, number), made in self._pending.items():
            builder.add(made, owner, number)
        new = builder.table()
        self._source = concat([self._source, new]) if len(self._source.members) else new
        self._pending = {}
        self._derived = self._searching = self._by_box = self._named = None

    def _without(self, gone: Iterable[tuple[int, int]]) -> Table:
        members = self._source.members
        keys = members[:, 1] << 40 | members[:, 2]
        dropped = np.array([owner << 40 | number for owner, number in gone], np.int64)
        return self._source.with_members(members[~np.isin(keys, dropped)])

    def _restricted(self, kept: Sequence[str]) -> Summary:
        """Return a summary of some owners, by these rows."""
        summary = Summary(self._mode, schema=self._schema)
        places = np.full(len(self._owners), -1, np.int64)
        for at, name in enumerate(sorted(kept)):
            places[self._owners.index(name)] = at
            summary._claim(name, self._versions[name])
            summary._names[name] = dict(self._names[name])
        members = self.table.members.copy()
        if len(members):
            members[:, 1] = places[members[:, 1]]
        table = self.table.with_members(members[members[:, 1] >= 0])
        summary._source = summary._derived = table
        return summary

    # --- inside: arrays ---------------------------------------------------------------------------

    def _derive(self, source: Table, size: Any = None) -> Table:
        """Return the arrays that are asked: rows joined as mode and budget say."""
        table = source
        if self._mode == COARSE:
            joined = [coarsen(rows) for rows in table.rows]
            table = table.remapped([rows for rows, _ in joined], [mapping for _, mapping in joined])
        if self._budget is not None:
            measure = size or (lambda table: len(frame(self._parts(table, False))))
            table = fit(table, self._budget, measure, self._sample)
        return table

    def _renumber(self) -> None:
        """Number subscriptions in the order of their boxes: numbers then cost no bytes."""
        self._work_in()
        if self._budget is not None:  # sizes are measured with numbers in the order of names
            self._number(lambda key, name: (name, key))
        derived = self._derive(self._source, self._size_renumbered)
        first: dict[tuple[int, int], int] = {}
        for box, owner, number in derived.members.tolist():
            first.setdefault((owner, number), box)
        last = len(derived.boxes)
        new = self._number(lambda key, name: (first.get(key, last), name, key))
        self._derived = derived.with_members(_numbered(derived.members, new))

    def _number(self, rank: Callable[[tuple[int, int], str], Any]) -> dict[tuple[int, int], int]:
        """Number the subscriptions of each owner by a rank of (owner, number) and name."""
        names = {
            (self._owners.index(owner), number): id
            for owner, some in self._names.items()
            for id, number in some.items()
        }
        known = {*names, *((owner, number) for _, owner, number in self._source.members.tolist())}
        new: dict[tuple[int, int], int] = {}
        counts = dict.fromkeys(range(len(self._owners)), 0)
        for key in sorted(known, key=lambda key: rank(key, names.get(key, ""))):
            new[key] = counts[key[0]]
            counts[key[0]] += 1
        for key, id in names.items():
            self._names[self._owners[key[0]]][id] = new[key]
        self._source = self._source.with_members(_numbered(self._source.members, new))
        self._following.clear()
        self._derived = self._searching = self._by_box = self._named = None
        return new

    def _size_renumbered(self, table: Table) -> int:
        """Return the bytes of a table whose subscriptions are numbered in the order of boxes."""
        members = table.members.copy()
        _, at, numbers = np.unique(members[:, 2], return_index=True, return_inverse=True)
        rank = np.empty(len(at), np.int64)
        rank[np.argsort(at)] = np.arange(len(at))
        members[:, 2] = rank[numbers]
        members, _ = unique_rows(members)
        plain = Table(table.axes, table.rows, table.cells, table.boxes, members)
        return len(frame(self._parts(plain, False)))

    def _parts(self, table: Table, names: bool) -> list[object]:
        owners = [[name, self._versions[name]] for name in self._owners]
        said = None
        if names:
            said = [
                sorted((number, id) for id, number in self._names[name].items())
                for name in self._owners
            ]
        return [self._mode, self._declared(table), owners, table_plain(table), said]

    def _declared(self, table: Table) -> object:
        """Return what the schema declares of the attributes that rows are about."""
        if self._schema is None:
            return None
        names = dict.fromkeys(name for name, _ in table.axes)
        some = [each for each in map(self._schema.attribute, names) if each is not None]
        return Schema(some).to_document() if some else None

    def _event(self, event: Event | Document) -> Event:
        event = as_event(event)
        return event if self._schema is None else self._schema.read(event)

    def _search(self) -> Search:
        if self._searching is None or self._pending or self._dropped:
            self._searching = Search(self.table, self._schema)
        return self._searching

    def _boxes(self) -> tuple[Groups, Groups]:
        """Return the members of each box, and their owners."""
        if self._by_box is None:
            table = self.table
            members = table.members
            pairs, _ = unique_rows(members[:, :2])
            count = len(table.boxes)
            self._by_box = (
                Groups.by(members[:, 0], np.arange(len(members)), count),
                Groups.by(pairs[:, 0], pairs[:, 1], count),
            )
        return self._by_box


def _numbered(members: Ints, new: Mapping[tuple[int, int], int]) -> Ints:
    changed = members.copy()
    changed[:, 2] = [new[owner, number] for _, owner, number in members.tolist()]
    return changed


def merge(summaries: Sequence[Summary], *, budget: int | str | None = None) -> Summary:
    """Return one summary of all contributions; the newest of each owner (SUM-16).

    SummaryError if modes or declarations differ, or if one owner has two contributions of one
    version that name other subscriptions.
    """
    modes = {each.mode for each in summaries}
    if len(modes) != 1:
        raise SummaryError(f"summaries of different modes: {', '.join(sorted(modes))}")
    newest: dict[str, int] = {}
    for each in summaries:
        for owner, version in each.versions.items():
            newest[owner] = max(version, newest.get(owner, 0))
    merged = Summary(modes.pop(), schema=_common_schema(summaries), budget=budget)
    for owner in sorted(newest):
        merged._claim(owner, newest[owner])
    tables = []
    for each in summaries:
        table = _taken_in(merged, each)
        if len(table.members):
            tables.append(table)
    merged._source = concat(tables) if tables else EMPTY_TABLE
    return merged


def _taken_in(merged: Summary, part: Summary) -> Table:
    """Return the contributions of a part that are to be merged, numbered for the whole."""
    table = part.table
    members = table.members.copy()
    keep = np.ones(len(members), bool)
    for at, owner in enumerate(part._owners):
        own = table.members[:, 1] == at
        known, names = merged._names[owner], part._names[owner]
        version = part.versions[owner]
        is_older = version < merged.versions[owner]
        if is_older or (version and owner in merged._taken):
            keep &= ~own
            numbers = frozenset(table.members[own, 2].tolist())
            if not is_older and numbers != merged._taken[owner]:
                raise SummaryError(f"two brokers call themselves {shown(owner)}")
            continue
        members[own, 1] = merged._owners.index(owner)
        if not version:
            members[own, 2] = _joined_numbers(merged, owner, table.members[own, 2], names)
        else:
            known.update(names)
        merged._taken[owner] = frozenset(members[own, 2].tolist())
    return table.with_members(members[keep])


def _joined_numbers(merged: Summary, owner: str, numbers: Ints, names: Mapping[str, int]) -> Ints:
    """Return the numbers of unversioned subscriptions: those of one name are one."""
    known = merged._names[owner]
    name_of = {number: id for id, number in names.items()}
    taken = [*merged._taken.get(owner, ()), *known.values()]
    following = max(taken, default=-1) + 1
    new: dict[int, int] = {}
    for number in sorted({*numbers.tolist(), *name_of}):
        id = name_of.get(number)
        if id is not None and id in known:
            new[number] = known[id]
            continue
        new[number] = following
        following += 1
        if id is not None:
            known[id] = new[number]
    return np.array([new[number] for number in numbers.tolist()], np.int64)


def _common_schema(summaries: Sequence[Summary]) -> Schema | None:
    """Return what all declare of the attributes that they look at."""
    declared: dict[str, Any] = {}
    for each in summaries:
        if each.schema is None:
            continue
        for name, _ in each.table.axes:
            found = each.schema.attribute(name)
            if found is None:
                continue
            if declared.setdefault(name, found) != found:
                raise SummaryError(f"the attribute {shown(name)} is declared in two ways")
    schemas = [each.schema for each in summaries if each.schema is not None]
    if not schemas:
        return None
    return (
        schemas[0] if all(each == schemas[0] for each in schemas) else Schema([*declared.values()])
    )
