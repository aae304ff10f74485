"""Brokers with little memory prune what neighbours want: no event is lost, and it is undone."""

from __future__ import annotations

import pytest

import fyke
from fyke.assembly import ADAPTIVE, assemble, variant_of
from fyke.errors import FykeError
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.pruning.queue import Standing
from fyke.pruning.shape import read
from fyke.routing.forwarding.filtering import Filtering
from fyke.routing.forwarding.offer import Offer
from fyke.routing.forwarding.relief import LOOKED_AT, Relief
from fyke.routing.forwarding.table import RowTable
from fyke.routing.forwarding.variant import VARIANTS
from fyke.simulation.simulation import Simulation
from fyke.testing.covering import check_covers
from fyke.testing.stories.overlays import Make
from fyke.testing.strategy import CHANGES, check_strategy
from fyke.traces.trace import Delivered, Sent

LITTLE = 1_700
"""Bytes for a row or two, so that nearly all is pruned."""
PLENTY = 1_000_000


def made(strategy: str, memory: int | None, merging: bool = False) -> Make:
    return lambda topology, owners, engine: assemble(
        strategy, topology, rendezvous=owners, engine=engine, merging=merging, memory=memory
    )


def check(strategy: str, seeds, *, memory: int = LITTLE, merging: bool = False, **options):
    exact = made(strategy, None, merging)
    variant = None if strategy == ADAPTIVE else variant_of(strategy)
    pruning = made(strategy, memory, merging)
    return check_strategy(pruning, seeds=seeds, exact=exact, variant=variant, **options)


FILTERING = [name for name in VARIANTS if name != "ef"]


@pytest.mark.parametrize("strategy", FILTERING)
def test_pruning_loses_nothing(strategy, seeds):
    checked = check(strategy, seeds(10), faults=True)
    assert checked["pruned"] > 1 and checked["covered"] > 50 and checked["reached"] > 50
    assert checked["cost"] > 50 and checked["dearer"] > 0


@pytest.mark.parametrize("strategy", FILTERING)
def test_the_limit_holds_and_events_arrive(strategy):
    """Of what 20 rows take, a tenth less is met by pruning."""
    whole = Line(PLENTY, strategy)
    whole.subscribe(20)
    limit = whole.stats("b").bytes * 9 // 10
    line = Line(limit, strategy)
    line.subscribe(20)
    stats = line.stats("b")
    assert 0 < stats.bytes <= limit and stats.pruned > 0
    assert line.stats("s").own_bytes == line.stats("s").bytes, "of nobody else"
    event = fyke.Event({"symbol": "S7", "price": 3, "exchange": "ATH", **REST})
    got = [each for each in line.say("cp", Publish("e", event)) if isinstance(each, Delivered)]
    assert [each.subscriptions for each in got] == [("s7",)]


@pytest.mark.parametrize("strategy", ["pf8", "rn8"])
def test_pruning_loses_nothing_where_filters_are_merged(strategy, seeds):
    assert check(strategy, seeds(8), merging=True)["pruned"] > 0


def test_pruning_loses_nothing_when_strategies_change(seeds):
    checked = check("adaptive", seeds(10), changes=CHANGES, faults=True)
    assert checked["reached"] > 50


# --- one broker prunes and gets originals again ---------------------------------------------------

WANTED = (
    "symbol = 'S{0}' and price < {0} and volume > 1000 and exchange = 'ATH' and open < 10000"
    " and kind in ('limit', 'market') and currency = 'EUR' and is_open = true"
)
REST = {"volume": 2_000, "open": 7, "kind": "limit", "currency": "EUR", "is_open": True}


class Line:
    """p - b - s: s subscribes, p publishes, b has little memory."""

    def __init__(self, memory: int | None, strategy: str = "pf1") -> None:
        topology = Topology.of([("p", "b"), ("b", "s")])
        rendezvous = {"": "b"}
        system = assemble(strategy, topology, rendezvous=rendezvous, engine="scan", memory=memory)
        self.trace: list[object] = []
        self.overlay = Simulation(
            topology, system.make, codec=system.codec, write=self.trace.append, in_bytes=True
        )
        self.overlay.attach("cp", "p")
        self.overlay.attach("cs", "s")
        self.overlay.run()

    def say(self, client: str, message) -> list[object]:
        seen = len(self.trace)
        self.overlay.say(client, message)
        self.overlay.run()
        return self.trace[seen:]

    def subscribe(self, count: int) -> None:
        for number in range(count):
            wanted = Subscription(f"s{number}", fyke.parse(WANTED.format(number)))
            self.say("cs", Subscribe(wanted))

    def filters(self, broker: str, peer: str) -> dict[str, fyke.Filter]:
        heard = self.overlay.node(broker).strategy.tables()["heard"].get(peer, {})
        return {id: fyke.parse(text) for (_, id), text in heard.items()}

    def stats(self, broker: str):
        return self.overlay.node(broker).stats()


