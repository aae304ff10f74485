"""Budget: rows are joined where it costs least, until the bytes fit.

Idea. On a line, keep some of the cuts and let each row reach outward to the next kept ones; rows
that become equal are one. Fewer cuts, fewer rows, fewer different boxes. Where even that is too
much, patterns become the prefixes they need, and an axis is no longer looked at.
Which. A step halves the cuts of one axis, or gives its patterns or the whole axis up. Each step
has a loss, the boxes that an event is expected to meet beyond those before (the product of what
shares of events their cells accept, summed over boxes), and a gain, the bytes that fewer different
cells take (their entropy). The step with the least loss for its gain is next. Shares come from a
sample of events where there is one, else every value that rows end at counts the same.
Law. Every row lies in the row that takes its place; an axis that is not looked at accepts all.
Cost. A pass over the boxes for each step of each axis that is weighed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from fyke.events.event import Event
from fyke.filters.algebra.intervals import ALL_TEXT, prefix_span
from fyke.filters.text_predicate import Like
from fyke.summaries.encoding import SummaryError
from fyke.summaries.groups import Groups
from fyke.summaries.line import Ints, Line
from fyke.summaries.rows import LINES, STRINGS, Rows, language_of, merged
from fyke.summaries.search import types_of
from fyke.summaries.table import Table

Floats = npt.NDArray[np.float64]

SAMPLE_MAX: Final = 2_000
"""Events of a sample that are looked at."""
_ROW_BYTES: Final = 5
"""About what a row takes beside its boxes."""


def fit(
    table: Table,
    budget: int,
    size: Callable[[Table], int],
    sample: Sequence[Event] = (),
    *,
    must_fit: bool = True,
) -> Table:
    """Return a table that covers one and has a size within a budget.

    If there is none, SummaryError tells the least size; or the least one is returned.
    """
    if size(table) <= budget:
        return table
    plan = _Plan(table, sample)
    while (taken := size(table)) > budget:
        if not plan.step(rough=taken > 2 * budget):
            if not must_fit:
                return table
            raise SummaryError(f"a budget of {budget:,} bytes is too small; the least is {taken:,}")
        table = plan.made()
    return table


@dataclass(slots=True)
class _Option:
    """A next step of an axis: its rows then, or None; with the loss and the gain."""

    rows: Rows | None
    mapping: Ints | None
    shares: Floats
    loss: float = 0.0
    gain: float = 0.0


class _Plan:
    """The axes of a table on their way to fewer rows."""

    def __init__(self, table: Table, sample: Sequence[Event]) -> None:
        self.table = table
        boxes = table.boxes
        axes = table.axis_of_cell[boxes.items]
        owners = boxes.owners
        self._axes: list[_Axis] = []
        self._owners: list[Ints] = []
        self._product = np.ones(len(boxes))
        for axis, (key, rows) in enumerate(zip(table.axes, table.rows, strict=True)):
            own = axes == axis
            cells = boxes.items[own] - table.bases[axis]
            made = _Axis(key[0], rows, table.cells[axis], cells, list(sample[:SAMPLE_MAX]))
            self._axes.append(made)
            self._owners.append(owners[own])
            self._product[owners[own]] *= made.shares[cells]

    def step(self, rough: bool) -> bool:
        """Take the best step, in a hurry several. Return False if no step is left."""
        options = [
            (option.loss / max(option.gain, 1e-9), number, option)
            for number, axis in enumerate(self._axes)
            for option in self._weighed(number, axis)
        ]
        if not options:
            return False
        options.sort(key=lambda each: each[:2])
        self._take(options[0][1], options[0][2])
        if rough and len(options) > 1:
            other = next((each for each in options[1:] if each[1] != options[0][1]), None)
            if other is not None:
                self._take(other[1], other[2])
        return True

    def _weighed(self, number: int, axis: _Axis) -> list[_Option]:
        owners = self._owners[number]
        others = self._product[owners] / axis.shares[axis.cells]
        before, bytes_before = self._product[owners].sum(), axis.bytes
        options = axis.options()
        for option in options:
            option.loss = float((others * option.shares[axis.cells]).sum() - before)
            option.gain = bytes_before - axis.bytes_of(option)
        return options

    def _take(self, number: int, option: _Option) -> None:
        axis, owners = self._axes[number], self._owners[number]
        self._product[owners] *= option.shares[axis.cells] / axis.shares[axis.cells]
        axis.take(option)

    def made(self) -> Table:
        """Return the table with the rows as they are now."""
        rows = [axis.rows if axis.rows is not None else Rows() for axis in self._axes]
        return self.table.remapped(rows, [axis.mapping for axis in self._axes])


class _Axis:
    """One axis: its rows as they were, and as they are now."""

    def __init__(
        self, name: str, rows: Rows, groups: Groups, cells: Ints, sample: list[Event]
    ) -> None:
        self.groups = groups
        self.cells = cells
        """The cell of each box that has one."""
        self._mass = _Mass(name, rows, sample)
        self._begin(rows, np.arange(len(rows)))

    def _begin(self, rows: Rows, mapping: Ints) -> None:
        """Go on from some rows; `mapping` leads from the rows of the table to them."""
        weights = np.bincount(self.cells, minlength=len(self.groups))[self.groups.owners]
        items = mapping[self.groups.items]
        self._weights = np.bincount(items, weights, minlength=len(rows))
        self._whole, self._to_whole = rows, mapping
        self.rows: Rows | None = rows
        self.mapping: Ints | None = mapping
        self._kept = [len(_cuts(line)) for line in rows.lines]
        self.shares = self._cell_shares(rows, mapping)
        self.bytes = self._bytes(mapping, len(rows))

    # --- steps

    def options(self) -> list[_Option]:
        """Return the next steps that are possible."""
        if self.rows is None or self.mapping is None:
            return []
        found = [_Option(None, None, np.ones(len(self.groups)))]
        if max(self._kept) > 0:
            found.append(self._option(*self._rounded([each // 2 for each in self._kept])))
        if self.rows.languages:
            found.append(self._option(*_without_languages(self.rows, self.mapping)))
        return found

    def _option(self, rows: Rows, mapping: Ints) -> _Option:
        return _Option(rows, mapping, self._cell_shares(rows, mapping))

    def take(self, option: _Option) -> None:
        """Go on with an option that was weighed."""
        if option.rows is None or option.mapping is None:
            self.rows = self.mapping = None
            self.shares, self.bytes = option.shares, 0.0
        elif len(option.rows.languages) < len(self._whole.languages):
            self._begin(option.rows, option.mapping)
        else:
            self.bytes = self.bytes_of(option)
            self.rows, self.mapping, self.shares = option.rows, option.mapping, option.shares
            self._kept = [each // 2 for each in self._kept]

    # --- rows

    def _rounded(self, kept: Sequence[int]) -> tuple[Rows, Ints]:
        """Return the rows with `kept` cuts on each line, and where each row lies then."""
        whole = self._whole
        made = [
            line.with_codes(*self._ends(at, line, kept[at])) for at, line in enumerate(whole.lines)
        ]
        lines = tuple(line for line, _ in made)
        rows = Rows(whole.flags, lines, whole.languages, whole.order)  # type: ignore[arg-type]
        moved = [np.arange(len(whole.flags))]
        moved += [rows.starts[which] + made[which][1] for which in LINES]
        moved.append(rows.starts[-1] + np.arange(len(whole.languages)))
        return rows, np.concatenate(moved)[self._to_whole]

    def _ends(self, which: int, line: Line, kept: int) -> tuple[Ints, Ints]:
        """Return where rows of a line begin and end, with `kept` cuts."""
        cuts = _cuts(line)
        if kept >= len(cuts):
            return line.lows, line.highs
        chosen = np.zeros(0, np.int64)
        if kept:
            start = self._whole.starts[which]
            weights = self._weights[start : start + len(line)] + 1.0
            used = np.zeros(len(cuts))
            for codes in (line.lows, line.highs):
                inside = np.isin(codes, cuts)
                np.add.at(used, np.searchsorted(cuts, codes[inside]), weights[inside])
            rank = np.cumsum(used)
            wanted = (np.arange(kept) + 0.5) / kept * rank[-1]
            chosen = np.unique(cuts[np.searchsorted(rank, wanted)])
        lows = np.concatenate([[-1], chosen])
        highs = np.concatenate([chosen, [2 * len(line.values)]])
        return (
            lows[np.searchsorted(lows, line.lows, side="right") - 1],
            highs[np.searchsorted(highs, line.highs, side="left")],
        )

    # --- shares and bytes

    def _cell_shares(self, rows: Rows, mapping: Ints) -> Floats:
        """Return the share of events that each cell accepts."""
        shares = self._mass.of(rows)[mapping[self.groups.items]]
        summed = np.bincount(self.groups.owners, shares, minlength=len(self.groups))
        return np.clip(summed, 1e-6, 1.0)

    def _bytes(self, mapping: Ints | None, rows: int) -> float:
        if mapping is None:
            return 0.0
        rough = mapping[self.groups.items]
        merged_cells = np.zeros(len(self.groups), np.int64)
        np.add.at(merged_cells, self.groups.owners, (rough + 1) * 2_654_435_761)
        _, counts = np.unique(merged_cells[self.cells], return_counts=True)
        share = counts / max(counts.sum(), 1)
        return float(-(np.log2(share) * counts).sum() / 8 + _ROW_BYTES * rows)

    def bytes_of(self, option: _Option) -> float:
        return self._bytes(option.mapping, 0 if option.rows is None else len(option.rows))


class _Mass:
    """The shares of events by the values of one attribute."""

    def __init__(self, name: str, rows: Rows, sample: list[Event]) -> None:
        self._name = name
        self._sample = sample
        self._values: list[list[object]] = [[], [], [], []]
        self._flags: dict[str, float] = {}
        self._languages: dict[object, float] = {}
        self._sorted: list[list[object]] = []
        bare = replace(rows, lines=(Line(), Line(), Line(), Line()))
        hits = np.zeros(len(bare))
        for event in sample:
            is_there = name in event.attributes
            types = types_of(event) if name == "type" else ()
            value = event.attributes.get(name)
            for row in set(bare.find(value, is_there, types)):
                hits[row] += 1
            if is_there:
                for each in value if type(value) is tuple else (value,):
                    found = rows.place_of(each)  # type: ignore[arg-type]
                    if found is not None:
                        self._values[found[0]].append(found[1])
        share = hits / max(len(sample), 1)
        if not sample:
            share = np.full(len(bare), 0.1)
        self._flags = dict(zip(bare.flags, share, strict=False))
        self._languages = dict(zip(bare.languages, share[len(bare.flags) :], strict=True))
        for which in LINES:
            known = self._values[which] if sample else list(rows.lines[which].values)
            self._sorted.append(sorted(known))  # type: ignore[type-var]
        self._total = len(sample)

    def of(self, rows: Rows) -> Floats:
        """Return the share of events that each row accepts."""
        parts = [np.array([self._flags.get(flag, 0.1) for flag in rows.flags])]
        for which, line in enumerate(rows.lines):
            reach = self._reach(which, line)
            total = max(self._total or len(self._sorted[which]), 1)
            parts.append((reach[line.highs + 1] - reach[line.lows + 1]) / total)
        parts.append(np.array([self._languages.get(key, 0.1) for key in rows.languages]))
        return np.concatenate(parts)

    def _reach(self, which: int, line: Line) -> Floats:
        """Return how many values of the sample lie before each cut, from -1 on."""
        known = self._sorted[which]
        reach = [0]
        for value in line.values:
            reach += [bisect_left(known, value), bisect_right(known, value)]
        return np.array([*reach, len(known)], float)


def _cuts(line: Line) -> Ints:
    """Return the cuts at which rows of a line begin or end."""
    codes = np.unique(np.concatenate([line.lows, line.highs]))
    return codes[(codes >= 0) & (codes < 2 * len(line.values))]


def _without_languages(rows: Rows, mapping: Ints) -> tuple[Rows, Ints]:
    """Return the rows with prefixes for languages, and a mapping that goes on to them."""
    hulls = {key: _hull(key) for key in rows.languages}
    spans, numbers = Rows.of(dict.fromkeys(hulls.values()), rows.order)
    place = dict(zip(dict.fromkeys(hulls.values()), numbers.tolist(), strict=True))
    both, (first, second) = merged([replace(rows, languages=()), spans])
    own = [int(second[place[hulls[key]]]) for key in rows.languages]
    return both, np.concatenate([first, np.array(own, np.int64)])[mapping]


def _hull(key: tuple[str, str]) -> tuple[int, object]:
    """Return the prefix that a language needs, or any string."""
    language = language_of(key)
    if isinstance(language, Like) and not language.ignore_case:
        return STRINGS, prefix_span(language.pattern.literal_prefix)
    return STRINGS, ALL_TEXT
