"""Peers find together, keep their promise, and tests find those that do not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

import fyke
from fyke.events.domain import Integer, String
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters import codec as filters
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.peers import member as members
from fyke.peers.geometry.shape import Shape, shape_of
from fyke.peers.geometry.space import Point, Space
from fyke.peers.geometry.table import Needs, Rows, Table
from fyke.peers.history import History
from fyke.peers.member import Member
from fyke.peers.messages import PeerCodec, Profile
from fyke.peers.registry import Registry
from fyke.peers.ring import RingLinks
from fyke.peers.settings import PAPER, Settings
from fyke.simulation.cycles import Crowd
from fyke.simulation.network import Network
from fyke.traces.rings import Spreading, broken_promises, completeness
from fyke.workloads.boxes import BoxesWorkload
from tests.peers.crowds import crowd_of, judge

BOXES = BoxesWorkload(7, typed=False)


@pytest.mark.parametrize(
    "settings", [Settings(), PAPER, Settings(shortcuts=2)], ids=["usual", "paper", "two shortcuts"]
)
def test_once_rings_are_complete_the_promise_is_kept(settings: Settings) -> None:
    crowd, spreading = crowd_of(BOXES, 100, settings=settings)
    crowd.run(18)
    assert judge(crowd, spreading, shortcuts=settings.shortcuts) == []


def test_ring_only_works_too_and_takes_longer() -> None:
    """S2S-E4: half a ring, where nothing but ring links carry events."""
    slow, fast = (
        crowd_of(BOXES, 120, settings=Settings(shortcuts=shortcuts)) for shortcuts in (0, 1)
    )
    for crowd, spreading in (slow, fast):
        crowd.run(16)
        assert judge(crowd, spreading, shortcuts=1) == []
    long = [id for id, spread in slow[1].spreads.items() if len(spread.delivered) >= 4]
    assert len(long) >= 3
    for id in long:
        spread = slow[1].spreads[id]
        assert spread.hops == len(spread.delivered) // 2
    total = [sum(run[1].spreads[id].hops for id in long) for run in (slow, fast)]
    assert total[1] < total[0]


def views(crowd: Crowd) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for name in crowd.peers:
        peer = crowd.simulation.node(name)
        for id, member in peer.members.items():  # type: ignore[attr-defined]
            named = peer._site.registry.profiles  # type: ignore[attr-defined]
            layers = (member.ring.view, member.near.view, list(member.random.view.items()))
            found[id] = (
                [named[row].name for row in layers[0]],
                [named[row].name for row in layers[1]],
                [(named[row].name, born) for row, born in layers[2]],
            )
    return found


def test_messages_in_bytes_change_nothing_and_equal_seeds_are_equal_runs() -> None:
    runs = []
    for in_bytes in (False, False, True):
        crowd, _ = crowd_of(BOXES, 60, in_bytes=in_bytes)
        crowd.run(12)
        runs.append(views(crowd))
    assert runs[0] == runs[1] == runs[2]
    other, _ = crowd_of(BOXES, 60, seed=1)
    other.run(12)
    assert views(other) != runs[0]


@pytest.mark.long
def test_three_hundred_peers_in_bytes_for_forty_cycles() -> None:
    """The cycles of a simulation are those of `Node.handle`, whatever carries the messages."""
    runs = []
    for in_bytes in (False, True):
        crowd, spreading = crowd_of(BOXES, 300, in_bytes=in_bytes)
        crowd.run(40)
        runs.append(views(crowd))
        assert judge(crowd, spreading) == []
    assert runs[0] == runs[1]
    assert len(runs[0]) == 300


def test_links_follow_those_that_come_change_and_go() -> None:
    """What was extended bit by bit is what is selected at once, of the same rows."""
    crowd, _ = crowd_of(BOXES, 80)
    draw = Random(3)
    others = iter(list(BOXES.subscriptions(200))[100:])
    for _ in range(6):
        crowd.run(2)
        crowd.crash(draw.sample(crowd.peers, 2))
        crowd.join([next(others)])
        peer = draw.choice(crowd.peers)
        [id] = crowd.simulation.node(peer).members  # type: ignore[attr-defined]
        crowd.subscribe(peer, Subscription(id, next(others).filter))
    crowd.run(2)
    seen = 0
    for name in crowd.peers:
        for member in crowd.simulation.node(name).members.values():  # type: ignore[attr-defined]
            table, links = member._table, member.ring
            met = table.overlapping(links.rows, member.row)
            if not links._considered or len(met) < len(links.rows):
                continue  # somebody went; all are asked again with the next exchange
            rows, needs = table.select_peers(links.rows, member.row)
            assert rows.tolist() == links.view
            assert needs.tolist() == links._needs.tolist()
            seen += len(rows) > 0
    assert seen > 20


def test_sizes_are_a_formula() -> None:
    codec = PeerCodec()
    seen: dict[str, int] = {}

    class Checked(PeerCodec):
        __slots__ = ()

        def size(self, message: object) -> int:
            size = codec.size(message)  # type: ignore[arg-type]
            assert size == len(codec.encode(message))  # type: ignore[arg-type]
            seen[type(message).__name__] = seen.get(type(message).__name__, 0) + 1
            return size

    crowd, _ = crowd_of(BOXES, 40)
    crowd.simulation._codec = Checked()
    crowd.run(6)
    for number in range(10):
        crowd.publish(f"e{number}", BOXES.event(number))
    assert {"Shuffle", "Near", "Ring", "Seek", "Found"} <= seen.keys()


def test_under_clocks_of_their_own_with_latency_lost_datagrams_and_crashes() -> None:
    network = Network(latency_s=0.05, straight_loss=0.2)
    crowd, spreading = crowd_of(BOXES, 50, settings=Settings(period_s=1.0), network=network)
    crowd.run_for(15)
    crowd.crash(Random(4).sample(crowd.peers, 5))
    crowd.run_for(15)
    drawn = crowd.judging_events(BoxesWorkload(99, typed=False), 20)
    for id, event in drawn.items():
        crowd.publish(id, event)
        crowd.run_for(0.2)
    crowd.run_for(12)  # digests repair what got lost
    wanted = crowd.wanted(drawn)
    hits = [len(spreading.spreads[id].delivered) / len(ids) for id, ids in wanted.items()]
    assert np.mean(hits) > 0.95
    for id, ids in wanted.items():
        assert set(spreading.spreads[id].delivered) <= set(ids)


# --- coming and going -----------------------------------------------------------------------------


def test_newcomers_find_their_rings() -> None:
    crowd, spreading = crowd_of(BOXES, 90)
    crowd.run(16)
    crowd.join(list(BOXES.subscriptions(100))[90:])
    crowd.run(12)
    assert judge(crowd, spreading) == []


def test_the_dead_are_replaced() -> None:
    crowd, spreading = crowd_of(BOXES, 100)
    crowd.run(16)
    crowd.crash(Random(1).sample(crowd.peers, 20))
    crowd.run(12)
    assert judge(crowd, spreading) == []


def test_a_subscription_changes_and_leaves() -> None:
    crowd, spreading = crowd_of(BOXES, 100)
    crowd.run(15)
    draw = Random(2)
    others = [each.filter for each in BOXES.subscriptions(120)][100:]
    for peer, filter in zip(draw.sample(crowd.peers, 20), others, strict=True):
        [id] = crowd.simulation.node(peer).members  # type: ignore[attr-defined]
        crowd.subscribe(peer, Subscription(id, filter))
    for peer in draw.sample(crowd.peers, 10):
        crowd.unsubscribe(peer)
    crowd.run(15)
    assert judge(crowd, spreading) == []


def test_several_subscriptions_behind_one_address() -> None:
    crowd, spreading = crowd_of(BOXES, 0)
    drawn = list(BOXES.subscriptions(120))
    for number in range(30):
        peer = crowd.add(f"p{number}")
        for subscription in drawn[4 * number : 4 * number + 4]:
            crowd.subscribe(peer, subscription)
    crowd.run(20)
    assert judge(crowd, spreading, shortcuts=100) == []


def test_a_partition_heals() -> None:
    crowd, spreading = crowd_of(BOXES, 50, settings=Settings(age_max=12, introduction_cycles=10))
    crowd.run(15)
    side = crowd.peers[::2]
    crowd.simulation.part(side)
    crowd.run(15)
    crowd.simulation.join(side)
    crowd.run(25)
    assert judge(crowd, spreading) == []


# --- filters that are no boxes --------------------------------------------------------------------

SCHEMA = Schema([Attribute("a", Integer(0, 40)), Attribute("b", Integer(0, 40)),
                 Attribute("name", String())])  # fmt: skip


def odd_filters(count: int) -> list[Subscription]:
    """Boxes, alternatives, negations, and texts that no axis knows."""
    draw = Random(5)
    found = []
    for number in range(count):
        low, wide = draw.randrange(40), draw.randrange(25)
        text = f"a between {low} and {low + wide}"
        match number % 4:
            case 1:
                text += f" or b < {draw.randrange(20)} and a > {draw.randrange(40)}"
            case 2:
                text += f" and name = '{draw.choice('xyz')}'"
            case 3:
                text = f"not ({text}) and not b = {draw.randrange(40)}"
        found.append(Subscription(f"s{number}", fyke.parse(text)))
    return found


def odd_crowd(registry: Registry | None = None) -> tuple[Crowd, Spreading, list[str]]:
    shared = registry or Registry(Space.of(SCHEMA))
    crowd, spreading = crowd_of(BOXES, 0, registry=shared)
    crowd.join(odd_filters(60))
    crowd.run(12)
    draw = Random(6)
    drawn = {
        f"e{n}": Event(
            {"a": draw.randrange(41), "b": draw.randrange(41), "name": draw.choice("xyz")}
        )
        for n in range(80)
    }
    wanted = crowd.wanted(drawn)
    for id, event in drawn.items():
        crowd.publish(id, event)
    assert sum(len(ids) > 2 for ids in wanted.values()) > 60
    found = completeness(crowd.note_links(), wanted)
    problems = broken_promises(spreading.spreads, wanted, 1)
    return crowd, spreading, problems + [f"{found}"] * (found.complete < found.rings)


def test_any_filter_gets_its_events_and_no_others() -> None:
    crowd, _, problems = odd_crowd()
    assert problems == []
    assert not any(crowd.simulation.node(name).ignored for name in crowd.peers)  # type: ignore[attr-defined]


# --- faults of a tired engineer -------------------------------------------------------------------


def subtract_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Subtract boxes around filters: who may not want an event hides those behind it."""
    real = shape_of

    def wider(filter: Filter, space: Space, budget: int = 16) -> Shape:
        shape = real(filter, space, budget)
        return Shape(shape.around, shape.around)

    monkeypatch.setattr("fyke.peers.registry.shape_of", wider)


