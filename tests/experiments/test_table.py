"""Tables: questions to rows."""

from __future__ import annotations

import pytest

from fyke.errors import FykeError
from fyke.experiments.table import Table

ROWS = Table.of(
    [
        {"s": "PF", "x": 2, "y": 0.5},
        {"s": "PF", "x": 1, "y": 1.0},
        {"s": "EF \U0001f600", "x": 1, "y": -0.0, "more": None},
    ]
)


def test_questions():
    assert ROWS.where(s="PF").curve("x", "y") == [1.0, 0.5]
    assert ROWS.where(x=(1, 3)).column("s") == ["PF", "EF \U0001f600"]
    assert ROWS.one("y", s="PF", x=2) == 0.5
    assert ROWS.values("x") == [1, 2]
    assert ROWS.names() == ["s", "x", "y", "more"]


def test_nothing_is_said_about_no_rows():
    with pytest.raises(FykeError, match="no rows"):
        ROWS.where(s="RN").column("y")
    for found in ({"x": 1}, {"x": 9}):
        with pytest.raises(FykeError, match="expected one"):
            ROWS.one("y", **found)


def test_csv(tmp_path):
    ROWS.write(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_bytes().decode()
    assert text == "s,x,y,more\nPF,2,0.5,\nPF,1,1.0,\nEF \U0001f600,1,-0.0,\n"
    Table().write(tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text() == "\n"
