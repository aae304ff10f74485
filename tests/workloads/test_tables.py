"""Tables are the rows: events and subscriptions as columns, of every workload there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.workloads.auction import AuctionWorkload
from fyke.workloads.drawn import DrawnWorkload
from fyke.workloads.named import WORKLOADS, described, workload
from fyke.workloads.stock_and_auction import StockAndAuctionWorkload
from fyke.workloads.workload import Workload, row_of
from tests.workloads import one_row

SEVERAL: list[Workload] = [
    *(kind() for kind in WORKLOADS.values()),
    AuctionWorkload(0, (3, 1), typed=False),
    workload("auction", joint=True),
    workload("w4", guarded=True),
    workload("bibliography", years=1, conferences=1_000, authors=20_000, typed=False),
    workload("boxes", attributes=16, interest="uniform", typed=False),
]

DIGESTS = {
    "stock": "1204c435cf048824",
    "auction": "b27043b923d17c11",
    "stock_and_auction": "babb641d3bfc4baa",
    "bibliography": "2a24ba8f4dda31f2",
    "sensors": "8489e451df08803d",
    "boxes": "f99143f372f41b62",
    "w1": "5e80e1d22d397f48",
    "w2_3": "c7c5f5f7ddae12e1",
    "w2_10": "f41e22ddfce546d5",
    "w3": "6151ebecfcbb5cbe",
    "w4": "fffc665e386b830e",
    "w5": "58e6144b2b35d012",
}
"""Of rows that were drawn one at a time, before there were arrays."""

works = pytest.mark.parametrize(
    "work", SEVERAL, ids=lambda each: "-".join(map(str, each.description().values()))
)
seeds = st.one_of(st.integers(0, 5), st.integers(-(2**70), 2**70))
starts = st.one_of(
    st.integers(0, 10), st.sampled_from([8_190, 10**6, 10**12]), st.integers(0, 2**48)
)


def seeded(work: Workload, seed: int) -> Workload:
    return described({**work.description(), "seed": seed})


def rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows as dictionaries; a null is missing."""
    for row in table.to_pylist():
        yield {name: value for name, value in row.items() if value is not None}


@works
@settings(max_examples=25)
@given(seed=seeds, start=starts, count=st.integers(0, 12))
def test_columns_are_the_events(work: Workload, seed: int, start: int, count: int) -> None:
    work = seeded(work, seed)
    table = work.columns(count, start)
    events = list(work.events(count, start))
    if not isinstance(work, StockAndAuctionWorkload):
        assert events == [one_row.event(work, number) for number in range(start, start + count)]
    assert list(rows(table)) == [dict(event.attributes) for event in events]
    for row, event in zip(rows(table), events, strict=True):
        assert {name: type(value) for name, value in row.items()} == {
            name: type(value) for name, value in event.attributes.items()
        }
    assert table.schema == work.columns(0).schema


@works
@settings(max_examples=25)
@given(seed=seeds, start=starts, count=st.integers(0, 12))
def test_subscription_columns_are_the_subscriptions(
    work: Workload, seed: int, start: int, count: int
) -> None:
    work = seeded(work, seed)
    table = work.subscription_columns(count, start)
    expected = [
        {
            "id": work.id(number),
            "filter": work.text(number),
            "subscriber": work.subscriber(number),
            "class": work.subscription_class(number),
        }
        for number in range(start, start + count)
    ]
    if isinstance(work, DrawnWorkload):
        for number, row in enumerate(expected, start):
            assert row["filter"] == one_row.text(work, number)
            assert row["subscriber"] == one_row.subscriber(work, number)
    if "class" not in table.column_names:
        assert all(row.pop("class") is None for row in expected)
    assert table.to_pylist() == expected
    assert table.column_names == ["id", "filter", "subscriber", "class"][: table.num_columns]
    assert table.schema == work.subscription_columns(0).schema


@pytest.mark.parametrize(
    ("options", "digest"),
    [
        *(({"name": name}, digest) for name, digest in DIGESTS.items()),
        ({"name": "auction", "classes": (3, 1), "typed": False}, "ee5203be1f84ba00"),
        ({"name": "auction", "joint": True, "equal_titles": True}, "1c6baf1cfbb98361"),
        ({"name": "w4", "guarded": True}, "e05f6bd4b103b9a8"),
        (
            {"name": "bibliography", "years": 1, "authors": 20_000, "typed": False},
            "b44f448707b4f059",
        ),
        (
            {"name": "boxes", "attributes": 16, "interest": "uniform", "typed": False},
            "c54e076414e7cc1a",
        ),
    ],
)
def test_rows_stay_what_they_are(options: dict[str, Any], digest: str) -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert DIGESTS.keys() == WORKLOADS.keys()
    work = workload(seed=7, **options)
    events = [(list(each.attributes.items()), each.supertypes) for each in work.events(50, 1_000)]
    lines = map(repr, [*events, *work.subscription_columns(50, 1_000).to_pylist()])
    assert sha256("\n".join(lines).encode()).hexdigest()[:16] == digest


