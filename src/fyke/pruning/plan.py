"""Plan: in which order to prune a set of subscriptions, and what comes of it.

    plan = fyke.prune(matcher, sample=events)
    plan.curve                              what is left after each step
    plan.at(predicates=0.4)                 a Matcher with the same ids that covers the original
    plan.at_bend()
    print(plan.explain("alice"))            what was dropped, in which order

Law. Whatever a plan gives covers what it replaces (`check_covers`): more may match, nothing is
lost. The matcher itself stays as it is.
Idea. A plan is a list of steps, (subscription, node), the least harmful first, and nothing else: a
budget is a number of steps, so it moves up and down without starting again. Filters are asked from
the matcher when they are needed; a plan whose matcher has changed says so.
Cost. About 30 bytes a step. Making it takes less time than reading the subscriptions did.
Source. PRU sections 3 to 5. Differs: ties are decided, guards are kept as long as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from fyke.errors import BudgetWarning, FykeError, shown, warn_outside
from fyke.filters.filter import Filter
from fyke.filters.packed import NameTable, pack
from fyke.matching.matcher import Matcher
from fyke.pruning.curve import By, Curve
from fyke.pruning.measuring import Trees, measure, number_leaves, rows_at_once
from fyke.pruning.predicate_statistics import PredicateStatistics, Share
from fyke.pruning.shape import Shape, Shapes, read
from fyke.pruning.steps import UNIT, Group, Rules, Steps, in_order, paths
from fyke.sizes import read_size, written_size

if TYPE_CHECKING:
    from fyke.events.columns import Columns

SIZE_TRIES: Final = 6
"""At most this many sets are built to find the least pruning that fits a number of bytes."""


@dataclass(frozen=True, slots=True)
class Drop:
    """One step of one subscription."""

    place: int
    """Its place among all steps of the plan, from 1."""
    dropped: Filter
    left: Filter
    degradation: float
    """The share of all events that it is expected to let through, by the paper's measure."""
    likely: float
    """The same if predicates are independent."""
    worst: float
    """At most this share of all events is let through, however predicates depend on each other."""
    is_unguarded: bool
    """True if the index has nothing left to go by: the rest is tried on every event."""

    def __str__(self) -> str:
        tried = "; no index can find what is left" if self.is_unguarded else ""
        return (
            f"step {self.place:,}: drops {self.dropped}\n"
            f"    lets through {self.likely:.3g} of all events, at most {self.worst:.3g}{tried}\n"
            f"    leaves {self.left}"
        )


@dataclass(frozen=True, slots=True)
class Path:
    """The steps of one subscription, one after the other."""

    id: str
    filter: Filter
    drops: tuple[Drop, ...]

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.filter}", *map(str, self.drops)]
        return "\n".join(lines if self.drops else [*lines, "nothing can be pruned"])


@dataclass(frozen=True, slots=True)
class _Set:
    """A matcher's subscriptions, as far as they are held while a plan is made."""

    ids: list[str]
    trees: Trees
    shares: npt.NDArray[np.float64]
    """Of each distinct leaf."""
    sizes: npt.NDArray[np.float64]


def make_plan(
    matcher: Matcher,
    sample: Any,
    statistics: PredicateStatistics | None,
    rules: Rules,
) -> PruningPlan:
    """Plan how to prune the subscriptions of a matcher: see `fyke.prune`."""
    if rules.order not in ("accuracy", "bytes"):
        raise FykeError(f"order={shown(rules.order)}; expected 'accuracy' or 'bytes'")
    revision = matcher.revision
    ids: list[str] = []
    known: dict[Filter, int] = {}
    shapes, found, leaves = Shapes(), [], []
    for id, filter in matcher.items():
        key, literals = read(filter)
        ids.append(id)
        found.append(shapes.of(key))
        leaves.append(number_leaves(literals, known))
    parts = None if sample is None else _parts(sample, matcher, len(known))
    if statistics is None:
        statistics = _count(parts, list(known), matcher)
    else:
        statistics.check_schema(matcher.schema)
    trees = Trees(found, leaves, list(known))
    shares = [statistics.share(leaf) for leaf in trees.distinct]
    sizes = matcher.sizes()
    taken = _Set(ids, trees, np.array([each.value for each in shares]), weigh(trees, sizes))
    steps, likely = _steps(taken, rules)
    curve = _curve(taken, steps, likely, sum(sizes.values()), parts)
    return PruningPlan(matcher, revision, ids, steps, curve, _notes(shares, statistics))


