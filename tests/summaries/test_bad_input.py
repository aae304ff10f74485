"""What is damaged, contradicts itself or does not fit is refused with a sentence."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import fyke
from fyke.events.domain import Enumeration, String
from fyke.events.schema import Attribute, Schema
from fyke.summaries import encoding
from fyke.summaries.encoding import SummaryError, frame, pack, pack_signed, unframe
from fyke.summaries.merging import merge
from fyke.summaries.summary import Summary

PAIRS = [(f"s{at}", f"a > {at} and b = 'x{at}' and c like '%{at}%'") for at in range(20)]


def test_truncated_and_corrupted_bytes() -> None:
    data = Summary.of(PAIRS).to_bytes(names=True)
    for length in (0, 3, 8, len(data) // 2, len(data) - 1):
        with pytest.raises(SummaryError, match=r"FYKS|damaged"):
            Summary.from_bytes(data[:length])
    rng = Random(1)
    for _ in range(100):
        at = rng.randrange(len(data))
        changed = data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]
        with pytest.raises(SummaryError, match=r"FYKS|damaged|version"):
            Summary.from_bytes(changed)


def test_parts_that_are_changed_under_a_right_checksum() -> None:
    """Whatever is changed inside is refused, or is a summary that can be asked."""
    rng = Random(2)
    plain = unframe(Summary.of(PAIRS, owner="b1", version=1).to_bytes(names=True))
    refused = 0
    for _ in range(300):
        try:
            summary = Summary.from_bytes(frame(_changed(plain, rng)))
        except SummaryError:
            refused += 1
        else:
            summary.match({"a": 3, "b": "x1", "c": "1"})
    assert refused > 150


def _changed(plain: object, rng: Random) -> object:
    """Return nested data with one part changed."""
    if isinstance(plain, list | tuple) and plain and rng.random() < 0.9:
        at = rng.randrange(len(plain))
        return [_changed(each, rng) if i == at else each for i, each in enumerate(plain)]
    if isinstance(plain, bytes) and plain:
        at = rng.randrange(len(plain))
        return plain[:at] + bytes((rng.randrange(256),)) + plain[at + 1 :]
    return rng.choice([None, -1, "x", [], [[1, 2]], b"\x09", 2**40])


def test_oversized(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Summary.of(PAIRS).to_bytes()
    monkeypatch.setattr(encoding, "SIZE_MAX", 100)
    with pytest.raises(SummaryError, match="more than 100 bytes"):
        Summary.from_bytes(data)


def test_texts_that_share_with_each_other_more_than_there_is_memory() -> None:
    """Two kilobytes that stand for forty gigabytes of texts are refused on the way."""
    shared, length = 20_000, 2_000_000
    parts = unframe(Summary.of([("s", "b = 'x'")]).to_bytes())
    lines = parts[3][0][0][4]
    lines[2][0] = [
        pack(np.array([0] + [length] * shared)),
        pack(np.array([length] + [0] * shared)),
        b"a" * length,
    ]
    with pytest.raises(SummaryError, match="texts of more than"):
        Summary.from_bytes(frame(parts))


def test_a_newer_version_of_the_format() -> None:
    data = Summary.of(PAIRS).to_bytes()
    with pytest.raises(SummaryError, match="version 3; expected 2"):
        Summary.from_bytes(data[:4] + b"\x03" + data[5:])


@pytest.mark.parametrize("budget", ["64 apples", "", "-1", True])
def test_budgets_that_are_none(budget: str) -> None:
    with pytest.raises(fyke.FykeError, match="no size"):
        Summary.of(PAIRS, budget=budget)


def test_a_budget_below_the_least_says_the_least() -> None:
    with pytest.raises(SummaryError, match=r"10 bytes is too small; the least is \d+") as refused:
        Summary.of(PAIRS, budget=10)
    least = int(str(refused.value).rsplit(" ", 1)[1])
    assert Summary.of(PAIRS, budget=least).size == least
    assert Summary.of(PAIRS, budget=least).may_match({})


def test_two_brokers_of_one_name() -> None:
    one = Summary.of(PAIRS[:3], owner="b1", version=4)
    other = Summary.of(PAIRS[:5], owner="b1", version=4)
    with pytest.raises(SummaryError, match="two brokers call themselves 'b1'"):
        merge([one, other])


def test_a_version_that_goes_back_stays_out() -> None:
    new = Summary.of(PAIRS[:3], owner="b1", version=4)
    old = Summary.of(PAIRS[3:], owner="b1", version=3)
    for both in (new | old, old | new):
        assert both.versions == {"b1": 4}
        assert both == new


def test_declarations_that_differ() -> None:
    pairs = [("s", "level >= 'high'")]
    order = Schema([Attribute("level", Enumeration(("low", "high")))])
    text = Schema([Attribute("level", String())])
    with pytest.raises(SummaryError, match="'level' is declared in two ways"):
        Summary.of(pairs, schema=order) | Summary.of(pairs, schema=text)


def test_modes_that_differ() -> None:
    with pytest.raises(SummaryError, match="different modes: coarse, exact"):
        Summary.of(PAIRS, "coarse") | Summary.of(PAIRS, "exact")
    with pytest.raises(SummaryError, match="unknown mode 'fine'; expected coarse or exact"):
        Summary.of(PAIRS, "fine")


def test_ids_that_are_taken_or_unknown() -> None:
    summary = Summary.of(PAIRS)
    with pytest.raises(fyke.FykeError, match="there is a subscription 's1' already"):
        summary.add("s1", "a = 1")
    with pytest.raises(fyke.FykeError, match="there is no subscription 'none'"):
        summary.remove("none")
    with pytest.raises(fyke.FykeError, match="expected"):
        summary.replace("s1", "a <")
    assert summary == Summary.of(PAIRS)
    with pytest.raises(fyke.FykeError, match="no pair of an id and a filter"):
        Summary.of(["a = 1"])  # type: ignore[list-item]


def test_numbers_owners_and_boxes_that_cannot_be() -> None:
    """Under a right checksum: an owner that is not there, a number that is none, many boxes."""
    mode, declared, owners, (axes, count, boxes, members), _ = unframe(
        Summary.of(PAIRS[:3]).to_bytes()
    )
    box, owner, number = members
    for changed in (
        [axes, 2**27, boxes, members],
        [axes, count, boxes, [box, pack(np.array([0, 1, 0])), number]],
        [axes, count, boxes, [box, owner, pack_signed(np.array([1 << 41, 0, 0]))]],
        [axes, count, boxes, [box, owner, pack_signed(np.array([-1, 0, 0]))]],
        [axes, count, boxes, [box, owner[:-1], number]],
    ):
        with pytest.raises(SummaryError, match="damaged"):
            Summary.from_bytes(frame([mode, declared, owners, changed, None]))


def test_an_empty_part_between_two_does_not_make_their_ids_one() -> None:
    parts = [PAIRS[:3], [], PAIRS[3:7]]
    nameless = [Summary.from_bytes(Summary.of(each).to_bytes()) for each in parts]
    assert len(merge(nameless)) == 7


def test_an_empty_id_is_an_id() -> None:
    assert Summary.of([("", "a = 1")]).match({"a": 1}) == [""]


def test_summaries_without_versions_are_joined_by_id() -> None:
    both = Summary.of(PAIRS[:5]) | Summary.of(PAIRS[3:])
    assert sorted(both.match({"a": 30, "b": "x4", "c": "4"})) == ["s4"]
    assert len(both) == len(PAIRS)
    assert both | both == both
