"""Pins: which version a micro-batch is matched against, decided once.

    pins/batch-12.json      the version and the snapshots that batch 12 sees, and when it was begun

The driver writes the file before the batch is worked on; whoever works on it again, after a crash,
finds the file and uses the same version. Spark repeats only its last batch, so that the pins of the
last two are kept, and with them the versions that they name. They lie in a folder, or in a place by
URI, where a driver on another machine finds them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from fyke.errors import FykeError, shown
from fyke.spark.versions import places, versions
from fyke.spark.versions.snapshots import Part, Pin

KEPT: Final = 2
"""Batches of which the pins are kept."""
Fact = TypeVar("Fact")
_NAME: Final = re.compile(r"batch-(\d+)\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pinned:
    """The snapshots that a batch is matched against, and their version where they have one."""

    path: str
    version: int
    pin: Pin

    @classmethod
    def of(cls, version: versions.Version) -> Pinned:
        return cls(version.path, version.number, version.pin())

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Pinned:
        parts = tuple(Part(str(where), str(state)) for where, state in facts["parts"])
        return cls(str(facts["path"]), int(facts["version"]), Pin(parts))

    def facts(self) -> dict[str, Any]:
        parts = [[part.path, part.identity] for part in self.pin.parts]
        return {"path": self.path, "version": self.version, "parts": parts}


@dataclass(frozen=True, slots=True)
class Pins:
    """The pins of a stream."""

    folder: str

    def get(self, batch: int, choose: Callable[[], Pinned]) -> Pinned:
        """Return the batch's pin; if there is none, write down first what `choose` returns."""
        found = self._read(batch, Pinned.read)
        return self.put(batch, choose()) if found is None else found

    def put(self, batch: int, pinned: Pinned) -> Pinned:
        facts = {**pinned.facts(), "begun": time.time()}
        places.write(self.file(batch), json.dumps(facts, indent=1))
        return pinned

    def begun(self, batch: int) -> float | None:
        """Return when the batch was begun, in seconds since 1970; None for one that is new."""
        return self._read(batch, lambda facts: float(facts["begun"]))

    def forget_before(self, batch: int) -> None:
        """Remove the pins that no repetition can ask for once `batch` is being worked on."""
        for number in self._batches():
            if number <= batch - KEPT:
                places.remove(self.file(number))

    def needed(self, path: str) -> set[int]:
        """Return the versions in a folder that pinned batches see."""
        found = [self._read(batch, Pinned.read) for batch in self._batches()]
        return {each.version for each in found if each is not None and each.path == path}

    def file(self, batch: int) -> str:
        """Return the path of a batch's pin."""
        return places.below(self.folder, f"batch-{batch}.json")

    def _batches(self) -> list[int]:
        found = map(_NAME.fullmatch, places.names(self.folder))
        return [int(name[1]) for name in found if name]

    def _read(self, batch: int, look: Callable[[dict[str, Any]], Fact]) -> Fact | None:
        """Return what `look` finds in the file of a batch; None if there is no file."""
        path = self.file(batch)
        try:
            text = places.read(path)
            return None if text is None else look(json.loads(text))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FykeError(f"the pin {places.told(path)} cannot be read: {shown(error)}") from None
