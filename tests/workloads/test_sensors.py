"""The facility: every attribute of a type once, one predicate per attribute, domains kept."""

from __future__ import annotations

from collections import Counter

import fyke
from fyke.filters.filter import And, Filter
from fyke.filters.predicate import In, Predicate, Range, TypeIs
from fyke.testing.workload import check_workload
from fyke.workloads.sensors import BUILDINGS, DEVICES, STATES, SensorsWorkload

SENSORS = SensorsWorkload(seed=7)

DOMAINS = {
    "Temperature": ("celsius", -10.0, 60.0),
    "Humidity": ("percent", 0, 100),
    "Brightness": ("lux", 0, 100_000),
    "Occupancy": ("persons", 0, 60),
    "Smoke": ("density", 0.0, 10.0),
}


def test_laws() -> None:
    check_workload(SENSORS, SensorsWorkload(seed=8))


def test_events_have_every_attribute_of_their_type_within_its_domain() -> None:
    types: Counter[object] = Counter()
    for event in SENSORS.events(5_000):
        found = dict(event.attributes)
        kind = found.pop("type")
        types[kind] += 1
        assert event.supertypes == ("Reading",)
        assert found.pop("building") in BUILDINGS
        assert found.pop("floor") in range(10)
        assert found.pop("room") in range(1, 41)
        if kind == "Device":
            assert found.pop("device") in DEVICES
            assert found.pop("status") in STATES
        else:
            name, least, most = DOMAINS[str(kind)]
            value = found.pop(name)
            assert type(value) is type(least)
            assert least <= value <= most  # type: ignore[operator]
        assert not found
    assert types.keys() == {*DOMAINS, "Device"}
    assert types.most_common(1)[0][0] == "Temperature"
    assert min(types.values()) > 150


def leaves(filter: Filter) -> tuple[Predicate, ...]:
    assert isinstance(filter, And)
    found = filter.children
    assert all(isinstance(each, Predicate) for each in found)
    return found  # type: ignore[return-value]


def test_profiles_have_one_predicate_per_attribute() -> None:
    shapes: Counter[tuple[str, ...]] = Counter()
    for filter in SENSORS.filters(2_000):
        kind, *others = leaves(filter)
        assert isinstance(kind, TypeIs)
        names = [each.attribute for each in others]
        assert len(set(names)) == len(names)
        for each in others:
            assert isinstance(each, (In, Range))
            if isinstance(each, Range) and each.low is not None and each.high is not None:
                assert each.low <= each.high  # type: ignore[operator]
            if isinstance(each, In):
                assert len(set(each.values)) == len(each.values) <= 2
        shapes[kind.name, *names] += 1
    assert len(shapes) == 7, "radiators and coolers differ in operators only"
    assert min(shapes.values()) > 50


def test_intervals_stay_in_the_facility() -> None:
    for filter in SENSORS.filters(3_000):
        for each in leaves(filter):
            if isinstance(each, Range) and each.attribute in ("room", "floor"):
                assert each.low >= (each.attribute == "room")  # type: ignore[operator]
                assert each.high <= {"room": 40, "floor": 9}[each.attribute]  # type: ignore[operator]


def test_events_match_few_subscriptions_and_half_of_them_something() -> None:
    matcher = fyke.Matcher()
    matcher.add_many((one.id, one.filter) for one in SENSORS.subscriptions(2_000))
    found = matcher.match_batch(SENSORS.columns(20_000))
    assert 1e-4 < found.num_rows / (20_000 * 2_000) < 2e-4
    assert 0.4 < len(set(found["subscription"].to_pylist())) / 2_000 < 0.65


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert SENSORS.event(1).attributes == {
        **{"type": "Temperature", "building": "C", "floor": 6, "room": 34, "celsius": 20.9}
    }
    assert SENSORS.text(7) == (
        "type is Temperature and building = 'D' and floor = 0 and room between 6 and 8"
        " and celsius > 28.0"
    )
    assert SENSORS.subscriber(7) == "controller-3341"
