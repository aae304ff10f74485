"""Sizes as people write them."""

from __future__ import annotations

import pytest

from fyke.errors import FykeError
from fyke.sizes import read_size, written_size

SIZES = {
    **{0: 0, 65536: 65536, "65536": 65536, "64 kB": 64_000, "4MB": 4_000_000},
    **{"1.5 GiB": 3 * 2**29, " 7 b ": 7, "2TB": 2 * 10**12},
}
NONE = [-1, True, 0.5, "", "-1", "ten", "4 apples", "0.4", "1,000", "٤ kB"]


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_sizes(text: int | str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_size(text: object) -> None:
    with pytest.raises(FykeError, match="is no size; expected bytes"):
        read_size(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["40", "0.4"])
def test_a_unit_is_needed_where_a_share_may_be_meant(text: str) -> None:
    with pytest.raises(FykeError, match="is no size"):
        read_size(text, needs_unit=True)
    assert read_size("40 B", needs_unit=True) == read_size(40, needs_unit=True) == 40


def test_written() -> None:
    assert [*map(written_size, (0, 512, 64_000, 4.2e6, 3e9))] == [
        *("0 B", "512 B", "64 kB", "4.2 MB", "3 GB")
    ]
