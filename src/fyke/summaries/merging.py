"""Merging: one summary of the contributions of many owners (SUM-16).

Idea. Rows of all are laid side by side (`table.concat`) and joined as the mode says, so what is
asked afterwards does not depend on how many contributions there were. Of each owner the newest
contribution stays; contributions without a version are joined, subscriptions of one id are one.
Example. b1 as of 4 and b1 as of 3 are b1 as of 4, whichever comes first.
Law. What is merged covers each newest contribution, id by id.
Cost. A pass over the rows, cells and boxes of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fyke.errors import shown
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.summaries.encoding import SummaryError
from fyke.summaries.line import Ints
from fyke.summaries.register import Register, moved
from fyke.summaries.summary import Summary
from fyke.summaries.table import EMPTY_TABLE, Table, concat


def merge(
    summaries: Sequence[Summary],
    *,
    budget: int | str | None = None,
    sample: Iterable[Event] = (),
) -> Summary:
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
    joining = _Joining(newest)
    tables = [joining.take_in(each) for each in summaries]
    whole = concat([each for each in tables if len(each.members)] or [EMPTY_TABLE])
    schema = _common_schema(summaries)
    return Summary(modes.pop(), schema=schema, budget=budget, sample=sample).with_said(
        joining.register, whole
    )


class _Joining:
    """The owners of the whole, and the contributions that are in."""

    def __init__(self, newest: Mapping[str, int]) -> None:
        self.register = Register().extended(newest, {})
        self._taken: dict[str, set[int]] = {}
        """The numbers of each owner that is in."""

    def take_in(self, part: Summary) -> Table:
        """Return the contributions of a part that are wanted, numbered for the whole."""
        given, table = part.register, part.table
        members = table.members.astype(np.int64)
        keep = np.ones(len(members), bool)
        for at, owner in enumerate(given.owners):
            own = table.members[:, 1] == at
            numbers = table.members[own, 2]
            version = given.versions[owner]
            is_older = version < self.register.versions[owner]
            if version and not is_older:
                self.register.go_behind(owner, given.given(owner))
            if is_older or (version and owner in self._taken):
                keep &= ~own
                if not is_older and set(numbers.tolist()) != self._taken[owner]:
                    raise SummaryError(f"two brokers call themselves {shown(owner)}")
                continue
            if not version:
                numbers = members[own, 2] = self._joined(owner, numbers, given.ids[owner])
            else:
                self.register.ids[owner].update(given.ids[owner])
            self._taken.setdefault(owner, set()).update(numbers.tolist())
        places = given.places_in(self.register)
        return table.with_members(moved(members[keep], places))

    def _joined(self, owner: str, numbers: Ints, ids: Mapping[str, int]) -> Ints:
        """Return the numbers of unversioned subscriptions: those of one id are one."""
        known = self.register.ids[owner]
        id_of = {number: id for id, number in ids.items()}
        following = max([*self._taken.get(owner, ()), *known.values()], default=-1) + 1
        new: dict[int, int] = {}
        for number in sorted({*numbers.tolist(), *id_of}):
            id = id_of.get(number)
            if id is not None and id in known:
                new[number] = known[id]
                continue
            new[number] = following
            following += 1
            if id is not None:
                known[id] = new[number]
        return np.array([new[number] for number in numbers.tolist()], np.int64)


def _common_schema(summaries: Sequence[Summary]) -> Schema | None:
    """Return the declarations of all about the attributes that they look at."""
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
