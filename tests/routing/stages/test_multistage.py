"""Multi-stage filtering: the paper's examples, what stages keep, and the law of strategies."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

import fyke
from fyke.assembly import Options, assemble
from fyke.events.schema import Schema
from fyke.filters.algebra.covering import covers
from fyke.filters.filter import TRUE, conjunction, walk
from fyke.filters.predicate import Predicate
from fyke.nodes.message import Advertise, Unadvertise, Unsubscribe
from fyke.routing.forwarding.doubt import Doubt
from fyke.routing.forwarding.table import RowTable
from fyke.routing.stages.attributes import check_stages, common, weaken_for
from fyke.routing.stages.multistage import Multistage
from fyke.routing.strategy import EVERYONE, NOTHING, Decision
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, family, leaf
from fyke.testing.stories import story as told
from fyke.testing.stories.reaching import examples, reached, reaches
from fyke.testing.stories.story import Add, Crash, Say, Settle, Story, Wait
from fyke.testing.strategy import check_story, check_strategy
from fyke.traces.trace import Accepted, Sent
from tests.overlays import Overlay

STOCK = (("symbol", "price"), ("symbol", "price"), ("symbol",), ())
AUCTION = (
    ("product", "kind", "capacity", "price"),
    ("product", "kind", "capacity"),
    ("product", "kind"),
    (),
)
CLASSES = {"Stock": STOCK, "Auction": AUCTION}
F1 = "type is Stock and symbol = 'DEF' and price < 10"
F2 = "type is Stock and symbol = 'DEF' and price < 11"
F3 = "type is Stock and symbol = 'GHI' and price < 8"
F4 = (
    "type is Auction and product = 'Vehicle' and kind = 'Car' and capacity < 2000 and price < 10000"
)
TREE = (("r", "m"), ("r", "n"), ("m", "a"), ("m", "b"), ("n", "c"))
"""The root r; m and n; a, b and c at the edge."""


def weakened(text: str, stage: int) -> str:
    return str(weaken_for(fyke.parse(text), stage, CLASSES, Schema()))


def rows(overlay: Overlay, broker: str) -> list[str]:
    """Return the filters that a broker holds for its children."""
    strategy = strategy_of(overlay, broker)
    return sorted(text for known in strategy.tables()["heard"].values() for text in known.values())


def strategy_of(overlay: Overlay, broker: str) -> Multistage:
    strategy = overlay.run.node(broker).strategy
    assert isinstance(strategy, Multistage)
    return strategy


# --- stages ---------------------------------------------------------------------------------------


def test_stages_of_the_papers_auction() -> None:
    """MSF-X6."""
    assert weakened(F4, 0) == str(fyke.parse(F4))
    assert weakened(F4, 1) == str(fyke.parse(F4.replace(" and price < 10000", "")))
    assert weakened(F4, 2) == "type is Auction and product = 'Vehicle' and kind = 'Car'"
    assert weakened(F4, 3) == weakened(F4, 9) == "type is Auction"


def test_what_is_kept_of_filters_without_a_class_of_several_and_of_none_known() -> None:
    assert weakened("symbol = 'DEF' and price < 3 and other = 1", 2) == "symbol = 'DEF'"
    both = "type in ('Stock', 'Auction') and symbol = 'A' and product = 'B' and price < 3"
    assert weakened(both, 2) == str(
        fyke.parse("type in ('Stock', 'Auction') and symbol = 'A' and product = 'B'")
    )
    assert weakened("type is Bond and price < 3", 3) == "type is Bond and price < 3"
    assert weakened("(type is Stock and price < 3) or (type is Auction and price < 2)", 3) == str(
        fyke.parse("type is Stock or type is Auction")
    )
    assert weakened("not symbol = 'A'", 3) == "true"


@reaches(weaker=0.15)
@examples(0.5)
@given(randoms())
def test_a_weakened_filter_covers_the_filter_at_every_stage(rng: Random) -> None:
    general = family(rng, size=2)
    filter = conjunction((*general, leaf(rng, "special")))
    leaves = (each for each in walk(filter) if isinstance(each, Predicate))
    names = sorted({each.attribute for each in leaves} - {"special"})
    stages = tuple(
        (*names[: len(names) - at], *(["special"] * (at == 0))) for at in range(1 + len(names))
    )
    classes = {"T": check_stages(stages, Schema(), "T")}
    stage = rng.randint(0, 3)
    weak = weaken_for(filter, stage, classes, Schema())
    wider = weaken_for(filter, stage + 1, classes, Schema())
    reached(weaker=weak not in (filter, TRUE))
    seen = events_about(rng, [filter, *general])
    check_covers(weak.matches, filter.matches, seen)
    check_covers(wider.matches, weak.matches, seen)


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ((("a",), ("a", "b")), "stage 1 of T keeps b, which stage 0 does not"),
        ((("a",), (), ("a",)), "stage 2 of T keeps a, which stage 1 does not"),
        ((("a", 5),), "stage 0 of T: 5; expected a name"),
        ((("a",),) * 65, "at most 64"),
    ],
)
def test_stages_that_are_not_nested_are_refused(stages: object, problem: str) -> None:
    with pytest.raises(fyke.FykeError, match=problem):
        check_stages(stages, Schema(), "T")  # type: ignore[arg-type]
    with pytest.raises(fyke.FykeError, match=problem):
        Options("multistage", stages={"T": stages})  # type: ignore[dict-item]


def test_several_publishers_agree_on_what_all_of_them_keep() -> None:
    one, other = {"T": (("a", "b"), ("a",))}, {"T": (("b", "a"), ("b", "a"), ("b",)), "U": ()}
    agreed = {"T": (("a", "b"), ("a",), ()), "U": ()}
    assert common([one, other]) == common([other, one]) == common([one, other, one]) == agreed


# --- the tree -------------------------------------------------------------------------------------


def test_tables_of_the_papers_tree() -> None:
    """MSF-X5: four filters at the edge, then three, three and two."""
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES, merging=True)
    for client, id, text in (("ca", "1", F1), ("ca", "2", F2), ("cb", "3", F3), ("ca", "4", F4)):
        assert overlay.subscribe(client, id, text) == []
    assert rows(overlay, "m") == sorted(
        [
            "type is Auction and product = 'Vehicle' and kind = 'Car'",
            "type is Stock and symbol = 'DEF'",
            "type is Stock and symbol = 'GHI'",
        ]
    )
    assert rows(overlay, "r") == ["type is Auction", "type is Stock"]
    stock = {"type": "Stock", "symbol": "DEF", "price": 10.5}
    assert overlay.publish("cc", stock) == [("ca", ("2",))]
    assert overlay.publish("cc", {**stock, "symbol": "X"}) == []


def test_stages_follow_brokers_that_come_and_go() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES)
    stages = {name: strategy_of(overlay, name).stage for name in "rmnabc"}
    assert stages == {"r": 3, "m": 2, "n": 2, "a": 1, "b": 1, "c": 1}
    overlay.subscribe("cc", "s", F1)
    assert rows(overlay, "n") == ["type is Stock and symbol = 'DEF'"]
    overlay.run.add("d", ["c"])
    overlay.settle()
    assert [strategy_of(overlay, name).stage for name in "rncd"] == [4, 3, 2, 1]
    assert rows(overlay, "n") == ["type is Stock"]
    overlay.run.remove("d")
    overlay.settle()
    assert [strategy_of(overlay, name).stage for name in "rnc"] == [3, 2, 1]
    assert rows(overlay, "n") == ["type is Stock and symbol = 'DEF'"]


def test_an_event_goes_up_once_and_down_where_it_is_wanted() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"})
    overlay.subscribe("cb", "s", F1)
    before = len(overlay.trace)
    event = {"type": "Stock", "symbol": "DEF", "price": 9}
    assert overlay.publish("ca", event, id="e") == [("cb", ("s",))]
    sent = [each for each in overlay.trace[before:] if isinstance(each, Sent)]
    assert [(each.at, each.to) for each in sent] == [("a", "m"), ("m", "r"), ("r", "m"), ("m", "b")]


def test_without_its_root_a_tree_is_flooded() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES)
    overlay.subscribe("cb", "s", F1)
    overlay.run.remove("r")
    overlay.settle()
    event = {"type": "Stock", "symbol": "DEF", "price": 9}
    assert overlay.publish("ca", event) == [("cb", ("s",))]


# --- publishers' words ----------------------------------------------------------------------------


def advertise(
    overlay: Overlay, client: str, stages: object, text: str = "type is Stock"
) -> list[str]:
    return overlay.say(client, Advertise("ad", fyke.parse(text), stages))  # type: ignore[arg-type]


def test_stages_come_with_advertisements_and_go_with_them() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, in_bytes=True)
    overlay.subscribe("cb", "s", F1)
    whole = str(fyke.parse(F1))
    assert rows(overlay, "m") == rows(overlay, "r") == [whole]
    assert advertise(overlay, "cc", STOCK) == []
    assert (rows(overlay, "m"), rows(overlay, "r")) == (
        ["type is Stock and symbol = 'DEF'"],
        ["type is Stock"],
    )
    assert advertise(overlay, "ca", ((), ())) == []
    assert rows(overlay, "m") == ["type is Stock"]
    assert overlay.say("ca", Unadvertise("ad")) == []
    assert rows(overlay, "m") == ["type is Stock and symbol = 'DEF'"]
    overlay.run.crash("c")
    overlay.run.restart("c")
    overlay.settle()
    assert rows(overlay, "m") == ["type is Stock and symbol = 'DEF'"]
    assert overlay.say("cc", Unadvertise("ad")) == []
    assert rows(overlay, "m") == rows(overlay, "r") == [whole]


def test_publishers_that_disagree_are_both_told_what_is_kept() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"})
    assert advertise(overlay, "cc", STOCK) == []
    assert answered(overlay) == []
    assert advertise(overlay, "ca", (("symbol", "price"), ("symbol",), ("symbol",))) == []
    assert {client for client, _ in answered(overlay)} == {"ca", "cc"}
    kept = "ad: the stages of Stock are now price, symbol / symbol / symbol / nothing, as all "
    assert {note for _, note in answered(overlay)} == {f"{kept}its publishers keep them"}
    assert overlay.say("ca", Unadvertise("ad")) == []
    (client, note) = answered(overlay)[-1]
    assert client == "cc" and "now symbol, price / symbol, price / symbol / nothing" in note
    both = ("price", "symbol")
    assert advertise(overlay, "cb", (both, both, ("symbol",), ())) == []
    assert len(answered(overlay)) == 3  # the same stages, in another order


def answered(overlay: Overlay) -> list[tuple[str, str]]:
    answers = (each for each in overlay.trace if isinstance(each, Accepted))
    return [(each.to, each.id) for each in answers if each.about == "Advertise"]


def test_stages_name_attributes_that_events_have() -> None:
    """Where types are declared; elsewhere nobody knows them."""
    price = {"price": {"domain": {"real": {}}}}
    schema = Schema.from_document({"types": {"Stock": {"attributes": price}}})
    stages = (("prize",), ())
    with pytest.raises(fyke.FykeError, match="stage 0 of Stock keeps prize, which no event has"):
        check_stages(stages, schema, "Stock")
    assert check_stages(stages, schema, "Unknown") == stages
    assert check_stages((("price",), ()), schema, "Stock") == (("price",), ())


def test_stages_go_with_the_broker_that_told_them() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"})
    overlay.subscribe("cb", "s", F1)
    assert advertise(overlay, "cc", STOCK) == []
    assert rows(overlay, "r") == ["type is Stock"]
    overlay.run.remove("c")
    overlay.settle()
    assert rows(overlay, "m") == rows(overlay, "r") == [str(fyke.parse(F1))]


def test_a_subtype_has_the_stages_of_its_nearest_supertype() -> None:
    types = {"Stock": [], "Bond": ["Stock"], "Junk": ["Bond"]}
    schema = Schema.from_document(
        {"types": {name: {"supertypes": above} for name, above in types.items()}}
    )
    text = "type is {} and symbol = 'DEF' and price < 10"
    classes = {"Stock": STOCK, "Bond": (("price",), ("price",), ("price",), ("price",))}
    for name, kept in (("Stock", ""), ("Bond", " and price < 10"), ("Junk", " and price < 10")):
        weak = weaken_for(fyke.parse(text.format(name)), 3, classes, schema)
        assert weak == fyke.parse(f"type is {name}{kept}")


def test_refused_stages_change_nothing() -> None:
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"})
    overlay.subscribe("cb", "s", F1)
    (reason,) = advertise(overlay, "ca", (("symbol",), ("symbol", "price")))
    assert "stage 1 of Stock keeps price, which stage 0 does not" in reason
    (reason,) = advertise(overlay, "ca", STOCK, "price < 3")
    assert "stages belong to one class of events; the filter names none" in reason
    (reason,) = advertise(overlay, "ca", STOCK, "type is Stock or type is Bond")
    assert "the filter names Bond, Stock" in reason
    assert rows(overlay, "r") == [str(fyke.parse(F1))]
    assert overlay.publish("ca", {"any": 1}) == []


def test_what_a_coverer_hid_comes_back_when_it_goes() -> None:
    """MSF-13."""
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES)
    overlay.subscribe("ca", "1", F1)
    overlay.subscribe("ca", "all", "type is Stock")
    assert rows(overlay, "m") == ["type is Stock"]
    overlay.say("ca", Unsubscribe("all"))
    assert rows(overlay, "m") == ["type is Stock and symbol = 'DEF'"]


# --- the law --------------------------------------------------------------------------------------

STORY = {"T": (("a", "b"), ("a",), ()), "U": (("b",), ("b",), ())}


def staged(topology, owners, engine):
    return assemble("multistage", topology, rendezvous=owners, engine=engine, stages=STORY)


@pytest.mark.parametrize("types", [False, True])
@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("make", ["multistage", staged])
def test_it_delivers_what_the_scan_finds(make, faults, types, seeds):
    checked = check_strategy(make, seeds=seeds(25), faults=faults, types=types)
    assert checked["reached"] > 200 and checked["tables"] >= 25
    assert not faults or checked["reached amid faults"] > 5


def restarted_root(latencies: float) -> Story:
    """b2, two links from the root, wants something; the root restarts, and soon publishes."""
    wanted, event = told.filters()[7], told.events()[11]
    steps = [Add(4, 0, wanted), Settle(), Crash(0), Wait(1), Crash(0), Wait(latencies)]
    return Story((0, 1), (0,), [*steps, Say(0, event), Settle()])


AFTER = [0.0, 0.5, 1.5, 2.5, 3.5]


def test_a_root_that_has_forgotten_everything_loses_nothing() -> None:
    for after in AFTER:
        assert check_story("multistage", restarted_root(after))["reached amid faults"] == 1


def test_a_root_that_does_not_doubt_is_found(monkeypatch) -> None:
    monkeypatch.setattr(Doubt, "sides", lambda self, came_from: [])
    monkeypatch.setattr(Doubt, "__bool__", lambda self: False)
    with pytest.raises(AssertionError, match="does not get"):
        for after in AFTER:
            check_story("multistage", restarted_root(after))


def forgets_the_side_it_came_from(right):
    return lambda self, publish, came_from, upward=None: right(
        self, publish, came_from or "", next(iter(self._here.brokers), None)
    )


def drops_what_cannot_go_up(right):
    def meet(self, publish, came_from):
        above = self.parent
        if above is not None and not self._here.brokers.get(above):
            return NOTHING
        return right(self, publish, came_from)

    return meet


def tells_the_stage_once(right):
    return lambda self: []


def keeps_other_attributes(right):
    """A stage takes the attributes that go for those that stay."""

    def offer(self, offered, peer, row):
        self._classes = dict.fromkeys(self._classes, (("zz",),))
        return right(self, offered, peer, row)

    return offer


def loses_a_row(right):
    return lambda self, event: right(self, event)[1:]


def delivers_on_the_way_up(right):
    def meet(self, publish, came_from):
        decision = right(self, publish, came_from)
        return Decision(decision.sends, EVERYONE, decision.wakes)

    return meet


def keeps_classes_of_the_gone(right):
    def advertise(self, message, came_from):
        if isinstance(message, Unadvertise):
            return NOTHING
        return right(self, message, came_from)

    return advertise


FAULTS = [
    (Multistage, "_filtered", forgets_the_side_it_came_from),
    (Multistage, "_meet", drops_what_cannot_go_up),
    (Multistage, "_meet", delivers_on_the_way_up),
    (RowTable, "match", loses_a_row),
]


@pytest.mark.parametrize(("place", "name", "fault"), FAULTS)
def test_planted_faults_are_found(place, name, fault, monkeypatch):
    monkeypatch.setattr(place, name, fault(getattr(place, name)))
    with pytest.raises(AssertionError):
        check_strategy("multistage", seeds=range(60), faults=True)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("_restage", tells_the_stage_once),
        ("advertise", keeps_classes_of_the_gone),
        ("_offer", keeps_other_attributes),
    ],
)
def test_faults_of_stages_are_found(name, fault, monkeypatch):
    monkeypatch.setattr(Multistage, name, fault(getattr(Multistage, name)))
    with pytest.raises(AssertionError):
        test_stages_follow_brokers_that_come_and_go()
        test_stages_come_with_advertisements_and_go_with_them()
        test_tables_of_the_papers_tree()


def test_covering_of_what_is_told() -> None:
    """All that brokers hold covers what it stands for, stage after stage."""
    for stage in range(4):
        for text in (F1, F2, F3, F4):
            weak = fyke.parse(weakened(text, stage))
            assert covers(weak, fyke.parse(text))
            assert covers(fyke.parse(weakened(text, stage + 1)), weak)
