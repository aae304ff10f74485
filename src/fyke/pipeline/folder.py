"""The folder of results: what a run writes, and nothing else.

pipeline.json             marks the folder as ours
events/                   generated events, Parquet
subscriptions/            the subscriptions that are used, Parquet
compiled/                 the same for matching, mapped by workers
journal/                  what matching wrote: docs/pipeline.md
notifications.parquet/    notifications.ndjson/
refused-events.ndjson/    refused-subscriptions.ndjson/, where there were any
statistics.parquet/       matches of each subscription
summary.json, report.html
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fyke.errors import FykeError

_MARK: Final = "pipeline.json"
_NAMES: Final = (
    *("events", "subscriptions", "compiled", "journal", "statistics.parquet", "summary.json"),
    *("notifications.parquet", "notifications.ndjson", "report.html"),
    *("refused-events.ndjson", "refused-subscriptions.ndjson"),
)


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a run."""

    path: Path

    @classmethod
    def begin(cls, path: Path, description: dict[str, Any]) -> Folder:
        """A folder without results; those of an earlier run are removed, other files never."""
        try:
            if path.exists() and not _may_be_used(path):
                raise FykeError(
                    f"{path} exists and holds no results of a pipeline; nothing was written. "
                    "--out names another folder"
                )
            path.mkdir(parents=True, exist_ok=True)
            for name in _NAMES:
                _remove(path / name)
            (path / _MARK).write_text(json.dumps(description, indent=1) + "\n", "utf-8")
        except OSError as refused:
            raise FykeError(f"{path}: {refused.strerror or refused}") from None
        return cls(path)

    def at(self, name: str) -> str:
        """The path of one of the results."""
        assert name in _NAMES, name
        return str(self.path / name)

    def write(self, name: str, text: str) -> None:
        try:
            Path(self.at(name)).write_text(text, "utf-8")
        except OSError as refused:
            raise FykeError(f"{self.path}: {refused.strerror or refused}") from None

    def names(self) -> list[str]:
        """What was written."""
        return [name for name in _NAMES if (self.path / name).exists()]


def _may_be_used(path: Path) -> bool:
    return path.is_dir() and ((path / _MARK).exists() or not any(path.iterdir()))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
