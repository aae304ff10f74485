"""Plans: everything they promise (check_plan), their budgets, and broken ones that are found."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

import fyke
from fyke import Event, FykeError, Matcher, parse
from fyke.filters.filter import And, Filter, conjunction, disjunction
from fyke.pruning import (
    BudgetWarning,
    measuring,
    plan,
    predicate_statistics,
    prune,
    steps,
    truth,
)
from fyke.pruning.predicate_statistics import PredicateStatistics, leaves_of
from fyke.pruning.shape import AND, Shape
from fyke.testing.generators import randoms
from fyke.testing.pruning import check_plan
from fyke.testing.related import events_about, leaf, varied_leaf
from fyke.testing.stories.reaching import examples, reached, reaches
from fyke.workloads.auction import AuctionWorkload

AUCTION = AuctionWorkload(typed=False)


def related_trees(rng: Random) -> list[Filter]:
    """Trees with the paper's shape over related leaves, so that there is much to prune."""

    def some(count: int) -> list[Filter]:
        first = leaf(rng)
        return [first, *(varied_leaf(rng, first) for _ in range(count - 1))]

    found = []
    for _ in range(rng.randrange(1, 4)):
        pairs = [conjunction(some(2)) for _ in range(2)]
        found.append(conjunction([*some(rng.randrange(1, 3)), disjunction(pairs), leaf(rng)]))
    return [~each if rng.random() < 0.2 else each for each in found]


def checked(seeds, count: int) -> None:
    for seed in seeds(count):
        rng = Random(seed)
        filters = related_trees(rng)
        check_plan(filters, events_about(rng, filters, 30))


@reaches(steps=0.7, let_in=0.4, accepted=0.3)
@examples(0.25)
@given(randoms())
def test_a_plan_keeps_what_it_promises(rng: Random) -> None:
    filters = related_trees(rng)
    found = check_plan(filters, events_about(rng, filters, 30))
    reached(steps=found["steps"] > 2, let_in=found["let in"] > 0, accepted=found["accepted"] > 0)


def test_many_of_one_shape_are_planned_like_one() -> None:
    """Arrays from `FEW` rows on, plain numbers below: the same plan."""
    count = 2 * steps.FEW
    filters = [AUCTION.filter(number) for number in range(count)]
    found = check_plan(filters, [AUCTION.event(number) for number in range(200)])
    assert found["steps"] > 4 * count and found["let in"] > 0


# --- broken plans ---------------------------------------------------------------------------------


def of_any_operator(self, kept):
    for node in range(1, len(self.kinds)):
        if self.leaves[node] & kept and self.leaves[self.parents[node]] & kept & ~self.leaves[node]:
            yield node


def with_the_root(self, kept):
    yield 0
    yield from candidates(self, kept)


def by_cost_alone(found, rank):
    return found.take(np.lexsort((found.number, found.row, found.cost)))


def ids_backwards(found, rank):
    return in_order(found, -rank)


def never_held(self, literal):
    found = shares(self, literal)
    return found if self.satisfied.get(literal) else type(found)(0.0)


def leaves_stay(rest, version):
    return int(np.bitwise_count(version & rest).sum())


def negation_forgotten(shape, kept, leaves, bits, every, node=0):
    return accepts(
        shape, kept, [each if each >= 0 else ~each for each in leaves], bits, every, node
    )


def without_lists(self, leaves, keys, found):
    ask(self, leaves, [at for at in keys if type(self.keys[at]) is not frozenset], found)


def children_of_children(self, kept, node):
    return kept & ~self.leaves[node] & ~self.leaves[max(self.parents[node], 1)]


def most_first(shape, kept, *rest):
    found = choose(shape, kept, *rest)
    last = max(shape.candidates(kept), default=0)
    return (
        found
        if found is None or np.ndim(found.node)
        else steps.Best(last, *list(found.columns())[1:])
    )


candidates, in_order = Shape.candidates, steps.in_order
shares, accepts, ask = PredicateStatistics.share, measuring.accepts, truth._Coded._ask
choose = steps.choose


@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (Shape, "candidates", of_any_operator),
        (Shape, "candidates", with_the_root),
        (Shape, "without", children_of_children),
        (plan, "in_order", by_cost_alone),
        (plan, "in_order", ids_backwards),
        (PredicateStatistics, "share", never_held),
        (measuring, "_leave", leaves_stay),
        (measuring, "accepts", negation_forgotten),
        (truth._Coded, "_ask", without_lists),
        (steps, "choose", most_first),
        (predicate_statistics, "SEEN_AT_LEAST", 2.0),
    ],
)
def test_a_fault_is_found(owner, name, fault, monkeypatch, seeds) -> None:
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises((AssertionError, ValueError, KeyError)):
        checked(seeds, 60)


