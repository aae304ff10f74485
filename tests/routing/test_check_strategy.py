"""Every strategy against the scan; and broken ones, to show that the check finds what is wrong."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.assembly import ADAPTIVE, ALIASES, STRATEGIES, System, assemble
from fyke.broker.broker import Broker
from fyke.nodes.codec import Codec
from fyke.nodes.effect import Send
from fyke.routing import filtering
from fyke.routing.covering_set import CoveringSet
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.filtering import Filtering
from fyke.routing.reach import Reach
from fyke.routing.strategy import EVERYONE, Routed
from fyke.routing.variant import VARIANTS
from fyke.testing import story as told
from fyke.testing.story import Add, Break, Change, Crash, Drop, Say, Settle, Story, Wait
from fyke.testing.strategy import CHANGES, check_story, check_strategy

EVERY = [name for name in STRATEGIES if name not in ALIASES]
MANY = ("pf8", "rn8")


@pytest.mark.parametrize("strategy", EVERY)
def test_it_delivers_what_the_scan_finds(strategy):
    check_strategy(strategy, seeds=range(200 if strategy in MANY else 50))


@pytest.mark.parametrize("strategy", EVERY)
def test_faults_leave_no_trace_once_they_are_mended(strategy):
    seeds = range(10_000, 10_200 if strategy in MANY else 10_050)
    check_strategy(strategy, seeds=seeds, faults=True)


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("strategy", ["pf5", "pf8", "rn8"])
def test_merging_changes_nothing_for_clients(strategy, faults):
    def make(topology, owners):
        return assemble(strategy, topology, rendezvous=owners, engine="scan", merging=True)

    check_strategy(make, seeds=range(40_000, 40_100), faults=faults)


def test_a_change_of_strategy_loses_and_doubles_nothing():
    check_strategy(ADAPTIVE, seeds=range(20_000, 20_300), switch=True)


def test_a_change_of_strategy_survives_faults():
    check_strategy(ADAPTIVE, seeds=range(30_000, 30_200), switch=True, faults=True)


@pytest.mark.parametrize("first", CHANGES[1:])
@pytest.mark.parametrize("second", CHANGES[1:])
def test_a_coordinator_that_forgot_its_last_change_makes_another(first, second):
    """Before it has heard from its neighbours which epoch they are in."""
    wanted = [told.filters()[at] for at in (0, 4, 9, 27, 35)]
    steps = [
        *(Change(first), Settle(), *(Add(2 * at + 1, each) for at, each in enumerate(wanted))),
        *(Settle(), Crash(0), Wait(3.0), Crash(0), Change(second), Add(3, wanted[1]), Settle()),
    ]
    check_story(ADAPTIVE, Story((0, 1, 0), (0, 1, 2), steps))


# --- stories that shrink --------------------------------------------------------------------------

small = st.integers(0, 13)
quiet_steps = st.one_of(
    st.builds(Add, small, st.sampled_from(told.filters())),
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
        return Routed(super().publish(publish, came_from).sends[:-1], EVERYONE)


class Doubles(EventForwarding):
    def publish(self, publish, came_from):
        sends = super().publish(publish, came_from).sends
        return Routed([*sends, *sends[:1]], EVERYONE)


class Late(EventForwarding):
    """Events wait for the next one."""

    def __init__(self, here):
        super().__init__(here)
        self._waiting = []

    def publish(self, publish, came_from):
        sends = super().publish(publish, came_from).sends
        self._waiting, waiting = sends, self._waiting
        return Routed(waiting, EVERYONE)


class NeverForgets(Filtering):
    """Unsubscriptions do not go on."""

    def unsubscribe(self, message, came_from):
        super().unsubscribe(message, came_from)
        return []


class Orphans(CoveringSet):
    def remove(self, id):
        entered, left = super().remove(id)
        return entered[:1], left


class ForgetsOrphans(Filtering):
    """What a withdrawn filter covered is not told, but for the first."""

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self._select = Orphans


class Deaf(Filtering):
    """What is said while a link is down is never told."""

    def link_up(self, peer: str) -> list[Send]:
        return [] if peer in self._offers else super().link_up(peer)

    def link_down(self, peer: str) -> list[Send]:
        return []


def made(kind):
    def make(topology, owners) -> System:
        def node(name: str, random: Random) -> Broker:
            def decide(here, random):
                if issubclass(kind, EventForwarding):
                    return kind(here)
                return kind(here, VARIANTS["pf8"], "scan", Reach(name, ()))

            return Broker(name, decide, random, engine="scan")

        return System(node, Codec(filtering.KINDS))

    return make


@pytest.mark.parametrize(
    ("kind", "problem", "faults"),
    [
        (LosesTheLast, "does not get", False),
        (Doubles, "for the second time", False),
        (Late, "does not get|long over", False),
        (NeverForgets, "tables of|still holds", False),
        (ForgetsOrphans, "does not get|tables of", False),
        (Deaf, "does not get|tables of", True),
    ],
)
def test_what_is_wrong_is_found_and_told(kind, problem, faults):
    with pytest.raises(AssertionError, match=problem) as found:
        check_strategy(made(kind), seeds=range(100), faults=faults)
    assert "seed" in str(found.value)
    assert "Add(client=" in str(found.value)


def test_flooding_and_filtering_made_by_hand_are_right():
    check_strategy(made(EventForwarding), seeds=range(20), faults=True)
    check_strategy(made(Filtering), seeds=range(20), faults=True)


class Careless(EventForwarding):
    """Delivers nothing on its own; all is routed."""

    def publish(self, publish, came_from):
        return Routed(super().publish(publish, came_from).sends, None)


def test_a_client_of_the_same_broker_counts():
    with pytest.raises(AssertionError, match="does not get"):
        check_strategy(made(Careless), seeds=range(20))