def test_a_broker_prunes_and_asks_for_originals_when_there_is_room():
    line = Line(memory=19_000)
    line.subscribe(20)
    whole = {f"s{number}": fyke.parse(WANTED.format(number)) for number in range(20)}
    assert line.stats("b").pruned > 5 and line.stats("b").saved > 0
    assert line.stats("b").bytes <= 19_000
    assert line.stats("s").pruned == 0, "what clients want stays as it is"
    events = [
        fyke.Event({"symbol": symbol, "price": price, "exchange": exchange, **REST})
        for symbol in [f"S{number}" for number in range(20)]
        for price in (-1, 5, 15)
        for exchange in ("ATH", "LUX")
    ]
    for broker, peer in (("b", "s"), ("p", "b")):
        held = line.filters(broker, peer)
        assert held.keys() == whole.keys()
        assert sum(check_covers(held[id], whole[id], events) for id in whole) > 20
    told = line.filters("b", "s"), line.filters("p", "b")
    assert told[0] != whole
    for id in whole:
        check_covers(told[1][id], told[0][id], events)
    for number in range(2, 20):
        line.say("cs", Unsubscribe(f"s{number}"))
    assert any(isinstance(each, Sent) and each.kind == "Restate" for each in line.trace)
    assert line.stats("b").pruned == line.stats("b").saved == 0
    assert line.filters("b", "s") == {id: whole[id] for id in ("s0", "s1")}
    assert line.filters("p", "b") == line.filters("b", "s")
    got = line.say("cp", Publish("e", events[-1]))
    assert not [each for each in got if isinstance(each, Delivered)]


def test_without_room_even_for_clients_all_is_pruned_and_nothing_is_lost():
    line = Line(memory=1)
    line.subscribe(5)
    assert line.stats("b").pruned == 5
    event = fyke.Event({"symbol": "S4", "price": 3.5, "exchange": "ATH", **REST})
    got = [each for each in line.say("cp", Publish("e", event)) if isinstance(each, Delivered)]
    assert [each.subscriptions for each in got] == [("s4",)]


def test_rows_that_cannot_be_pruned_hide_none_that_can():
    line = Line(memory=1)
    for number in range(LOOKED_AT + 10):
        line.say("cs", Subscribe(Subscription(f"one{number}", fyke.parse(f"price = {number}"))))
    line.subscribe(5)
    assert line.stats("b").pruned == 5


# --- which row is pruned --------------------------------------------------------------------------


class Rows:
    """Rows of neighbours by number, and a relief that prunes them one byte a predicate."""

    def __init__(self, texts: list[str], events: list[dict[str, object]]) -> None:
        self.filters = {("far", str(at)): fyke.parse(text) for at, text in enumerate(texts)}
        self.relief = Relief(1)
        for event in events:
            self.relief.see(fyke.Event(event))
        for key in self.filters:
            self.relief.add(key)

    def prune(self, excess: int) -> list[str]:
        """Prune, as a broker does; return which rows were."""
        found = self.relief.prune(self.filters.__getitem__, self.freed, excess)
        self.filters.update(found)
        for key in found:
            self.relief.add(key)
        return [id for _, id in found]

    def freed(self, before: fyke.Filter, after: fyke.Filter) -> int:
        return len(read(before)[1]) - len(read(after)[1])


def test_the_row_whose_pruning_lets_in_least_comes_first_wherever_it_waits():
    """Rows are more than are looked at for one input; the best of all comes first, every time."""
    texts = [f"a < {20 + number % 20} and b < 32" for number in range(2 * LOOKED_AT)]
    events = [{"a": number, "b": 37 * number % 64} for number in range(64)]
    rows = Rows([*texts, "a < 32 and b < 63"], events)
    for _ in range(2):
        assert rows.prune(0) == []
    assert rows.prune(1) == [str(len(texts))]
    assert rows.prune(1) != [str(len(texts))], "nothing of it is left to prune"


def test_a_cost_that_has_risen_is_seen_when_its_turn_comes():
    texts = ["a < 32 and b < 63", "a < 32 and b < 50"]
    rows = Rows(texts, [{"a": number, "b": 37 * number % 64} for number in range(64)])
    assert rows.prune(0) == [], "both wait, the first with less"
    rows.filters["far", "1"] = fyke.parse("a < 32 and c < 50")
    for number in range(64):
        values = {"a": number, "b": 74 * number % 128, "c": 37 * number % 64}
        rows.relief.see(fyke.Event(values))
    assert rows.prune(1) == ["1"], "b < 63 held nearly always, and half of the time now"