# --- budgets --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def auction() -> tuple[Matcher, plan.PruningPlan]:
    matcher = Matcher("counting")
    matcher.add_many((AUCTION.id(number), AUCTION.filter(number)) for number in range(300))
    return matcher, fyke.prune(matcher, sample=AUCTION.columns(1_000))


def test_a_share_of_the_predicates(auction) -> None:
    matcher, planned = auction
    left = planned.at(predicates=0.4)
    assert list(left) == list(matcher)
    steps = planned.steps_at(predicates=0.4)
    whole = planned.curve[0].predicates
    assert planned.curve[steps].predicates <= 0.4 * whole < planned.curve[steps - 1].predicates


def test_the_bend_is_where_pruning_becomes_dear(auction) -> None:
    _, planned = auction
    curve = planned.curve
    bend = curve.bend()
    assert 0.6 < bend / len(planned) < 0.9
    cheap = curve.fraction[bend] - curve.fraction[0]
    assert cheap < 0.2 * (curve.fraction[-1] - curve.fraction[bend])
    assert len(planned.at_bend("matches")) == 300
    assert (np.diff(curve.fraction) >= 0).all() and (np.diff(curve.predicates) < 0).all()


def test_a_growth(auction) -> None:
    _, planned = auction
    steps = planned.steps_at(growth=0.2)
    fraction = planned.curve.fraction
    assert fraction[steps] <= 1.2 * fraction[0] < fraction[steps + 1]


def test_bytes_are_measured(auction) -> None:
    matcher, planned = auction
    size = sum(matcher.sizes().values())
    fitting = planned.at(size=size - 2_000)
    assert size - 6_000 < sum(fitting.sizes().values()) <= size - 2_000


def test_the_plan_is_smaller_than_the_set() -> None:
    matcher = Matcher()
    matcher.add_many((AUCTION.id(number), AUCTION.filter(number)) for number in range(300))
    assert fyke.prune(matcher).nbytes <= sum(matcher.sizes().values())


@pytest.mark.parametrize(
    ("budget", "least"), [({"predicates": 0.01}, "of them"), ({"size": 9}, "kB")]
)
def test_a_budget_that_cannot_be_met_names_the_smallest(auction, budget, least) -> None:
    _, planned = auction
    with pytest.warns(BudgetWarning, match=f"the smallest set takes .*{least}"):
        smallest = planned.at(**budget)
    assert dict(smallest.items()) == dict(planned.filters(len(planned)))


def test_bytes_free_more_for_the_same_matches(auction) -> None:
    matcher, planned = auction
    by_bytes = fyke.prune(matcher, sample=AUCTION.columns(1_000), order="bytes")
    assert by_bytes.curve.predicates[-1] <= 1.2 * planned.curve.predicates[-1]


def test_a_plan_knows_when_its_matcher_has_changed() -> None:
    matcher = Matcher("scan")
    matcher.add("a", "x = 1 and y = 2")
    planned = prune(matcher)
    assert planned.is_current and len(planned.at(steps=1)) == 1
    matcher.replace("a", "x = 1 and z = 2")
    assert not planned.is_current
    with pytest.raises(FykeError, match="plan again"):
        planned.at(steps=1)


# --- nasty sets -----------------------------------------------------------------------------------


def planned(*texts: str, sample=None, **options):
    matcher = Matcher("scan")
    matcher.add_many((f"s{number}", text) for number, text in enumerate(texts))
    return prune(matcher, sample, **options)


def test_nothing_to_prune() -> None:
    found = planned("a = 1", "a = 1 or b = 2", "not (a = 1 and b = 2)", "true")
    assert len(found) == 0 and found.curve.bend() == 0
    assert "nothing can be pruned" in str(found.explain("s0"))
    with pytest.warns(BudgetWarning, match="100.0%"):
        assert len(found.at(predicates=0.4)) == 4
    assert len(planned().at_bend()) == 0