def no_ring_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Member, "next_for", lambda self, event, point: [])


def cut_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    real = RingLinks._put
    monkeypatch.setattr(
        RingLinks, "_put", lambda self, rows, needs: real(self, rows[:4], needs[:4])
    )


def no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[tuple[int, str], int] = {}

    def forgets(self: History, id: str) -> bool:
        seen[builtins_id(self), id] = seen.get((builtins_id(self), id), 0) + 1
        return seen[builtins_id(self), id] > 3

    monkeypatch.setattr(History, "__contains__", forgets)


def builtins_id(thing: object) -> int:
    return hash((type(thing), id(thing)))


def boxes_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send to whom the box says wants it, not the exact filter; and let receivers trust that."""

    def next_for(self: Member, event: Event, point: Point) -> list[int]:
        rows = self._table.holding(self.ring.rows, point).tolist()
        return list(dict.fromkeys(rows[:1] + rows[-1:]))

    monkeypatch.setattr(Member, "next_for", next_for)
    monkeypatch.setattr(
        Member, "filter", property(lambda self: fyke.parse("true"), lambda self, value: None),
        raising=False,
    )  # fmt: skip


def shortcuts_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of(self: Member, event: Event, point: Point, wanted: int, without: object) -> list[int]:
        rows = self._table.holding(np.array(self.near.view, np.int64), point).tolist()
        filters = self._registry.filters
        return [row for row in rows if row not in set(without) and filters[row].matches(event)]  # type: ignore[call-overload]

    monkeypatch.setattr(Member, "shortcuts_for", all_of)


def wrong_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take ring links as they come, not in the order of sequence ids."""

    def unordered(self: RingLinks, rows: Rows, needs: Needs) -> None:
        self.rows, self._needs = np.sort(rows), needs
        self.view = self.rows.tolist()

    monkeypatch.setattr(RingLinks, "_put", unordered)


