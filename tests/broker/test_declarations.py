"""All brokers come to one schema, in whatever order they hear of what was declared, and where."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import fyke
from fyke.broker.declarations import Declarations
from fyke.errors import SchemaError
from fyke.events.schema import Schema
from fyke.nodes.message import Declare, Publish
from fyke.simulation.network import Network
from tests.overlays import Overlay

NAMES = ("Thing", "Stock", "Share", "Bond")


def integers(low: int, high: int) -> dict[str, object]:
    return {"domain": {"integer": {"low": low, "high": high}}}


def documents() -> st.SearchStrategy[dict[str, object] | None]:
    """Types that often contradict each other: in the domain of x, or in what is above what."""
    attribute = st.sampled_from(
        [integers(0, 9), integers(0, 5), {"domain": "string"}, {"domain": "level"}]
    )
    return st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {"attributes": st.dictionaries(st.just("x"), attribute, max_size=1)},
            optional={"supertypes": st.lists(st.sampled_from(NAMES), max_size=2, unique=True)},
        ),
    )


ranks = (st.integers(1, 3), st.sampled_from("abc"))
domains = st.sampled_from([None, integers(0, 9)["domain"], integers(0, 5)["domain"]])
declared = st.one_of(
    *[st.builds(Declare, st.just("type"), st.sampled_from(NAMES), documents(), *ranks)] * 3,
    st.builds(Declare, st.just("domain"), st.just("level"), domains, *ranks),
)


def held(declarations: Declarations) -> dict[tuple[str, str], Declare]:
    """Return what is held, by name: a document is the same in whatever order it is spelt."""
    return {(each.what, each.name): each for each in declarations.all()}


@given(st.lists(declared, max_size=8), st.data())
def test_the_schema_is_a_function_of_what_was_heard(heard, data):
    one, other = Declarations(), Declarations()
    again = data.draw(st.permutations(heard + heard[:2]))
    for each in heard:
        one.hear(each)
    for each in again:
        other.hear(each)
    assert one.schema == other.schema
    assert one.digest == other.digest
    assert held(one) == held(other)
    newest = sorted(one.all(), key=lambda each: each.name)
    types = {each.name: each.document for each in newest if each.what == "type" and each.document}
    named = {each.name: each.document for each in newest if each.what == "domain" and each.document}
    try:
        whole = Schema.from_document({"attributes": {}, "types": types, "domains": named})
    except SchemaError:
        event("contradict each other")
    else:
        assert one.schema == whole, "what agrees is all used"
    assert not any(one.hear(each) for each in heard), "what is known is no news"
    for each in newest:
        used = one.schema.to_document()
        if each.document is None or each.name in used[f"{each.what}s"]:
            continue
        with pytest.raises(SchemaError):
            Schema.from_document(
                used | {f"{each.what}s": {**used[f"{each.what}s"], each.name: each.document}}
            )


@given(st.lists(declared, max_size=8), st.lists(declared, max_size=8))
def test_brokers_that_hold_the_same_say_so_and_no_others(ours, theirs):
    one, other = Declarations(), Declarations()
    for each in ours:
        one.hear(each)
    for each in theirs:
        other.hear(each)
    is_same = held(one) == held(other)
    event(f"the same: {is_same}")
    assert (one.digest == other.digest) == is_same


def verdicts(overlay: Overlay) -> list[list[tuple[str, bool]]]:
    """Return at every broker which events are let in."""
    events = [
        ({"type": name, **more}, f"{name} {more}")
        for name in NAMES
        for more in ({}, {"x": 7}, {"x": 3}, {"x": "text"}, {"x": -1})
    ]
    return [
        [
            (text, not overlay.say(f"c{name}", Publish("", fyke.Event(each))))
            for each, text in events
        ]
        for name in overlay.topology.brokers
    ]


STOCK = {"attributes": {}}
BOND = {"attributes": {"x": integers(0, 9)}}
SHARE = {"supertypes": ["Stock"], "attributes": {"x": integers(0, 5)}}


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding", "rendezvous"])
def test_declarations_that_meet_on_their_way_leave_one_schema(strategy: str):
    overlay = Overlay(strategy, [("a", "b"), ("b", "c")])
    overlay.say("ca", Declare("type", "Stock", STOCK))
    now = overlay.run.now
    overlay.run.say("cc", Declare("type", "Bond", BOND), now)
    overlay.run.say("ca", Declare("type", "Share", SHARE), now + 0.0005)
    overlay.settle()
    first, *others = verdicts(overlay)
    assert others == [first, first]
    for broker in "abc":
        overlay.run.crash(broker)
        overlay.run.restart(broker)
        overlay.settle()
        assert verdicts(overlay) == [first] * 3
    overlay.say("cb", Declare("type", "Bond", {"attributes": {}}))
    assert ("Share {'x': 3}", True) in verdicts(overlay)[0], "what waited is used when it can be"


@pytest.mark.parametrize("seed", range(12))
def test_schemas_converge(seed: int):
    draw = Random(seed)
    network = Network(latency_s=0.001, store_s=draw.choice((0.0, 0.002)))
    overlay = Overlay("event_forwarding", network=network)
    run, domains = overlay.run, [integers(0, 9), integers(0, 5), {"domain": "string"}]
    for number in range(12):
        attributes = {"x": draw.choice(domains)} if draw.random() < 0.6 else {}
        document = {"attributes": attributes, "supertypes": draw.sample(NAMES, draw.randrange(2))}
        wanted = Declare("type", draw.choice(NAMES), document if draw.random() < 0.9 else None)
        run.say(f"c{draw.choice('abcd')}", wanted, number * 0.001 * draw.random())
    link = draw.choice(overlay.topology.links)
    run.do(lambda: run.cut(*link), 0.002)
    run.do(lambda: run.heal(*link), 0.02)
    overlay.settle()
    broker = draw.choice("abcd")
    run.crash(broker)
    run.restart(broker)
    overlay.settle()
    first, *others = verdicts(overlay)
    assert others == [first] * 3


def test_what_only_waited_for_another_is_used_although_others_contradict():
    """Share is looked at before Stock, which is above it; Bond contradicts what came first."""
    declarations = Declarations()
    for name, author, document in [
        ("Share", "a", {"supertypes": ["Stock"], "attributes": {}}),
        ("Fund", "a", {"attributes": {"x": integers(0, 9)}}),
        ("Bond", "b", {"supertypes": ["Fund"], "attributes": {"x": integers(0, 99)}}),
        ("Stock", "c", {"attributes": {}}),
    ]:
        assert declarations.hear(Declare("type", name, document, 1, author))
    assert sorted(each.name for each in declarations.schema.types) == ["Fund", "Share", "Stock"]
