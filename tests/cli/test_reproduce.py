"""`fyke reproduce`: what cannot be carried out is said before anything runs."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["sum"], "unknown paper 'sum'; expected das"),
        ([""], "unknown paper ''"),
        (
            ["das", "--figure", "11"],
            "das has no figure '11'; expected one of table1, stability, work, 4, 7",
        ),
        (["das", "--figure", "1\n3"], "das has no figure"),
        (["das", "--scale", "huge"], "unknown scale 'huge'; expected one of tiny, small, paper"),
        (["das", "--seed", "-1"], "the seed is -1; expected 0 to 9223372036854775807"),
        (["das", "--seed", "x"], "--seed"),
        (["das", "--events", "0"], "events are 0; expected 1 to 10,000,000"),
        (["das", "--repeats", "0"], "repeats are 0; expected 1 to 1,000"),
        (["das", "--repeats", "1001"], "repeats are 1001; expected 1 to 1,000"),
        (["das", "--out", "taken"], "taken: File exists; expected a folder"),
        (["das", "--out", "taken/below"], "Not a directory; expected a folder"),
        (["das", "--out", "a\0b"], "expected a folder"),
        ([], "Try: fyke reproduce --help"),
        (["das", "more"], "unexpected argument 'more'"),
    ],
)
def test_bad_input(fyke, tmp_path, arguments, problem):
    (tmp_path / "taken").write_text("a file")
    run = fyke("reproduce", *arguments)
    assert run.code == 2 and run.out == ""
    assert problem in run.err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_help_says_what_can_be_chosen(fyke):
    text = fyke("reproduce", "--help").out
    for option in ("--seed", "--events", "--repeats", "--scale", "--figure", "--out"):
        assert option in text
    assert "median" in text and "tiny" in text
