"""Versions: a folder of compiled subscriptions, in one state after the other.

    CURRENT                 the number of the newest version
    version-000002/         does not change any more
        facts.json          what is in it
        shard-00000/ ...    matchers' snapshots, each subscription in one of them
        layout/part-00000/  the same subscriptions as a placement wants them, if one was named
        report/             what was refused and why, as Parquet

A version counts from the moment CURRENT names it, which is one step; until then, and if the work on
it fails, nobody sees it. Old versions stay until they are dropped: a query that runs may need them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError, shown
from fyke.spark.durable import write_whole
from fyke.spark.snapshots import Layout, Pin, part_folders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fyke.matching.matcher import Matcher

_CURRENT: Final = "CURRENT"
_FACTS: Final = "facts.json"
_REPORT: Final = "report"
LAYOUT: Final = "layout"
_SHARD: Final = "shard-00000"
_NAME: Final = re.compile(r"version-(\d{6,})", re.ASCII)
_MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Version:
    """A state of compiled subscriptions."""

    path: str
    number: int
    shards: tuple[str, ...]
    subscriptions: int
    refused: int
    placement: str | None = None
    """What the subscriptions are laid out for."""
    on: str | None = None
    parts: int = 0
    """Of the layout; none where the shards are the layout."""

    @property
    def folder(self) -> Path:
        return version_folder(Path(self.path), self.number)

    def pin(self) -> Pin:
        plain = Pin.of(str(self.folder / shard) for shard in self.shards)
        if self.placement is None:
            return plain
        folders = part_folders(self.folder / LAYOUT, self.parts)
        parts = Pin.of(map(str, folders)).parts or plain.parts
        return Pin(plain.parts, Layout(self.placement, self.on, parts))

    def errors(self, session: SparkSession) -> DataFrame:
        """What was refused: id, filter, dialect and the reason."""
        report = session.read.parquet(str(self.folder / _REPORT))
        return report.where("reason is not null").select("id", "filter", "dialect", "reason")


def report_folder(folder: Path) -> Path:
    return folder / _REPORT


def version_folder(path: Path, number: int) -> Path:
    return path / f"version-{number:06}"


def pin(path: str) -> Pin:
    """The newest version in a folder, or the snapshot that a matcher saved there."""
    return Pin.of([path]) if is_snapshot(path) else current(path).pin()


def is_snapshot(path: str) -> bool:
    """Whether a matcher was saved there; elsewhere than on a disk, that is all there can be."""
    return "://" in path or (Path(path) / _MANIFEST).exists()


def current(path: str | Path) -> Version:
    """The newest version in a folder."""
    folder = Path(path)
    try:
        number = int((folder / _CURRENT).read_text())
    except (OSError, ValueError):
        raise FykeError(
            f"{path} holds no compiled subscriptions; make some with fyke.spark.compile, or save a "
            "Matcher there"
        ) from None
    return version(folder, number)


def version(path: str | Path, number: int) -> Version:
    """One of the versions in a folder."""
    try:
        facts = json.loads((version_folder(Path(path), number) / _FACTS).read_text())
        return Version(
            path=str(path),
            number=int(facts["number"]),
            shards=tuple(map(str, facts["shards"])),
            subscriptions=int(facts["subscriptions"]),
            refused=int(facts["refused"]),
            placement=facts.get("placement"),
            on=facts.get("on"),
            parts=int(facts.get("parts", 0)),
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FykeError(f"version {number} in {path} cannot be read: {shown(error)}") from None


def numbers(path: str | Path) -> list[int]:
    """The numbers of the versions in a folder that are complete, oldest first."""
    return [number for number in _started(Path(path)) if _is_complete(Path(path), number)]


def begin(path: str | Path) -> tuple[int, Path]:
    """The number and the folder of a new version; nobody else has got them."""
    root = Path(path)
    if root.exists() and not (root.is_dir() and _is_ours(root)):
        raise FykeError(f"{path} exists and holds no compiled subscriptions; nothing was written")
    root.mkdir(parents=True, exist_ok=True)
    number = max(_started(root), default=0)
    while True:
        number += 1
        folder = version_folder(root, number)
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return number, folder


def add(path: str | Path, matcher: Matcher) -> Version:
    """Publishes the subscriptions of a matcher as a new version; Spark is not needed for it."""
    number, folder = begin(path)
    matcher.save(folder / _SHARD)
    made = Version(str(path), number, (_SHARD,), len(matcher), 0)
    publish(made)
    return made


def publish(made: Version) -> None:
    """Makes a version the current one, if no newer one is."""
    root = Path(made.path)
    facts = asdict(made)
    del facts["path"]
    write_whole(made.folder / _FACTS, json.dumps(facts, indent=1))
    if max(numbers(root)) == made.number:
        write_whole(root / _CURRENT, str(made.number))


def drop(path: str | Path, number: int) -> None:
    """Removes an old version; whoever has it mapped keeps it."""
    if number == current(path).number:
        raise FykeError(f"version {number} in {path} is the current one")
    shutil.rmtree(version_folder(Path(path), number), ignore_errors=True)


def _is_ours(root: Path) -> bool:
    return all(_NAME.fullmatch(name) or name.startswith(_CURRENT) for name in os.listdir(root))


def _started(root: Path) -> Iterator[int]:
    names = sorted(os.listdir(root)) if root.is_dir() else []
    return (int(found[1]) for found in map(_NAME.fullmatch, names) if found)


def _is_complete(root: Path, number: int) -> bool:
    return (version_folder(root, number) / _FACTS).exists()
