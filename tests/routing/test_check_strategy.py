"""Every strategy against the scan; and broken ones, to show that the check finds what is wrong."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.assembly import (
    ADAPTIVE,
    ALIASES,
    MULTISTAGE,
    STRATEGIES,
    SUMMARIES,
    System,
    assemble,
    variant_of,
)
from fyke.broker.broker import Broker
from fyke.broker.declarations import Declarations
from fyke.nodes.codec import Codec
from fyke.nodes.inputs import Recovered
from fyke.nodes.message import Subscribe
from fyke.routing.adaptive.adaptive import Adaptive
from fyke.routing.adaptive.epoch import Closed, Complete, Epoch
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.flooding import flood_on
from fyke.routing.forwarding import filtering
from fyke.routing.forwarding.covering_set import CoveringSet
from fyke.routing.forwarding.doubt import Doubt
from fyke.routing.forwarding.filtering import Filtering
from fyke.routing.forwarding.offer import Offer
from fyke.routing.forwarding.reach import Reach
from fyke.routing.forwarding.row import Offered, Resync, withdrawal
from fyke.routing.forwarding.table import RowTable
from fyke.routing.forwarding.variant import VARIANTS
from fyke.routing.strategy import EVERYONE, Decision
from fyke.testing.stories import story as told
from fyke.testing.stories.story import Add, Break, Change, Crash, Drop, Say, Settle, Story, Wait
from fyke.testing.strategy import CHANGES, check_story, check_strategy

EVERY = [name for name in STRATEGIES if name not in (*ALIASES, MULTISTAGE, SUMMARIES)]
MANY = ("pf8", "rn8")
ALL = tuple(VARIANTS)


@pytest.mark.parametrize("strategy", EVERY)
def test_it_delivers_what_the_scan_finds(strategy, seeds):
    checked = check_strategy(strategy, seeds=seeds(150 if strategy in MANY else 40))
    assert checked["reached"] > 500 and checked["refused"] > 50 and checked["tables"] >= 40
    assert checked["cost"] > 500 and checked["footprint"] >= 40


@pytest.mark.parametrize("strategy", EVERY)
def test_faults_lose_nothing_elsewhere_and_leave_no_trace_once_they_are_mended(strategy, seeds):
    seeds = seeds(150 if strategy in MANY else 40)
    checked = check_strategy(strategy, seeds=seeds, faults=True)
    assert checked["reached amid faults"] > 20 and checked["tables"] > 40


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("strategy", EVERY)
def test_declarations_that_come_and_go_lose_nothing(strategy, faults, seeds):
    seeds = seeds(60 if strategy in MANY else 15)
    checked = check_strategy(strategy, seeds=seeds, faults=faults, types=True)
    assert checked["reached"] > 50


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("strategy", ["pf5", "pf8", "rn8"])
def test_merging_changes_nothing_for_clients(strategy, faults, seeds):
    def make(topology, owners, engine):
        return assemble(strategy, topology, rendezvous=owners, engine=engine, merging=True)

    check_strategy(make, seeds=seeds(80), faults=faults, variant=variant_of(strategy))


@pytest.mark.parametrize("changes", [CHANGES, ALL])
def test_a_change_of_strategy_loses_and_doubles_nothing(changes, seeds):
    checked = check_strategy(ADAPTIVE, seeds=seeds(150), changes=changes)
    assert checked["changed"] > 50


@pytest.mark.parametrize("changes", [CHANGES, ALL])
def test_a_change_of_strategy_survives_faults(changes, seeds):
    checked = check_strategy(ADAPTIVE, seeds=seeds(150), changes=changes, faults=True)
    assert checked["changed"] > 10 and checked["reached amid faults"] > 50


@pytest.mark.parametrize("first", CHANGES[1:])
@pytest.mark.parametrize("second", CHANGES[1:])
def test_a_coordinator_that_forgot_its_last_change_makes_another(first, second):
    """Before it has heard from its neighbours which epoch they are in."""
    wanted = [told.filters()[at] for at in (0, 4, 9, 27, 35)]
    steps = [
        *(Change(first), Settle(), *(Add(2 * at + 1, at, each) for at, each in enumerate(wanted))),
        *(Settle(), Crash(0), Wait(3.0), Crash(0), Change(second), Add(3, 11, wanted[1]), Settle()),
    ]
    check_story(ADAPTIVE, Story((0, 1, 0), (0, 1, 2), steps))


def cut_off(latencies: float) -> Story:
    """b3, at the end of a row, wants something. b2 restarts while b3 is cut off from it; the link
    is whole again, and after so many latencies b0 publishes.
    """
    wanted, event = told.filters()[7], told.events()[11]
    steps = [Add(6, 0, wanted), Settle(), Break(2), Settle(), Crash(2), Wait(1), Crash(2), Settle()]
    return Story((0, 1, 2), (0,), [*steps, Break(2), Wait(latencies), Say(0, event), Settle()])


AFTER = [0.0, 0.5, 1.5, 2.5, 3.5, 8.0]


@pytest.mark.parametrize("strategy", EVERY)
def test_what_was_only_cut_off_is_not_forgotten(strategy):
    checked = sum((check_story(strategy, cut_off(after)) for after in AFTER), Counter())
    assert checked["reached"] + checked["reached amid faults"] >= len(AFTER)


# --- stories that shrink --------------------------------------------------------------------------

small = st.integers(0, 13)
quiet_steps = st.one_of(
    st.builds(Add, small, small, st.sampled_from(told.filters())),
    st.builds(Drop, small),
    st.builds(Say, small, st.sampled_from(told.events())),
    st.builds(Wait, st.sampled_from([0.0, 0.31, 0.77, 1.37, 2.93])),
    st.just(Settle()),
)
steps = st.one_of(quiet_steps, quiet_steps, st.builds(Break, small), st.builds(Crash, small))
changing_steps = st.one_of(quiet_steps, st.builds(Change, st.sampled_from(CHANGES)))


def stories(step):
    return st.builds(
        Story,
        st.lists(small, min_size=1, max_size=5),
        st.lists(small, min_size=1, max_size=4),
        st.lists(step, max_size=25),
    )


@pytest.mark.parametrize("strategy", ["pf5", "pf8", "rn8"])
@settings(max_examples=60)
@given(story=stories(steps))
def test_any_story_ends_well(strategy, story):
    check_story(strategy, story)


@settings(max_examples=60)
@given(story=stories(changing_steps))
def test_any_story_of_changes_ends_well(story):
    check_story(ADAPTIVE, story)


# --- what is wrong is found -----------------------------------------------------------------------


class LosesTheLast(EventForwarding):
    def publish(self, publish, came_from):
        return Decision(super().publish(publish, came_from).sends[:-1], EVERYONE)


class Doubles(EventForwarding):
    def publish(self, publish, came_from):
        sends = super().publish(publish, came_from).sends
        return Decision([*sends, *sends[:1]], EVERYONE)


class Late(EventForwarding):
    """Events wait for the next one."""

    def __init__(self, here):
        super().__init__(here)
        self._waiting = []

    def publish(self, publish, came_from):
        sends = super().publish(publish, came_from).sends
        self._waiting, waiting = sends, self._waiting
        return Decision(waiting, EVERYONE)


class NeverForgets(Filtering):
    """Unsubscriptions do not go on."""

    def unsubscribe(self, message, came_from):
        super().unsubscribe(message, came_from)
        return Decision()


def made(kind):
    def make(topology, owners, engine) -> System:
        def node(name: str, neighbours, random: Random) -> Broker:
            def decide(here, random):
                if issubclass(kind, EventForwarding):
                    return kind(here)
                return kind(here, VARIANTS["pf8"], Reach(name, ()))

            return Broker(name, neighbours, decide, random, engine="scan")

        return System(node, Codec(filtering.KINDS))

    return make


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (LosesTheLast, "does not get"),
        (Doubles, "for the second time"),
        (Late, "does not get|long over"),
        (NeverForgets, "tables of|still holds"),
    ],
)
def test_what_is_wrong_is_found_and_told(kind, problem):
    with pytest.raises(AssertionError, match=problem) as found:
        check_strategy(made(kind), seeds=range(100))
    assert "seed" in str(found.value)
    assert "Add(client=" in str(found.value)


def withdraws_first(right):
    """What is void is told before what takes its place."""

    def messages(self):
        told = right(self)
        replaced = [each.route.replaces for each in told if isinstance(each, Subscribe)]
        plain = [
            Subscribe(each.subscription, Offered(each.route.home, each.route.towards))
            if isinstance(each, Subscribe)
            else each
            for each in told
        ]
        return [*(withdrawal(key) for keys in replaced for key in keys), *plain]

    return messages


def drops_rows_at_once(right):
    """A neighbour that begins to tell all again is taken to want nothing meanwhile."""

    def control(self, message, came_from):
        if not isinstance(message, Resync):
            return right(self, message, came_from)
        decision = right(self, message, came_from)
        return decision.and_then(Decision(self._changed([], self._table.of(came_from))))

    return control


def forgets_who_is_down(right):
    def link_down(self, peer):
        decision = right(self, peer)
        return decision.and_then(Decision(self._changed([], self._table.of(peer))))

    return link_down


def drops_all_amid_faults(right):
    def publish(self, publish, came_from):
        is_whole = all(self._here.brokers.values())
        return right(self, publish, came_from) if is_whole else Decision((), EVERYONE)

    return publish


def tells_all_again(right):
    """At each change, each neighbour is told everything."""

    def messages(self):
        told = right(self)
        return [*told, *(self._packing.message(each) for each in self._held.values() if told)]

    return messages


def floods(right):
    return lambda self, publish, came_from: flood_on(self._here, publish, came_from)


def keeps_orphans(right):
    def remove(self, key, packed):
        entered, left = right(self, key, packed)
        return entered[:1], left

    return remove


def is_synced_at_once(right):
    """Nobody waits until the others have said what is wanted behind them."""

    def told(self):
        peers = [peer for peer, view in self._told.items() if view != self.view]
        self._told.update(dict.fromkeys(peers, self.view))
        return peers

    return told


def never_doubts(right):
    return lambda self, came_from: []


def keeps_what_was_told(right):
    """A link that comes up again is taken for the old one."""

    def reset(self, peer):
        for said in self.heard.values():
            said.discard(peer)

    return reset


def says_nothing_of(kind):
    def wrap(right):
        def say(self, what, number, epoch):
            return [] if what is kind else right(self, what, number, epoch)

        return say

    return wrap


def keeps_old_ways(right):
    def drop(self, key):
        ways = {home: dict(known) for home, known in self._ways.items()}
        row = right(self, key)
        self._ways = {**ways, **self._ways}
        return row

    return drop


def changes_nothing(right):
    return lambda self, name: Decision()


def declares_nothing(right):
    return lambda self: []


def keeps_promises(right):
    """What a client has promised is still asked of those who come after it."""

    def left(self, client):
        kept = dict(self._advertised.get(client, {}))
        effects = right(self, client)
        if kept:
            self._advertised[client] = kept
        return effects

    return left


def forgets_promises(right):
    def recovered(self, input):
        records = {key: each for key, each in input.records.items() if key[0] != "advertisement"}
        return right(self, Recovered(records))

    return recovered


FAULTS = {
    "what is void before what is new": (Offer, "messages", withdraws_first, "pf8", "get|takes"),
    "rows dropped at a resync": (Filtering, "control", drops_rows_at_once, "pf8", "get"),
    "rows dropped with a link": (Filtering, "link_down", forgets_who_is_down, "pf8", "get"),
    "events dropped amid faults": (Filtering, "publish", drops_all_amid_faults, "pf8", "get"),
    "all told again": (Offer, "messages", tells_all_again, "pf8", "a subscription takes"),
    "flooding": (Filtering, "publish", floods, "pf8", "messages, not"),
    "orphans forgotten": (CoveringSet, "remove", keeps_orphans, "pf8", "get|tables"),
    "synced too early": (Doubt, "told", is_synced_at_once, "pf8", "get"),
    "no doubt": (Doubt, "sides", never_doubts, "pf8", "get"),
    "old ways": (RowTable, "drop", keeps_old_ways, "pf5", "keeps|get"),
    "told stays told": (Epoch, "reset", keeps_what_was_told, ADAPTIVE, "epochs|changed"),
    "no epoch ends": (Adaptive, "_say", says_nothing_of(Closed), ADAPTIVE, "epochs"),
    "no epoch begins": (Adaptive, "_say", says_nothing_of(Complete), ADAPTIVE, "epochs"),
    "a change is none": (Adaptive, "switch", changes_nothing, ADAPTIVE, "not changed"),
    "declarations untold": (
        Declarations,
        "all",
        declares_nothing,
        "pf8",
        "schemas|get|takes|tables",
    ),
    "promises outlive a client": (Broker, "_leave", keeps_promises, "pf8", "refused|keeps"),
    "promises lost in a crash": (Broker, "_recover", forgets_promises, "pf8", "refused"),
}
"""By what goes wrong: a method, what takes its place, in which strategy, and what is found."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    """Faults of the kind that a tired engineer makes, in strategies that are right without them."""
    kind, method, wrap, strategy, problem = FAULTS[fault]
    monkeypatch.setattr(kind, method, wrap(getattr(kind, method)))
    changes = CHANGES if strategy == ADAPTIVE else ()
    seeds, types = range(60_000, 60_400), kind is Declarations
    with pytest.raises(AssertionError, match=problem):
        for after in AFTER:
            check_story(strategy, cut_off(after))
        check_strategy(strategy, seeds=seeds, faults=True, types=types, changes=changes)


def test_flooding_and_filtering_made_by_hand_are_right():
    check_strategy(made(EventForwarding), seeds=range(20), faults=True)
    check_strategy(made(Filtering), seeds=range(20), faults=True)


class Careless(EventForwarding):
    """Delivers nothing on its own; all is routed."""

    def publish(self, publish, came_from):
        return Decision(super().publish(publish, came_from).sends, None)


def test_a_client_of_the_same_broker_counts():
    with pytest.raises(AssertionError, match="does not get"):
        check_strategy(made(Careless), seeds=range(20))
