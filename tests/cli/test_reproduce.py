"""`fyke reproduce`: what cannot be carried out is said before anything runs."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["sum"], "unknown paper 'sum'; expected das"),
        ([""], "unknown paper ''"),
        (["das", "--figure", "11"], "das has no figure '11'; expected one of stability, 4, 7, 8"),
        (["das", "--figure", "1\n3"], "das has no figure"),
        (["das", "--scale", "huge"], "unknown scale 'huge'; expected small or paper"),
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