def select_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a peer where the budget of fragments ends, instead of selecting it."""
    for name in ("select_peers", "extend"):
        monkeypatch.setattr(Table, name, _halved(getattr(Table, name)))


def _halved(real: Callable[..., tuple[Rows, Needs]]) -> Callable[..., tuple[Rows, Needs]]:
    def half(*arguments: object) -> tuple[Rows, Needs]:
        rows, needs = real(*arguments)
        return rows[::2], needs[::2]

    return half


def open_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a box without its highest codes."""
    real = shape_of

    def smaller(filter: Filter, space: Space, budget: int = 16) -> Shape:
        shape = real(filter, space, budget)
        cut = tuple(tuple((low, max(low, high - 2)) for low, high in box) for box in shape.around)
        return Shape(cut, shape.within)

    monkeypatch.setattr("fyke.peers.registry.shape_of", smaller)


FAULTS = [
    *(subtract_around, no_ring_links, cut_rings, no_history, boxes_are_enough, shortcuts_to_all),
    *(wrong_order, select_few, open_ends),
]


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_planted_faults_are_found(plant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)  # type: ignore[operator]
    _, _, problems = odd_crowd()
    assert problems


# --- examples -------------------------------------------------------------------------------------


def test_x2_only_those_that_want_it_get_it() -> None:
    ends = {"v": (4, 12), "l": (8, 15), "t": (10, 20), "i": (0, 6), "j": (5, 9), "k": (7, 9)}
    crowd, spreading = crowd_of(BOXES, 0, registry=Registry(Space.of(SCHEMA)))
    crowd.join(
        Subscription(name, fyke.parse(f"a between {low} and {high}"))
        for name, (low, high) in ends.items()
    )
    crowd.run(8)
    for number, peer in enumerate(crowd.peers):  # whoever publishes
        crowd.publish(f"e{number}", Event({"a": 10}), peer)
        assert sorted(spreading.spreads[f"e{number}"].delivered) == ["l", "t", "v"]