def test_a_row_is_looked_at_when_it_comes_and_when_its_turn_comes(monkeypatch):
    looked = []
    best = Standing.best
    monkeypatch.setattr(Standing, "best", lambda *given: looked.append(1) or best(*given))
    rows = Rows([f"a = {number} and b = 1 and c = 2" for number in range(100)], [])
    rows.prune(1)
    assert len(looked) <= 110
    for _ in range(20):
        looked.clear()
        assert len(rows.prune(1)) == 1 and 1 <= len(looked) <= 8


@pytest.mark.parametrize("memory", [0, -5])
def test_a_limit_is_a_number_of_bytes(memory):
    with pytest.raises(FykeError, match=r"memory is .*; expected a number of bytes"):
        assemble("pf8", Topology.of([("a", "b")]), memory=memory)


def test_what_does_not_prune_takes_no_limit():
    with pytest.raises(FykeError, match="multistage does not prune"):
        assemble("multistage", Topology.of([("a", "b")]), memory=1_000)


# --- what is wrong is found -----------------------------------------------------------------------


def narrower(right):
    """A conjunct is added instead of taken away."""

    def prune(self, filter_of, freed, excess):
        found = right(self, filter_of, freed, excess)
        more = fyke.parse("exists nothing")
        return {key: fyke.parse(f"({filter}) and {more}") for key, filter in found.items()}

    return prune


def other_rows(right):
    """A key gets the filter of the one before."""
    last = [fyke.parse("symbol = 'S0'")]

    def prune(self, filter_of, freed, excess):
        found = right(self, filter_of, freed, excess)
        last.extend(found.values())
        return dict(zip(found, last[-1 - len(found) : -1], strict=True))

    return prune


def prunes_nothing(right):
    return lambda self, filter_of, freed, excess: {}


def never_asks(right):
    return lambda self, room: []


def never_forgets(right):
    """An original that has come again is still counted as pruned."""

    def add(self, key):
        if not any(key in rows for rows in self._waiting.values()):
            right(self, key)

    return add


def answers_nothing(right):
    return lambda self, keys: []


def answers_void(right):
    """Rows are taken back when they are asked for."""
    from fyke.routing.forwarding.row import withdrawal

    return lambda self, keys: [withdrawal(key) for key in keys]


def prunes_clients(right):
    """The own clients' rows are pruned as well."""

    def relieved(self):
        found = right(self)
        if self._relief is None:
            return found
        rows = [
            self._prune(row.key, fyke.parse("exists symbol"))
            for row in self._table.packed()
            if row.terms.source not in self._here.brokers
        ]
        return [*found, *self._changed(rows, [])]

    return relieved


def keeps_bytes(right):
    """What goes is not counted."""

    def take_out(self, row):
        before = self.filter_bytes
        right(self, row)
        self.filter_bytes = before

    return take_out


def tells_nobody(right):
    """Others are not told that a row is wider now."""

    def relieved(self):
        offers, self._offers = self._offers, {}
        found = right(self)
        self._offers = offers
        return found

    return relieved


FAULTS = {
    "narrower": (Relief, "prune", narrower),
    "other rows": (Relief, "prune", other_rows),
    "nothing is pruned": (Relief, "prune", prunes_nothing),
    "originals are never asked for": (Relief, "missing", never_asks),
    "pruned for ever": (Relief, "add", never_forgets),
    "no answer": (Offer, "restated", answers_nothing),
    "taken back when asked for": (Offer, "restated", answers_void),
    "clients are pruned": (Filtering, "_relieve", prunes_clients),
    "bytes that went": (RowTable, "_take_out", keeps_bytes),
    "others are not told": (Filtering, "_relieve", tells_nobody),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    kind, method, wrap = FAULTS[fault]
    monkeypatch.setattr(kind, method, wrap(getattr(kind, method)))
    with pytest.raises((AssertionError, FykeError, KeyError)):
        test_a_broker_prunes_and_asks_for_originals_when_there_is_room()
        test_without_room_even_for_clients_all_is_pruned_and_nothing_is_lost()


@pytest.mark.parametrize("strategy", ["pf1", "pf8", "rn8"])
def test_messages_that_no_pruned_row_explains_are_found(strategy, monkeypatch, seeds):
    """Events go to all who want anything at all: more than pruning lets in."""

    def match(table, event):
        return [table._rows[key] for key in table._filtered]

    monkeypatch.setattr(RowTable, "match", match)
    with pytest.raises(AssertionError, match=r"takes \d+ messages, not \d"):
        check(strategy, seeds(20))