@works
def test_rows_in_any_order(work: Workload) -> None:
    """Alone, in turn, back and forth: blocks are read ahead, rows do not depend on it."""
    events = list(work.events(300, 50))
    filters, texts = list(work.filters(300, 50)), list(work.texts(300, 50))
    for at in [7, 8, 9, 10, 250, 251, 3, 2, 1, 0, 299, 0, *range(90, 130), 100, 89]:
        assert work.event(50 + at) == events[at]
        assert work.event(50 + at).attributes is not work.event(50 + at).attributes
        assert work.filter(50 + at) == filters[at]
        assert work.text(50 + at) == texts[at]


def test_blocks_grow_while_rows_are_read_in_turn() -> None:
    made: list[int] = []

    def make(work: Workload, count: int, start: int) -> range:
        made.append(count)
        return range(start, start + count)

    work = SEVERAL[0]
    assert [row_of(make, work, at) for at in range(5_000)] == list(range(5_000))
    assert made == [1, 32, *[1_024] * 5]
    made.clear()
    alone = [9_000, 40, 9_002, 9_005, 0, 10**12]
    assert [row_of(make, work, at) for at in alone] == alone
    assert made == [1] * len(alone)


@works
def test_pieces_are_the_whole(work: Workload) -> None:
    """Across the seams of blocks, and for kinds that some pieces do not have."""
    work = seeded(work, 7)
    sizes = [1, 2, 0, 997, 8_192, 17]
    for columns in (work.columns, work.subscription_columns):
        start, pieces = 8_191, []
        for size in sizes:
            pieces.append(columns(size, start))
            start += size
        assert pa.concat_tables(pieces).equals(columns(sum(sizes), 8_191))


def test_the_page_lists_every_workload_and_option() -> None:
    page = Path(__file__).parents[2].joinpath("docs/workloads.md").read_text("utf-8")
    for work in SEVERAL:
        options = work.description().keys() - {"name", "seed"}
        assert all(f"`{word}`" in page for word in (work.name, *options))


@works
def test_descriptions_are_plain_and_make_the_workload_again(work: Workload) -> None:
    for seed in (0, -1, 2**70):
        other = seeded(work, seed)
        again = described(json.loads(json.dumps(other.description())))
        assert again == other
        assert again.seed == seed
        assert again.event(5) == other.event(5)
        assert again.text(5) == other.text(5)


@pytest.mark.parametrize(
    ("description", "complaint"),
    [
        ({}, "names it"),
        ({"seed": 3}, "names it"),
        ({"name": "w1", 3: 4}, "names it"),
        ({"name": "nothing"}, "unknown workload"),
        ({"name": ["w1"]}, "unknown workload"),
        ({"name": "w1", "typed": True}, "unknown option 'typed' of w1; expected seed"),
        ({"name": "w1", "seed": "7"}, "option seed of w1 is '7'; expected int"),
        ({"name": "w1", "seed": True}, "expected int"),
        ({"name": "w1", "seed": None}, "expected int"),
        ({"name": "auction", "typed": 1}, "expected bool"),
        ({"name": "auction", "classes": 3}, "expected tuple"),
        ({"name": "auction", "classes": []}, "classes"),
        ({"name": "auction", "classes": [1, 4]}, "classes"),
        ({"name": "auction", "classes": [[1]]}, "classes"),
        ({"name": "auction", "classes": ["1"]}, "classes"),
        ({"name": "auction", "classes": [True]}, "classes"),
        ({"name": "bibliography", "years": 0}, "years is 0; expected 1 to 2000"),
        ({"name": "bibliography", "conferences": 1_001}, "expected 1 to 1000"),
        ({"name": "bibliography", "authors": -1}, "authors is -1"),
        ({"name": "bibliography", "authors": 3.0}, "expected int"),
        ({"name": "boxes", "attributes": 17}, "expected 1 to 16"),
        ({"name": "boxes", "interest": "zipf"}, "power_law or uniform, not 'zipf'"),
        ({"name": "boxes", "interest": None}, "expected str"),
    ],
)
def test_bad_descriptions(description: dict[Any, Any], complaint: str) -> None:
    with pytest.raises(FykeError, match=complaint):
        described(description)
