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
Cost. Changes are worked in when somebody asks next: a pass over all boxes (`changes`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fyke.errors import FykeError, shown
from fyke.events.event import Document, Event, as_event
from fyke.events.schema import Schema
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.sizes import read_size
from fyke.summaries.budget import SAMPLE_MAX, fit
from fyke.summaries.changes import Changes, without
from fyke.summaries.constraints import Box, boxes
from fyke.summaries.encoding import SummaryError, frame, schema_of, table_of, table_plain, unframe
from fyke.summaries.groups import Groups, unique_rows
from fyke.summaries.joining import coarsen
from fyke.summaries.line import Ints
from fyke.summaries.register import Register, moved, numbers_of
from fyke.summaries.search import Search
from fyke.summaries.table import EMPTY_TABLE, Table, concat

if TYPE_CHECKING:
    from fyke.summaries.identifiers import SubscriptionId

COARSE: Final = "coarse"
EXACT: Final = "exact"
MODES: Final = (COARSE, EXACT)


class Summary:
    """A set of subscriptions, in short. Make one with `Summary.of` or `Summary.from_bytes`."""

    def __init__(
        self,
        mode: str | None = None,
        *,
        schema: Schema | None = None,
        budget: int | str | None = None,
        sample: Iterable[Event | Document] = (),
        must_fit: bool = True,
    ) -> None:
        self._must_fit = must_fit
        self._budget = None if budget is None else read_size(budget)
        self._mode = (COARSE if budget is None else EXACT) if mode is None else mode
        if self._mode not in MODES:
            raise SummaryError(f"unknown mode {shown(mode)}; expected {' or '.join(MODES)}")
        self._schema = schema
        self._sample = [as_event(each) for each in islice(sample, SAMPLE_MAX)]
        self._register = Register()
        self._changes = Changes(schema.orders if schema is not None else {})
        self._forget_derived()

    def _forget_derived(self) -> None:
        """Forget all that was derived from the rows before they changed."""
        self._derived: Table | None = None
        self._searching: Search | None = None
        self._by_box: tuple[Groups, Groups] | None = None

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
        summary.claim(owner, version)
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
        return list(starmap(self._register.name, pairs.tolist()))

    def owners(self, event: Event | Document) -> list[str]:
        """Return the owners of the candidates."""
        found = self._search().find(self._event(event))
        owners_of, names = self._boxes()[1], self._owner_names
        is_there = np.zeros(len(names), bool)
        is_there[owners_of.gather(found.tolist())] = True
        owners: list[str] = np.compress(is_there, names).tolist()
        return owners

    @property
    def always(self) -> list[str]:
        """The ids of subscriptions that constrain no attribute, so that they are always met."""
        members = self._boxes()[0].take(self._search().always).items
        pairs, _ = unique_rows(self.table.members[members][:, 1:])
        return list(starmap(self._register.name, pairs.tolist()))

    # --- changing ---------------------------------------------------------------------------------

    def add(self, id: str, filter: Filter | object, owner: str | None = None) -> None:
        """Add a subscription; FykeError if its id is taken."""
        name = self._register.only_owner() if owner is None else owner
        self._add(id, filter, name)
        self._touch(name)

    def remove(self, id: str, owner: str | None = None) -> None:
        """Remove a subscription; FykeError if there is none of that id."""
        name, number = self._known(id, owner)
        self._register.reserve(name, self._changes.highest)
        self._changes.drop((self._register.place(name), number))
        self._register.strike(id, name)
        self._touch(name)

    def replace(self, id: str, filter: Filter | object, owner: str | None = None) -> None:
        """Give a subscription another filter; nothing changes if that is refused."""
        name, number = self._known(id, owner)
        self._changes.put((self._register.place(name), number), self._made(filter))
        self._touch(name)

    def compact(self) -> None:
        """Renumber subscriptions: a summary made of filters then equals a new one.

        A receiver of differences by number (`selected`, `update`) has to be told all again.
        """
        self._renumber()

    def _add(self, id: str, filter: Filter | object, owner: str) -> None:
        register = self._register
        if owner not in register.versions:
            raise SummaryError(f"{shown(owner)} owns nothing here; expected {register.owners}")
        if type(id) is not str:
            raise FykeError(f"an id is {shown(id)}; expected a text")
        if id in register.ids[owner]:
            raise FykeError(f"there is a subscription {shown(id)} already")
        made = self._made(filter)
        register.reserve(owner, self._changes.highest)
        self._changes.put((register.place(owner), register.enter(id, owner)), made)

    def _known(self, id: str, owner: str | None) -> tuple[str, int]:
        """Return the owner and the number of a subscription."""
        found = self._register.find(id, owner)
        if found is not None:
            return found
        numbered = self._register.read_number(id)
        if numbered is not None and numbered[1] in self.numbers(numbered[0]):
            return numbered
        raise FykeError(f"there is no subscription {shown(id)}")

    def _made(self, filter: Filter | object) -> list[Box]:
        read = filter if isinstance(filter, Filter) else parse(filter, schema=self._schema)
        return boxes(read, self._schema, exact=self._mode == EXACT)

    def _touch(self, owner: str) -> None:
        """Count a change of an owner, and forget what is no longer right."""
        if self._register.versions[owner]:
            self._register.versions[owner] += 1
        self._forget_derived()

    # --- contributions ----------------------------------------------------------------------------

    def claim(self, owner: str, version: int = 0) -> None:
        """Begin a contribution of an owner, without subscriptions."""
        self._register.claim(owner, version)

    def set_version(self, owner: str, version: int) -> None:
        """Set the version of an owner's contribution."""
        self._register.versions[owner] = version

    def without(self, owners: Iterable[str]) -> Summary:
        """Return the summary without the contributions of some owners."""
        gone = set(owners)
        return self._restricted([each for each in self._register.owners if each not in gone])

    def selected(self, numbers: Mapping[str, Collection[int]]) -> Summary:
        """Return the summary of some subscriptions, by owner and number; their owners are in."""
        summary = self._restricted([each for each in self._register.owners if each in numbers])
        register, table = summary._register, summary.table
        wanted = {register.place(name): set(some) for name, some in numbers.items()}
        keep = [number in wanted[place] for _, place, number in table.members.tolist()]
        members = table.members[np.array(keep, bool)]
        return summary.with_said(register, table.with_members(members), is_joined=True)

    def update(self, part: Summary, removed: Mapping[str, Collection[int]]) -> None:
        """Take in what another summary says of its owners, and let some of theirs go.

        An owner of whom nothing is known, or another life, comes in whole.
        """
        known = self._register
        gone = [
            (known.place(owner), number)
            for owner, some in removed.items()
            if owner in known.versions
            for number in some
        ]
        kept = without(self._changes.table, gone)
        taken = {owner: max(part.numbers(owner), default=-1) for owner in part.versions}
        whole = known.extended(part.versions, taken)
        tables = [
            table.with_members(moved(table.members, register.places_in(whole)))
            for table, register in ((kept, known), (part.table, part._register))
            if len(table.members)
        ]
        self.with_said(whole, concat(tables) if tables else EMPTY_TABLE)

    def forget(self, owners: Collection[str]) -> None:
        """Let the contributions of some owners go."""
        left = self._register.restricted(
            owner for owner in self._register.owners if owner not in owners
        )
        if len(left.owners) == len(self._register.owners):
            return
        said = self._changes.table
        members = moved(said.members, self._register.places_in(left))
        self.with_said(left, said.with_members(members))

    def with_said(self, register: Register, said: Table, *, is_joined: bool = False) -> Summary:
        """Take these owners and rows for one's own; return the summary.

        Rows that are joined already, as mode and budget say, are not joined again.
        """
        self._register = register
        self._changes.replace(said)
        self._forget_derived()
        self._derived = said if is_joined else None
        return self

    def _restricted(self, kept: Iterable[str]) -> Summary:
        """Return a summary of some owners, by these rows."""
        register = self._register.restricted(sorted(kept))
        table = self.table
        members = moved(table.members, self._register.places_in(register))
        summary = Summary(self._mode, schema=self._schema)
        return summary.with_said(register, table.with_members(members), is_joined=True)

    def __or__(self, other: Summary) -> Summary:
        from fyke.summaries.merging import merge

        return merge([self, other], budget=self._budget, sample=self._sample)

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
                summary.claim(name, version)
        except (TypeError, ValueError):
            raise SummaryError("the summary is damaged: owners have no versions") from None
        table = table_of(plain, len(summary._register.owners))
        if names is not None:
            summary._register.read_ids(names)
        return summary.with_said(summary._register, table, is_joined=True)

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
        """The version of each owner's contribution (Merged_Brokers, SUM-18)."""
        return dict(self._register.versions)

    @property
    def table(self) -> Table:
        """The arrays."""
        if self._derived is None or self._changes.are_waiting:
            self._forget_derived()
            self._derived = self._derive(self._changes.table)
        return self._derived

    @property
    def register(self) -> Register:
        """Owners, versions and ids."""
        return self._register

    def known_numbers(self, owner: str) -> list[int]:
        """Return the numbers of an owner's subscriptions by name, also of those never met."""
        return list(self._register.ids[owner].values())

    def numbers(self, owner: str) -> list[int]:
        """Return the numbers (c2) of an owner's subscriptions."""
        return numbers_of(self.table.members, self._register.place(owner))

    def identifiers(self, schema: Schema | None = None) -> dict[str, SubscriptionId]:
        """Return the ids of three parts of all subscriptions, by name (SUM-11).

        Attributes are numbered in the order of a schema, by default the summary's own; what it does
        not declare comes after it. One that is added at its end changes no id (SUM-F2).
        """
        from fyke.summaries.identifiers import SubscriptionId

        order = schema if schema is not None else self._schema
        attributes = sorted({name for name, _ in self.table.axes})
        if order is not None:
            declared = [each.name for each in order.attributes]
            attributes = [*declared, *(each for each in attributes if each not in declared)]
        places = {name: at + 1 for at, name in enumerate(attributes)}
        table, found = self.table, {}
        cells = table.boxes.lists()
        for box, owner, number in table.members.tolist():
            axes = {table.axes[table.axis_of_cell[cell]][0] for cell in cells[box]}
            used = [places[name] for name in axes]
            found[self._register.name(owner, number)] = SubscriptionId.of(owner, number, used)
        return found

    def name(self, owner: str, number: int) -> str:
        """Return the id of a subscription."""
        return self._register.name(self._register.place(owner), number)

    def __len__(self) -> int:
        pairs, _ = unique_rows(self.table.members[:, 1:])
        return max(len(pairs), sum(map(len, self._register.ids.values())))

    def __contains__(self, id: object) -> bool:
        return any(id in some for some in self._register.ids.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Summary of {len(self):,} subscriptions, {self._mode}, {self.size:,} bytes>"

    # --- inside: arrays ---------------------------------------------------------------------------

    def _derive(self, source: Table, size: Any = None) -> Table:
        """Return the arrays that are asked: rows joined as mode and budget say."""
        table = source
        if self._mode == COARSE:
            joined = [coarsen(rows) for rows in table.rows]
            table = table.remapped([rows for rows, _ in joined], [mapping for _, mapping in joined])
        if self._budget is not None:
            measure = size or (lambda table: len(frame(self._parts(table, False))))
            table = fit(table, self._budget, measure, self._sample, must_fit=self._must_fit)
        return table

    def _renumber(self) -> None:
        """Renumber subscriptions in the order of their boxes: numbers then cost no bytes."""
        if self._budget is not None:  # sizes are measured with numbers in the order of names
            self._number(lambda key, name: (name, key))
        derived = self._derive(self._changes.table, self._size_renumbered)
        first: dict[tuple[int, int], int] = {}
        for box, owner, number in derived.members.tolist():
            first.setdefault((owner, number), box)
        last = len(derived.boxes)
        new = self._number(lambda key, name: (first.get(key, last), name, key))
        self._derived = derived.with_members(_number_anew(derived.members, new))

    def _number(self, rank: Callable[[tuple[int, int], str], Any]) -> dict[tuple[int, int], int]:
        """Renumber the subscriptions of each owner by a rank. Return the new numbers.

        A rank is made of (owner, number) and the name, which may be empty.
        """
        register, said = self._register, self._changes.table
        names = register.names()
        known = {*names, *((owner, number) for _, owner, number in said.members.tolist())}
        new: dict[tuple[int, int], int] = {}
        counts = [0] * len(register.owners)
        for key in sorted(known, key=lambda key: rank(key, names.get(key, ""))):
            new[key] = counts[key[0]]
            counts[key[0]] += 1
        ids: dict[str, dict[str, int]] = {owner: {} for owner in register.owners}
        for key, id in names.items():
            ids[register.owners[key[0]]][id] = new[key]
        register.rename(ids)
        self.with_said(register, said.with_members(_number_anew(said.members, new)))
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
        owners = [list(each) for each in self._register.versions.items()]
        said = self._register.ids_plain() if names else None
        return [self._mode, self._declared(table), owners, table_plain(table), said]

    def _declared(self, table: Table) -> object:
        """Return the declarations of the schema about the attributes that rows have."""
        if self._schema is None:
            return None
        names = dict.fromkeys(name for name, _ in table.axes)
        some = [each for each in map(self._schema.attribute, names) if each is not None]
        return Schema(some).to_document() if some else None

    def _event(self, event: Event | Document) -> Event:
        event = as_event(event)
        return event if self._schema is None else self._schema.read(event)

    def _search(self) -> Search:
        if self._searching is None or self._changes.are_waiting:
            self._searching = Search(self.table, self._schema)
        return self._searching

    def _boxes(self) -> tuple[Groups, Groups]:
        """Return the members of each box, and their owners."""
        if self._by_box is None:
            table = self.table
            members = table.members
            pairs, _ = unique_rows(members[:, :2])
            count = len(table.boxes)
            self._owner_names = np.array(self._register.owners, object)
            self._by_box = (
                Groups.by(members[:, 0], np.arange(len(members)), count),
                Groups.by(pairs[:, 0], pairs[:, 1], count),
            )
        return self._by_box


def _number_anew(members: Ints, new: Mapping[tuple[int, int], int]) -> Ints:
    changed = members.copy()
    changed[:, 2] = [new[owner, number] for _, owner, number in members.tolist()]
    return changed