def _parts(sample: Any, matcher: Matcher, predicates: int) -> list[Columns]:
    """Return the sample in parts of which all bits can be held at once."""
    from fyke.events.documents import in_columns
    from fyke.matching.batch import batches

    rows = rows_at_once(predicates)
    if hasattr(sample, "num_rows") and hasattr(sample, "slice"):
        starts = range(0, sample.num_rows, rows)
        parts = [batches(sample.slice(start, rows), matcher.schema) for start in starts]
        return [columns for each in parts for _, columns in each]
    found = []
    for _, columns in batches(sample, matcher.schema):
        for first in range(0, columns.rows, rows):
            last = min(first + rows, columns.rows)
            is_whole = columns.rows <= rows
            some = (
                columns
                if is_whole
                else in_columns([columns.event(at) for at in range(first, last)])
            )
            found.append(some)
    return found


def _count(
    parts: list[Columns] | None, leaves: list[Filter], matcher: Matcher
) -> PredicateStatistics:
    if parts is None:
        return PredicateStatistics()
    found = PredicateStatistics()
    for columns in parts:
        found = found + PredicateStatistics.of(columns, leaves, schema=matcher.schema)
    return found


def weigh(trees: Trees, sizes: dict[str, int]) -> npt.NDArray[np.float64]:
    """Return the bytes that each leaf takes: its own in the filter, and its part of the index.

    `sizes` are those of a matcher's arrays.
    """
    names = NameTable()
    own = np.array([len(pack(leaf, names)) for leaf in trees.distinct], np.float64)
    uses = np.bincount(
        [leaf if leaf >= 0 else ~leaf for each in trees.leaves for leaf in each],
        minlength=len(own),
    )
    index = sum(size for name, size in sizes.items() if name.startswith("index."))
    filters = sum(size for name, size in sizes.items() if name == "filters.bytes")
    packed = float((own * uses).sum())
    result: npt.NDArray[np.float64] = own * (filters / max(packed, 1.0)) + index / max(
        uses.sum(), 1
    )
    return result


def _steps(taken: _Set, rules: Rules) -> tuple[Steps, npt.NDArray[np.float64]]:
    """Return all steps in the order of the plan, and the likely share of each subscription."""
    by_shape: dict[int, list[int]] = {}
    for row, shape in enumerate(taken.trees.shapes):
        by_shape.setdefault(id(shape), []).append(row)
    made: list[Steps] = []
    likely = np.zeros(len(taken.ids))
    for rows in by_shape.values():
        shape = taken.trees.shapes[rows[0]]
        leaves = np.array([taken.trees.leaves[row] for row in rows]).T
        plain = np.where(leaves < 0, ~leaves, leaves)
        shares = taken.shares[plain]
        shares = np.where(leaves < 0, 1.0 - shares, shares)
        group = Group(shape, np.array(rows), shares, taken.sizes[plain])
        likely[rows] = group.likely()
        made.append(paths(group, rules))
    rank = np.empty(len(taken.ids), np.int64)
    rank[np.argsort(np.array(taken.ids, dtype=object), kind="stable")] = np.arange(len(taken.ids))
    return in_order(Steps.joined(made), rank), likely


