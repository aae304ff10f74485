"""Snapshots for workers: which folders, in which state; opened once per process.

A *pin* names the snapshots that hold a set of subscriptions and the state each was in when the
driver looked. Workers map them by path and keep them open from task to task. A snapshot that is not
in the pinned state any more is refused: one answer never mixes two states.

A path with a scheme (`file:`, `hdfs:`, `s3:`) is not mapped where it lies but copied once to a
folder of the host, verified, and mapped there. A path that only the driver sees is sent
(`shipping`).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from fyke.errors import FykeError
from fyke.events.schema import Schema
from fyke.matching.catalog import Catalog
from fyke.matching.matcher import Matcher
from fyke.matching.snapshot import facts, identity, load
from fyke.matching.subscription_set import schema_in
from fyke.spark.placements.memory import enough_memory
from fyke.spark.shipping.attempts import attempting
from fyke.spark.shipping.kernels import take_kernels
from fyke.spark.shipping.shipping import copies_folder, seen
from fyke.spark.versions.places import Place, is_address, told

OPEN_MAX: Final = 8
"""Snapshots that a worker keeps open."""


@dataclass(frozen=True, slots=True)
class Part:
    """A matcher's snapshot, in one state."""

    path: str
    identity: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The same subscriptions once more, filed as a placement wants them."""

    placement: str
    on: str | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """The snapshots that together hold all subscriptions, each of them in one."""

    parts: tuple[Part, ...]
    layout: Layout | None = None
    place: str | None = field(default=None, compare=False)
    """A folder that all workers see, where the snapshots lie and what is made of them may."""

    @classmethod
    def of(cls, paths: Iterable[str], place: str | None = None) -> Pin:
        parts = (Part(path, identity(local(path))) for path in paths)
        return cls(tuple(parts), place=place)

    def schema(self) -> Schema | None:
        """Return the schema of the subscriptions, which says how events are read."""
        for part in self.parts:
            return schema_in(facts(local(part.path, part.identity)))
        return None

    def matchers(self) -> list[Matcher]:
        """In a worker: return the matchers of all parts."""
        return [opened(part) for part in self.parts]


def part_folders(folder: Path, count: int) -> list[Path]:
    """Return the folders of the parts of a layout."""
    return [folder / part_name(at) for at in range(count)]


def part_name(at: int) -> str:
    return f"part-{at:05}"


_open: OrderedDict[Part, Matcher] = OrderedDict()


def opened(part: Part) -> Matcher:
    """Return the matcher of a part; this process opens it once."""
    matcher = _open.get(part)
    if matcher is None:
        matcher = mapped(part)
        _open[part] = matcher
        while len(_open) > OPEN_MAX:
            _open.popitem(last=False)
    _open.move_to_end(part)
    return matcher


def opened_only(*parts: Part) -> list[Matcher]:
    """Return the matchers of some parts; close all others, so that memory is enough."""
    for other in [each for each in _open if each not in parts]:
        del _open[other]
    return [opened(part) for part in parts]


def mapped(part: Part) -> Matcher:
    """Return the matcher of a part, read and verified now; wait for kernels if they are missing."""
    folder = local(part.path, part.identity)
    take_kernels()
    with enough_memory(f"to map {told(part.path)}"):
        matcher = Matcher.open(folder)
    _check_state(part, folder)
    return matcher


def catalog(part: Part) -> Catalog:
    """Return the ids and filters of a part; who only reads them needs no kernels."""
    folder = local(part.path, part.identity)
    found = Catalog.of(load(folder)[1])
    _check_state(part, folder)
    return found


def _check_state(part: Part, folder: Path) -> None:
    if identity(folder) != part.identity:
        raise FykeError(
            f"the snapshot {part.path} was replaced while it was in use; compile to a new version "
            "with fyke.spark.compile, which keeps the old one"
        )


# --- snapshots elsewhere -------------------------------------------------------------------------


def local(path: str, state: str | None = None) -> Path:
    """Return where a snapshot can be mapped: its path, or a copy on this host."""
    if is_address(path):
        return _copied(path, state)
    return Path(path) if state is None else seen(path, state)


def _copied(address: str, state: str | None) -> Path:
    """Return a copy of a snapshot in the state that is wanted; the first process makes it."""
    root = copies_folder()
    if state is not None and (root / state).exists():
        return root / state
    place = Place.of(address)
    text = place.read("manifest.json")
    if text is None:
        raise FykeError(f"{told(address)} is no snapshot: there is no manifest.json")
    found = sha256(text.encode()).hexdigest()
    if state is not None and found != state:
        raise FykeError(f"the snapshot {told(address)} was replaced while it was in use")
    folder = root / found
    try:
        if not folder.exists():
            _copy(place.files, place.root, folder)
    except (OSError, ValueError) as error:
        raise FykeError(f"the snapshot {told(address)} cannot be copied: {error}") from None
    return folder


def _copy(files: object, path: str, folder: Path) -> None:
    """Copy a snapshot whole or not at all; of two processes that copy at once one wins."""
    from pyarrow import fs

    with attempting(folder.parent) as attempt:
        staging = folder.with_name(f"{attempt}-{folder.name}")
        fs.copy_files(path, str(staging), source_filesystem=files)
        try:
            os.replace(staging, folder)
        except OSError:
            if not folder.exists():
                raise
