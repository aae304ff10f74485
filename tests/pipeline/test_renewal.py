"""Files of subscriptions that change: a version is made of what holds still, once, and in time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.pipeline.configuration import Pipeline, parse
from fyke.pipeline.live import renewal
from fyke.pipeline.live.renewal import Renewal
from fyke.pipeline.live.standing import Current, state_of

TEXT = """
[events]
workload = "auction"
rate = 10
[subscriptions]
format = "json"
path = "subscriptions"
"""
LOOK_S = 1.0


@dataclass
class Versions:
    """Stands for `Standing`: notes of which states versions were asked for, and when."""

    clock: Clock
    pipeline: Pipeline
    refused: set[str] = field(default_factory=set)
    asked: list[tuple[float, str]] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def current(self) -> Current | None:
        return Current(len(self.made), 1, 0, self.made[-1]) if self.made else None

    def renew(self, session: object, pipeline: Pipeline, state: str) -> Current:
        assert state == state_of(self.pipeline)
        assert state not in self.made[-1:], "nothing has changed"
        self.asked.append((self.clock.now, state))
        if state in self.refused:
            raise FykeError("the file is no JSON\nat line 3")
        self.made.append(state)
        return Current(len(self.made), 1, 0, state)


@dataclass
class Clock:
    now: float = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def reached() -> Iterator[Counter[str]]:
    counts: Counter[str] = Counter()
    yield counts
    assert min(counts[what] for what in ("made", "refused", "grew meanwhile")) >= 30, counts


def write(folder: Path, name: int, size: int, clock: Clock) -> None:
    path = folder / "subscriptions" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("x" * size)
    os.utime(path, (clock.now, clock.now))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.05, 0.3, 0.6, 1.1, 2.5]),  # the pause before
            st.sampled_from(["grow", "edit", "another file", "remove", "break", "nothing"]),
        ),
        max_size=15,
    )
)
def test_versions_are_made_of_files_that_hold_still(
    tmp_path_factory: pytest.TempPathFactory,
    reached: Counter[str],
    steps: list[tuple[float, str]],
) -> None:
    folder, clock, notes = tmp_path_factory.mktemp("work"), Clock(), []
    pipeline = parse(TEXT, "pipeline.toml", folder)
    write(folder, 0, 1, clock)
    versions = Versions(clock, pipeline)
    versions.made.append(state_of(pipeline))
    watcher: Any = type("Notes", (), {"note": staticmethod(notes.append)})
    renewing = Renewal(pipeline, versions, watcher)  # type: ignore[arg-type]
    changed_at, size, states = clock.now, 1, [state_of(pipeline)]

    def wait(seconds: float) -> None:
        """Looks go on all the time, oftener than they need to."""
        for _ in range(round(seconds / 0.05)):
            clock.now += 0.05
            asked = len(versions.asked)
            renewing.look(None)  # type: ignore[arg-type]
            if len(versions.asked) > asked:
                assert clock.now - changed_at >= LOOK_S - 1e-6, "it was being written"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renewal, "time", clock)
        for pause, what in steps:
            wait(pause)
            if what != "nothing":
                reached["grew meanwhile"] += clock.now - changed_at < LOOK_S
                size, changed_at = size + (what != "edit"), clock.now
                write(folder, 0 if what in ("grow", "edit", "break") else size, size, clock)
                if what == "remove":
                    (folder / "subscriptions" / "0.json").unlink(missing_ok=True)
                states.append(state_of(pipeline))
                if what == "break":
                    versions.refused.add(states[-1])
        wait(2 * LOOK_S + 0.1)
    last = state_of(pipeline)
    tried = [state for _, state in versions.asked]
    assert len(set(tried)) == len(tried), "a state is tried once"
    assert versions.made[-1] == last or last in versions.refused
    assert last in (*tried, versions.made[0])
    assert len(notes) == len(tried)
    assert all(("stay: the file is no JSON" in note) == (state in versions.refused)
               for note, state in zip(notes, tried, strict=True))  # fmt: skip
    reached["made"] += bool(versions.made[1:])
    reached["refused"] += bool(versions.refused & set(tried))


def test_files_that_change_back(tmp_path: Path) -> None:
    clock = Clock()
    pipeline = parse(TEXT, "pipeline.toml", tmp_path)
    versions = Versions(clock, pipeline)
    watcher: Any = type("Silent", (), {"note": staticmethod(lambda sentence: None)})
    renewing = Renewal(pipeline, versions, watcher)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renewal, "time", clock)
        for size in (1, 2, 1, 2):
            write(tmp_path, 0, size, Clock())
            for _ in range(4):
                clock.now += LOOK_S
                renewing.look(None)  # type: ignore[arg-type]
    one, two = versions.made[:2]
    assert versions.made == [one, two, one, two] and one != two


def test_another_schema_makes_another_version(tmp_path: Path) -> None:
    timed = "[schema]\ntimestamps = [{}]\n"
    texts = (TEXT, TEXT + timed.format('"at"'), TEXT + timed.format('"at", "since"'))
    states = [state_of(parse(text, "pipeline.toml", tmp_path)) for text in texts]
    assert len({*states}) == 3
    assert states == [state_of(parse(text, "pipeline.toml", tmp_path)) for text in texts]