def _curve(
    taken: _Set,
    steps: Steps,
    likely: npt.NDArray[np.float64],
    size: int,
    parts: Sequence[Columns] | None,
) -> Curve:
    trees = taken.trees
    whole = sum(map(len, trees.leaves))
    freed = np.zeros(len(steps))
    kept = [shape.whole for shape in trees.shapes]
    for at, (row, node) in enumerate(zip(steps.row.tolist(), steps.node.tolist(), strict=True)):
        gone = trees.shapes[row].leaves[node] & kept[row]
        kept[row] ^= gone
        leaves = trees.leaves[row]
        while gone:
            leaf = leaves[gone.bit_length() - 1]
            freed[at] += taken.sizes[leaf if leaf >= 0 else ~leaf]
            gone ^= 1 << (gone.bit_length() - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        misses = np.log1p(-likely).sum() if len(likely) else 0.0
        more = np.log1p(-steps.after) - np.log1p(-steps.before)
    more[np.isnan(more)] = 0.0
    return Curve(
        predicates=whole - np.concatenate([[0], np.cumsum(steps.removed)]),
        size=size - np.concatenate([[0.0], np.cumsum(freed)]),
        expected=0.0 - np.expm1(misses + np.concatenate([[0.0], np.cumsum(more)])),
        expected_matches=likely.sum()
        + np.concatenate([[0.0], np.cumsum(steps.after - steps.before)]),
        counted=None if parts is None else measure(trees, steps, parts),
    )


def _notes(shares: list[Share], statistics: PredicateStatistics) -> tuple[str, ...]:
    estimated = sum(share.is_estimate for share in shares)
    if not estimated:
        return ()
    if not statistics.events:
        return (f"there are no statistics: the shares of all {estimated:,} predicates are guesses",)
    return (f"{estimated:,} of {len(shares):,} predicates were not counted: theirs are guesses",)


_EXPECTED: Final = "expected bend, 40%, 64MB or +10%"


def _share(budget: str) -> float:
    try:
        return float(budget.removeprefix("+").removesuffix("%")) / 100
    except ValueError:
        raise FykeError(f"{shown(budget)} is no budget; {_EXPECTED}") from None


def _size(budget: str) -> int:
    try:
        return read_size(budget, needs_unit=True)
    except FykeError:
        raise FykeError(f"{shown(budget)} is no budget; {_EXPECTED}") from None


class PruningPlan:
    """Steps in order; a pruned set is the result of the first so many."""

    def __init__(
        self,
        matcher: Matcher,
        revision: int,
        ids: list[str],
        steps: Steps,
        curve: Curve,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._matcher = matcher
        self._revision = revision
        self._ids = ids
        self._row = steps.row.astype(np.int32)
        self._node = steps.node.astype(np.int32)
        self._cost = steps.cost
        self._likely = (steps.after - steps.before).astype(np.float32)
        self._worst = steps.worst.astype(np.float32)
        self.curve = curve
        self.notes = notes

    def __len__(self) -> int:
        """Return how many steps there are until nothing can be pruned."""
        return len(self._row)

    @property
    def is_current(self) -> bool:
        """True if the matcher has not changed since the plan was made."""
        return self._matcher.revision == self._revision

    @property
    def nbytes(self) -> int:
        """Bytes of the steps and the curve."""
        steps = (self._row, self._node, self._cost, self._likely, self._worst)
        curve = self.curve
        measured = () if curve.counted is None else (curve.counted.matched, curve.counted.matches)
        points = (curve.predicates, curve.size, curve.expected, curve.expected_matches)
        return sum(array.nbytes for array in (*steps, *points, *measured))

    # --- pruned sets

    def at(
        self,
        *,
        predicates: float | None = None,
        size: int | str | None = None,
        growth: float | None = None,
        steps: int | None = None,
    ) -> Matcher:
        """Return a matcher with the same ids whose filters cover the original ones.

        Give one budget: `predicates`, the share of them that is left; `size`, the bytes of a
        snapshot, as in "64 MB"; `growth`, by which part more events may match at least one
        subscription; or `steps`. A budget that cannot be met is a BudgetWarning that names the
        smallest set there is, which is returned.
        """
        given = {"predicates": predicates, "size": size, "growth": growth, "steps": steps}
        if sum(each is not None for each in given.values()) != 1:
            raise FykeError(f"expected one budget of {', '.join(given)}")
        if size is not None:
            return self._fitting(read_size(size, needs_unit=True))
        return self._built(self.steps_at(predicates=predicates, growth=growth, steps=steps))

    def at_bend(self, by: By = "events") -> Matcher:
        """Return the set at the bend: before it pruning is cheap, after it dear.

        By events that match at least one subscription, or by all "matches", which is what a
        neighbour pays for.
        """
        return self._built(self.curve.bend(by))

    def steps_at(
        self,
        *,
        predicates: float | None = None,
        growth: float | None = None,
        steps: int | None = None,
    ) -> int:
        """Return how many steps meet a budget: no more than it takes, or all there are."""
        if steps is not None:
            if type(steps) is not int or not 0 <= steps <= len(self):
                raise FykeError(f"steps={shown(steps)}; expected a number from 0 to {len(self)}")
            return steps
        if growth is not None:
            if not isinstance(growth, int | float) or not growth >= 0:
                raise FykeError(f"growth={shown(growth)}; expected a number from 0 on")
            fraction = self.curve.fraction
            allowed = np.flatnonzero(fraction <= fraction[0] * (1 + growth) + 1e-12)
            return int(allowed[-1])
        if not isinstance(predicates, int | float) or not 0 <= predicates <= 1:
            raise FykeError(f"predicates={shown(predicates)}; expected a share from 0 to 1")
        left = self.curve.predicates
        enough = np.flatnonzero(left <= predicates * left[0])
        if len(enough):
            return int(enough[0])
        least = left[-1] / max(left[0], 1)
        self._warn(f"{predicates:.1%} of the predicates", f"{left[-1]:,} of them, {least:.1%}")
        return len(self)

    def steps_for(self, budget: str | float) -> int:
        """Return the steps for a budget as people write it.

        "bend"; "40%" or 0.4, so many of the predicates are left; "+10%", so many more events may
        match; or "64 MB", by the bytes that the curve estimates.
        """
        if isinstance(budget, str):
            if budget == "bend":
                return self.curve.bend()
            if budget.endswith("%"):
                share = _share(budget)
                if budget.startswith("+"):
                    return self.steps_at(growth=share)
                return self.steps_at(predicates=share)
            enough = np.flatnonzero(self.curve.size <= _size(budget))
            return int(enough[0]) if len(enough) else len(self)
        return self.steps_at(predicates=budget)

    def cut(self, steps: int) -> float:
        """Return what the dearest of the first so many steps costs; see `cutting`."""
        return float(self._cost[:steps].max(initial=-1.0))

    def steps_within(self, cost: float) -> int:
        """Return how many steps come before the first that costs more: the reverse of `cut`."""
        return int((np.maximum.accumulate(self._cost) <= cost).sum())

    def _fitting(self, size: int) -> Matcher:
        """Build sets until the bytes of one, measured, fit; the least pruned of those that do."""
        estimated, low, high = self.curve.size, 0, len(self)
        fit: Matcher | None = None
        offset = 0.0
        for _ in range(SIZE_TRIES):
            enough = np.flatnonzero(estimated[low : high + 1] + offset <= size)
            steps = low + int(enough[0]) if len(enough) else high
            built = self._built(steps)
            actual = sum(built.sizes().values())
            offset = actual - float(estimated[steps])
            if actual <= size:
                fit, high = built, steps
                if actual > 0.97 * size or steps == low:
                    break
            else:
                low = steps + 1
            if low > high:
                break
        if fit is None:
            fit = self._built(len(self))
            least = sum(fit.sizes().values())
            if least > size:
                self._warn(written_size(size), written_size(least))
        return fit

    def _warn(self, wanted: str, least: str) -> None:
        warn_outside(
            f"the subscriptions cannot be pruned to {wanted}: the smallest set takes {least}",
            BudgetWarning,
        )

    def _built(self, steps: int) -> Matcher:
        built = Matcher(self._matcher.stats().engine, schema=self._matcher.schema)
        built.add_many(self.filters(steps))
        return built

    def filters(self, steps: int) -> Iterator[tuple[str, Filter]]:
        """Yield all ids with their filters after so many steps; those not pruned as they were."""
        self._check()
        nodes: dict[int, list[int]] = {}
        for row, node in zip(self._row[:steps].tolist(), self._node[:steps].tolist(), strict=True):
            nodes.setdefault(row, []).append(node)
        shapes = Shapes()
        for row, id in enumerate(self._ids):
            filter = self._matcher.filter(id)
            if row in nodes:
                key, literals = read(filter)
                shape = shapes.of(key)
                kept = shape.whole
                for node in nodes[row]:
                    kept = shape.without(kept, node)
                filter = shape.filter(kept, literals)
            yield id, filter

    def explain(self, id: str) -> Path:
        """Return what is dropped of a subscription, in which order, and what each drop lets in."""
        self._check()
        filter = self._matcher.filter(id)
        steps = np.flatnonzero(self._row == self._ids.index(id)).tolist()
        return Path(id, filter, tuple(self._path(filter, steps)))

    def drops(self, steps: int) -> Iterator[Drop]:
        """Yield the first so many steps, subscription by subscription."""
        self._check()
        by_row: dict[int, list[int]] = {}
        for at, row in enumerate(self._row[:steps].tolist()):
            by_row.setdefault(row, []).append(at)
        for row, places in by_row.items():
            yield from self._path(self._matcher.filter(self._ids[row]), places)

    def _path(self, filter: Filter, steps: list[int]) -> Iterator[Drop]:
        key, literals = read(filter)
        shape = Shape(key)
        kept = shape.whole
        for at in steps:
            node = int(self._node[at])
            dropped = shape.filter(shape.leaves[node] & kept, literals, node)
            was_guarded = shape.is_guarded(kept)
            kept = shape.without(kept, node)
            yield Drop(
                place=at + 1,
                dropped=dropped,
                left=shape.filter(kept, literals),
                degradation=float(self._cost[at]) / UNIT,
                likely=float(self._likely[at]),
                worst=float(self._worst[at]),
                is_unguarded=was_guarded and not shape.is_guarded(kept),
            )

    def _check(self) -> None:
        if not self.is_current:
            raise FykeError("the matcher has changed since the plan was made: plan again")
