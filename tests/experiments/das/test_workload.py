"""The DAS workload: exact proportions, whatever the numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.experiments.das.workload import Profiles

portions = st.fractions(0, 1, max_denominator=10)


def owners(profiles: Profiles) -> dict[int, str]:
    """Who asked for a value."""
    found: dict[int, str] = {}
    for broker, subscription in profiles.subscriptions():
        (value,) = [int(text) for text in str(subscription.filter).split() if text.isdigit()]
        assert found.setdefault(value, broker) == broker
    return found


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 3), portions, st.integers(0, 2**40))
def test_every_publisher_type_and_owner_has_its_share(brokers, sigma, types, p_e, seed):
    names = tuple(f"B{number}" for number in range(brokers))
    profiles = Profiles(names, 12 * brokers * sigma * max(types, 1), sigma, types)
    owned = owners(profiles)
    events = profiles.events(p_e, at_least=7, seed=seed)
    assert len(events) >= 7
    seen = Counter(
        (each.broker, each.event.type, owned.get(each.event.attributes["a"])) for each in events
    )
    matching = Counter({key: count for key, count in seen.items() if key[2] is not None})
    assert sum(matching.values()) == p_e * len(events)
    share = p_e * len(events) / (brokers * max(types, 1) * brokers)
    assert set(matching.values()) <= {share}
    assert len(matching) == (brokers * max(types, 1) * brokers if p_e else 0)


@given(st.integers(2, 4), portions, portions)
def test_locality(brokers, p_e, locality):
    names = tuple(f"B{number}" for number in range(brokers))
    profiles = Profiles(names, 10 * brokers)
    owned = owners(profiles)
    events = profiles.events(p_e, locality=locality)
    matching = [each for each in events if each.event.attributes["a"] in owned]
    local = sum(owned[each.event.attributes["a"]] == each.broker for each in matching)
    assert len(matching) == p_e * len(events)
    assert local == locality * len(matching)


def test_groups_of_equal_profiles_live_at_one_broker():
    profiles = Profiles(("B1", "B2", "B3"), 20, sigma=3)
    made = list(profiles.subscriptions())
    assert profiles.total == len(made) == 18
    assert len({subscription.id for _, subscription in made}) == 18
    filters = Counter((broker, str(subscription.filter)) for broker, subscription in made)
    assert set(filters.values()) == {3} and len(filters) == 6


def test_the_same_seed_gives_the_same_events():
    profiles = Profiles(("B1", "B2"), 40, types=2)

    def drawn(seed: int) -> list[object]:
        return [(e.broker, e.event.attributes) for e in profiles.events(Fraction(1, 2), seed=seed)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_bad_proportions():
    with pytest.raises(FykeError, match="too few"):
        Profiles(("B1", "B2"), 3, sigma=2)
    for p_e, locality in [
        (Fraction(11, 10), None),
        (Fraction(-1), None),
        (Fraction(1), Fraction(2)),
    ]:
        with pytest.raises(FykeError, match="expected 0 to 1"):
            Profiles(("B1",), 3).events(p_e, locality=locality)
