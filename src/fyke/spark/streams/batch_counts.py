"""The counts of a stream: what its batches brought so far, as a file in the checkpoint.

A batch that is repeated after a crash counts once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from fyke.errors import FykeError, shown
from fyke.spark.versions import places


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """The counts of one batch."""

    matches: int
    errors: int


@dataclass(frozen=True, slots=True)
class MatchTotals:
    """All batches up to `batch`; `version` is the one that this batch saw."""

    batch: int = -1
    version: int = 0
    matches: int = 0
    errors: int = 0

    def add(self, batch: int, version: int, counts: MatchCounts) -> MatchTotals:
        if batch <= self.batch:
            return self
        return replace(
            self,
            batch=batch,
            version=version,
            matches=self.matches + counts.matches,
            errors=self.errors + counts.errors,
        )


def load(path: str) -> MatchTotals:
    """Return the totals in a file; without one, those of a stream that has not begun."""
    try:
        text = places.read(path)
        if text is None:
            return MatchTotals()
        facts = json.loads(text)
        return MatchTotals(**{name: int(facts[name]) for name in asdict(MatchTotals())})
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FykeError(f"the counts {places.told(path)} cannot be read: {shown(error)}") from None


def store(path: str, totals: MatchTotals) -> None:
    places.write(path, json.dumps(asdict(totals), indent=1))
