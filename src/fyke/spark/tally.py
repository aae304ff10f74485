"""The tally of a stream: what its batches brought so far, as a file beside the checkpoint.

A batch that is repeated after a crash counts once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fyke.durable import write_whole
from fyke.errors import FykeError, shown


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of a batch."""

    matches: int
    errors: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All batches up to `batch`; `version` is the one that this batch saw."""

    batch: int = -1
    version: int = 0
    matches: int = 0
    errors: int = 0

    def add(self, batch: int, version: int, counts: Counts) -> Tally:
        if batch <= self.batch:
            return self
        return replace(
            self,
            batch=batch,
            version=version,
            matches=self.matches + counts.matches,
            errors=self.errors + counts.errors,
        )


def load(path: Path) -> Tally:
    """The tally in a file; without one, that of a stream that has not begun."""
    try:
        facts = json.loads(path.read_text("utf-8"))
        return Tally(**{name: int(facts[name]) for name in asdict(Tally())})
    except FileNotFoundError:
        return Tally()
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FykeError(f"the tally {path} cannot be read: {shown(error)}") from None


def store(path: Path, tally: Tally) -> None:
    write_whole(path, json.dumps(asdict(tally), indent=1))
