"""Where a subscription is attached in a tree of stages: the paper's walks."""

from __future__ import annotations

from random import Random

import fyke
from fyke.events.schema import Schema
from fyke.routing.stages.joining import next_child, stage_of_wildcards
from fyke.routing.stages.multistage import Multistage
from tests.overlays import Overlay
from tests.routing.stages.test_multistage import CLASSES, F1, F2, F3, F4, STOCK, TREE, rows


def walk(overlay: Overlay, text: str, seed: int = 0) -> list[str]:
    """Return the brokers that a subscriber asks, from the root on; the last one keeps it."""
    asked, random = ["r"], Random(seed)
    while True:
        strategy = overlay.run.node(asked[-1]).strategy
        assert isinstance(strategy, Multistage)
        child = strategy.join(fyke.parse(text), random)
        if child is None:
            return asked
        asked.append(child)


def test_similar_ones_meet_at_one_broker() -> None:
    """MSF-X9, and MSF-X7: one filter and one path for two subscribers, where there were two."""
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES)
    assert {tuple(walk(overlay, F1, seed)) for seed in range(30)} == {
        ("r", "m", "a"),
        ("r", "m", "b"),
        ("r", "n", "c"),
    }
    overlay.subscribe("ca", "1", F1)
    assert (rows(overlay, "m"), rows(overlay, "r")) == (
        ["type is Stock and symbol = 'DEF'"],
        ["type is Stock"],
    )
    assert {tuple(walk(overlay, F2, seed)) for seed in range(30)} == {("r", "m", "a")}
    overlay.subscribe("ca", "2", F2)
    assert {tuple(walk(overlay, F3, seed)) for seed in range(30)} == {
        ("r", "m", "a"),
        ("r", "m", "b"),
    }
    assert {walk(overlay, F4, seed)[1] for seed in range(30)} == {"m", "n"}


def test_wildcards_stay_above_the_stages_that_filter_on_them() -> None:
    """MSF-X8."""
    assert stage_of_wildcards(fyke.parse(F1), STOCK) == 0
    assert stage_of_wildcards(fyke.parse("type is Stock and symbol = 'DEF'"), STOCK) == 2
    assert stage_of_wildcards(fyke.parse("type is Stock and price < 100"), STOCK) == 3
    assert stage_of_wildcards(fyke.parse("price < 100"), ()) == 0
    overlay = Overlay("multistage", TREE, rendezvous={"": "r"}, stages=CLASSES)
    overlay.subscribe("ca", "1", F1)
    assert walk(overlay, "type is Stock and price < 100") == ["r"]
    assert walk(overlay, "type is Stock and symbol = 'DEF'") == ["r", "m"]


def test_the_strongest_of_those_that_cover_is_followed() -> None:
    held = {
        "a": [fyke.parse("type is Stock")],
        "b": [fyke.parse("type is Stock and symbol = 'DEF'"), fyke.parse("type is Bond")],
        "c": [],
    }
    for seed in range(20):
        random = Random(seed)
        assert next_child(fyke.parse(F1), 3, held, STOCK, Schema(), random) == "b"
        assert next_child(fyke.parse(F3), 3, held, STOCK, Schema(), random) == "a"
    assert next_child(fyke.parse(F1), 1, held, STOCK, Schema(), Random(0)) is None
    assert next_child(fyke.parse(F1), 3, {}, STOCK, Schema(), Random(0)) is None
