"""Versions: the newest one that is published is the current one, whatever happens in between."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import FykeError, Matcher
from fyke.spark.versions import versions
from fyke.spark.versions.versions import Version
from tests.synced import Synced


def begun(path: Path) -> Version:
    """A version that is as good as done, without anything in it."""
    number, folder = versions.begin(path)
    assert folder == path / f"version-{number:06}"
    return Version(str(path), number, (), number, 0)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["begin", "publish", "publish", "give up", "drop"]), max_size=20),
       st.randoms(use_true_random=False))  # fmt: skip
def test_the_newest_published_one_is_current(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], draw: Any
) -> None:
    path = tmp_path_factory.mktemp("work") / "versions"
    open: list[Version] = []
    published: set[int] = set()
    numbers: list[int] = []
    for step in ["begin", *steps]:
        if step == "begin":
            open.append(begun(path))
            numbers.append(open[-1].number)
        elif step == "publish" and open:
            made = open.pop(draw.randrange(len(open)))
            versions.publish(made)
            published.add(made.number)
        elif step == "give up" and open:
            open.pop(draw.randrange(len(open)))
        elif step == "drop" and len(published) > 1:
            gone = draw.choice(sorted(published - {max(published)}))
            versions.drop(path, gone)
            published.discard(gone)
        assert versions.numbers(path) == sorted(published)
        if published:
            assert versions.current(path).number == max(published)
            with pytest.raises(FykeError, match="is the current one"):
                versions.drop(path, max(published))
        else:
            with pytest.raises(FykeError, match="holds no compiled"):
                versions.current(path)
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(versions.version(path, each).subscriptions == each for each in published)


@pytest.mark.parametrize("moment", range(4))
def test_another_is_published_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """By another process: at any moment of the one, the other one is published as a whole."""
    older, newer = begun(tmp_path), begun(tmp_path)
    write, calls = versions.write_whole, itertools.count()

    def meanwhile(path: Path, text: str) -> None:
        if next(calls) == moment:
            versions.publish(newer)
        write(path, text)

    monkeypatch.setattr(versions, "write_whole", meanwhile)
    versions.publish(older)
    if newer.number in versions.numbers(tmp_path):
        assert versions.current(tmp_path) == newer
    else:
        assert versions.current(tmp_path) == older and moment > 1


def test_a_version_is_there_for_good(synced: Synced) -> None:
    """And before it is current, nobody sees it."""
    path = synced.folder / "new" / "versions"
    matcher = Matcher()
    matcher.add("one", "a = 1")
    versions.add(path, matcher)
    matcher.add("two", "a = 1")

    def check() -> None:
        for copy in synced.possible():
            found = versions.current(copy / "new" / "versions")
            shard = Matcher.open(found.folder / found.shards[0])
            assert len(shard) == found.number == found.subscriptions

    synced.before_each = check
    versions.add(path, matcher)
    check()
    assert versions.current(synced.left() / "new" / "versions").number == 2


def test_what_is_no_folder_of_versions(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(FykeError, match="nothing was written"):
        versions.begin(tmp_path / "mine")
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    versions.publish(begun(tmp_path / "work"))
    (tmp_path / "work" / "version-000001" / "facts.json").write_text("{}")
    with pytest.raises(FykeError, match=r"version 1 in .* cannot be read"):
        versions.current(tmp_path / "work")
