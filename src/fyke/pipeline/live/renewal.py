"""Subscriptions that change while a stream runs: their files are looked at every now and then."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.live.standing import Standing, state_of
from fyke.pipeline.watching import Watcher

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOKED_EVERY_S: Final = 1.0


@dataclass(slots=True)
class Renewal:
    """Makes a new version when the files of subscriptions have changed."""

    pipeline: Pipeline
    standing: Standing
    watcher: Watcher
    _looked: float = 0.0
    _seen: str | None = None
    _tried: str | None = None

    def look(self, session: SparkSession) -> None:
        from pyspark.errors import PySparkException

        if time.monotonic() - self._looked < _LOOKED_EVERY_S:
            return
        self._looked = time.monotonic()
        state, before = state_of(self.pipeline), self._seen
        self._seen = state
        current = self.standing.current()
        is_known = state == self._tried or (current is not None and state == current.state)
        if is_known or state != before:  # files that change are left until they hold still
            return
        self._tried = state
        try:
            made = self.standing.renew(session, self.pipeline, state)
        except (FykeError, PySparkException) as refused:
            reason = str(refused).splitlines()[0]
            self.watcher.note(f"the subscriptions have changed, but the old ones stay: {reason}")
            return
        self.watcher.note(
            f"version {made.version} of the subscriptions: {made.subscriptions:,}, "
            f"{made.refused:,} refused"
        )