def test_residuals_comparisons_and_negations_are_leaves() -> None:
    matcher = Matcher("scan")
    matcher.add("c", "a = b and not (c = 1 or d = 2)")
    matcher.add("e", "x = '1' AND ABS(y) = 2", dialect="cesql")
    found = prune(matcher)
    assert [len(found.explain(id).drops) for id in ("c", "e")] == [2, 2]
    assert str(found.explain("c").drops[-1].left) == "a = b"


def test_guards_are_kept_as_long_as_possible() -> None:
    events = [{"a": 1, "b": number} for number in range(100)]
    found = planned("a = 1 and not b = 5", sample=events, allow_all=True)
    assert [str(drop.left) for drop in found.explain("s0").drops] == ["a = 1"]
    found = planned("a = 1 and not b > 5", sample=events, allow_all=True)
    drop = found.explain("s0").drops[0]
    assert str(drop.left) == "a = 1" and not drop.is_unguarded


def test_to_accept_everything_is_refused_unless_it_is_allowed() -> None:
    events = [{"a": 1, "b": number} for number in range(100)]
    refused = planned("exists a and b = 5", "a = 1 and exists b and b = 7", sample=events)
    assert [str(refused.explain(id).drops[-1].left) for id in ("s0", "s1")] == ["b = 5", "b = 7"]
    only = planned("exists a and exists b and b < 200", sample=events)
    assert len(only) == 2, "it accepts all events already"


def test_without_statistics_shares_are_guesses() -> None:
    found = planned("title = 'x' and price < 5")
    assert "guesses" in found.notes[0]
    assert str(found.explain("s0").drops[0].dropped) == "price < 5"


def test_statistics_add_up_and_travel() -> None:
    filters = [AUCTION.filter(number) for number in range(20)]
    events = list(AUCTION.events(200))
    leaves = list(leaves_of(filters))
    whole = PredicateStatistics.of(events, leaves)
    parts = PredicateStatistics.of(events[:50], leaves) + PredicateStatistics.of(
        events[50:], leaves
    )
    assert parts == whole == PredicateStatistics.read(whole.document)
    matcher = Matcher("scan")
    matcher.add_many((str(number), filter) for number, filter in enumerate(filters))
    by_sample, by_statistics = prune(matcher, events), prune(matcher, statistics=parts)
    assert list(by_sample.filters(30)) == list(by_statistics.filters(30))
    assert by_statistics.notes == () and by_statistics.curve.measured is None


@pytest.mark.parametrize(
    "document",
    [
        5,
        {"events": -1},
        {"events": 2, "predicates": [["a = 1", 3]]},
        {"events": 2, "predicates": [["a =", 1]]},
        {"events": 2, "predicates": 1},
        {"event": 2},
    ],
)
def test_bad_statistics(document) -> None:
    with pytest.raises(FykeError):
        PredicateStatistics.read(document)


def test_statistics_of_another_schema() -> None:
    schema = fyke.Schema().with_timestamps(["at"])
    counted = PredicateStatistics.of([{"a": 1}], [parse("a = 1")], schema=schema)
    matcher = Matcher("scan")
    matcher.add("s", "a = 1 and b = 2")
    with pytest.raises(FykeError, match="another schema"):
        prune(matcher, statistics=counted)
    with pytest.raises(FykeError, match="different schemas"):
        counted + PredicateStatistics.of([{"a": 1}], [parse("a = 1")])


@pytest.mark.parametrize(
    "budget",
    [
        *({}, {"predicates": 2}, {"predicates": 0.1, "steps": 1}, {"steps": -1}),
        *({"size": "much"}, {"growth": -1}, {"steps": 10**9}),
    ],
)
def test_bad_budgets(auction, budget) -> None:
    with pytest.raises(FykeError):
        auction[1].at(**budget)


def test_bad_options() -> None:
    with pytest.raises(FykeError, match="order"):
        planned("a = 1", order="size")
    with pytest.raises(FykeError, match="there is no subscription"):
        planned("a = 1").explain("nobody")
    with pytest.raises(FykeError, match="by="):
        planned("a = 1").at_bend("bytes")


def test_lists_nulls_and_missing_values_lose_nothing() -> None:
    events = [Event({"a": [0, 9]}), Event({"a": None}), Event({}), Event({"a": 2**53 + 1})]
    events += [Event({"a": -0.0, "b": []}), Event({"a": 1, "b": "ß"})]
    filters = [
        parse("a > 1 and a < 5"),
        parse("not (a >= 10) and b != 1"),
        parse("a is null and b = 1"),
    ]
    check_plan(filters, events)
    assert isinstance(filters[0], And) and AND == "and"