def test_x5_a_ring_of_three_and_one_of_two() -> None:
    for names in ("pqr", "pq"):
        crowd, spreading = crowd_of(BOXES, 0, registry=Registry(Space.of(SCHEMA)))
        crowd.join(Subscription(name, fyke.parse("a >= 1")) for name in names)
        crowd.run(6)
        crowd.publish("e", Event({"a": 5}))
        spread = spreading.spreads["e"]
        assert sorted(spread.delivered.elements()) == list(names)
        if len(names) == 2:  # S2S-Q2: succ and pred are one, it is sent once
            assert spread.sent.total() <= 2


def test_profiles_and_members() -> None:
    registry = Registry(Space.of(SCHEMA))
    data = filters.encode(fyke.parse("a < 5"))
    row = registry.row(Profile("p", "s", 7, 0, data))
    assert registry.row(Profile("p", "s", 7, 0, data)) == row
    assert registry.row(Profile("p", "s", 7, 1, data)) != row
    for wrong in (Profile("p", "", 7, 0, data), Profile("p", "s", -1, 0, data),
                  Profile("p", "s", 7, -1, data), Profile("p", "s", 7, 0, b"x")):  # fmt: skip
        with pytest.raises(fyke.FykeError):
            registry.row(wrong)
    assert members.Member.__doc__
