"""What a power cut leaves of a folder: the bytes that were synced, under the names that were.

The strictest disk that is allowed: a file has the bytes of its last sync, or none; a folder has the
names of its last sync, each leading where it led then. So a file that was written and synced is
not there before its folder was synced, too. Only what was removed since may be gone already.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest


class Synced:
    """Watches a folder; what lies in it in the beginning is on the disk."""

    def __init__(self, folder: Path, aside: Path) -> None:
        self.folder = folder
        self.before_each: Callable[[], None] = lambda: None
        """Called before each sync: the moments at which something else is on the disk after."""
        self._aside = aside
        self._numbers = count()
        self._held: list[int] = []
        """Open, so that the number of a file that is gone is not given to another."""
        self._bytes: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        for place in self._everything():
            self._note(place)

    @contextmanager
    def watching(self) -> Iterator[Synced]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", self._fsync)
            yield self
        for handle in self._held:
            os.close(handle)

    def left(self, *, is_removed: bool = False) -> Path:
        """The folder as it would be now after a power cut: a copy elsewhere.

        `is_removed`: what was removed since the last sync is gone.
        """
        copy = self._aside / str(next(self._numbers))
        now = {place.stat().st_ino: set(os.listdir(place)) for place in self._everything(True)}
        self._restore(os.stat(self.folder).st_ino, copy, now if is_removed else None)
        return copy

    def possible(self) -> list[Path]:
        """What may be there after a power cut, and after a mere crash: copies."""
        whole = self._aside / str(next(self._numbers))
        shutil.copytree(self.folder, whole)
        return [self.left(), self.left(is_removed=True), whole]

    def _fsync(self, handle: int) -> None:
        wanted = os.fstat(handle).st_ino
        for place in self._everything():
            if place.stat().st_ino == wanted:
                self.before_each()
                self._note(place)

    def _everything(self, folders_only: bool = False) -> list[Path]:
        found = [self.folder, *self.folder.rglob("*")]
        return [each for each in found if each.is_dir()] if folders_only else found

    def _note(self, place: Path) -> None:
        number = self._number(place)
        if place.is_dir():
            self._names[number] = {each.name: self._number(each) for each in place.iterdir()}
        else:
            self._bytes[number] = place.read_bytes()

    def _number(self, place: Path) -> int:
        handle = os.open(place, os.O_RDONLY)
        self._held.append(handle)
        facts = os.fstat(handle)
        if stat.S_ISDIR(facts.st_mode):
            self._names.setdefault(facts.st_ino, {})
        return facts.st_ino

    def _restore(self, number: int, place: Path, now: dict[int, set[str]] | None) -> None:
        if number not in self._names:
            place.write_bytes(self._bytes.get(number, b""))
            return
        place.mkdir(parents=True)
        for name, each in self._names[number].items():
            if now is None or name in now.get(number, ()):
                self._restore(each, place / name, now)
