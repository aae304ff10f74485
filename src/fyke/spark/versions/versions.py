"""Versions: a folder of compiled subscriptions, in one state after the other.

    CURRENT                 the number of the newest version
    version-000002/         does not change any more
        facts.json          what is in it
        shard-00000/ ...    matchers' snapshots, each subscription in one of them
        layout/part-00000/  the same subscriptions as a placement wants them, if one was named
        report/             what was refused and why, as Parquet

A version counts from the moment CURRENT names it, which is one step; until then, and if the work on
it fails, nobody sees it. Old versions stay until they are dropped: a query that runs may need them.

Elsewhere than on a disk (`places`) a version is a copy of one that was made here, in a folder with
a random name, `version-000002-5f0c12ab`. Its facts.json comes last, and makes it count; there is no
CURRENT, because nothing there can be replaced on a condition: the newest version that is complete
is the current one.
Two that publish at once get two numbers. Each writes a claim into its folder first and lists the
place afterwards; who finds another claim to its number gives it up, and tries again.
Why that is enough: if both kept a number, each has listed before the other one's claim was there,
and after its own. Such places list what was written at once, so that cannot be.
"""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.durable import make_folder, write_whole
from fyke.errors import FykeError, shown
from fyke.spark.versions.places import Place, absolute, is_address, joined, told
from fyke.spark.versions.snapshots import Layout, Pin, part_name
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fyke.matching.matcher import Matcher

_CURRENT: Final = "CURRENT"
_FACTS: Final = "facts.json"
_REPORT: Final = "report"
LAYOUT: Final = "layout"
_SHARD: Final = "shard-00000"
_NAME: Final = re.compile(r"version-(\d{6,})", re.ASCII)
_KEPT: Final = re.compile(r"version-(\d{6,})-[0-9a-f]{8}", re.ASCII)
_CLAIM: Final = "claim"
_MANIFEST: Final = "manifest.json"
_CLAIMS_MAX: Final = 100
_PAUSE_S: Final = 0.2
"""A process that gave up a number waits about this long before it tries again."""


@dataclass(frozen=True, slots=True)
class Version:
    """A state of compiled subscriptions."""

    path: str
    number: int
    shards: tuple[str, ...]
    subscriptions: int
    refused: int
    placement: str | None = None
    """The placement that the subscriptions are laid out for."""
    on: str | None = None
    parts: int = 0
    """Of the layout; none where the shards are the layout."""
    token: str = ""
    """Elsewhere than on a disk: what the name of the folder ends with."""

    @property
    def folder(self) -> Path:
        """Return the folder of a version on a disk."""
        return version_folder(Path(self.path), self.number)

    def pin(self) -> Pin:
        plain = Pin.of(self._at(shard) for shard in self.shards)
        if self.placement is None:
            return plain
        names = [f"{LAYOUT}/{part_name(at)}" for at in range(self.parts)]
        parts = Pin.of(map(self._at, names)).parts or plain.parts
        return Pin(plain.parts, Layout(self.placement, self.on, parts))

    def _at(self, name: str) -> str:
        if is_address(self.path):
            return joined(self.path, _folder_name(self), name)
        return str(self.folder / name)

    def errors(self, session: SparkSession) -> DataFrame:
        """Return what was refused: id, filter, dialect and the reason."""
        from fyke.spark.shipping.refusals import refusals

        if is_address(self.path):
            report = Place.of(self.path).table(f"{_folder_name(self)}/{_REPORT}")
            return session.createDataFrame(report)
        return refusals(self.folder / _REPORT, session).where("reason is not null")


def report_folder(folder: Path) -> Path:
    return folder / _REPORT


def version_folder(path: Path, number: int) -> Path:
    return path / f"version-{number:06}"


def pin(path: str) -> Pin:
    """Return the newest version in a folder, or the snapshot that a matcher saved there."""
    path = absolute(path)
    return Pin.of([path]) if is_snapshot(path) else current(path).pin()


def is_snapshot(path: str) -> bool:
    """Return True if a matcher was saved there."""
    if is_address(path):
        return Place.of(path).read(_MANIFEST) is not None
    return (Path(path) / _MANIFEST).exists()


def current(path: str | Path) -> Version:
    """Return the newest version in a folder."""
    number = _newest(str(path)) if is_address(path) else _named(path)
    if number is None:
        raise FykeError(
            f"{told(str(path))} holds no compiled subscriptions; make some with "
            "fyke.spark.compile, or save a Matcher there"
        )
    return version(path, number)


def version(path: str | Path, number: int) -> Version:
    """Return one of the versions in a folder."""
    try:
        facts = json.loads(_facts(path, number))
        return Version(
            path=str(path),
            number=int(facts["number"]),
            shards=tuple(map(str, facts["shards"])),
            subscriptions=int(facts["subscriptions"]),
            refused=int(facts["refused"]),
            placement=facts.get("placement"),
            on=facts.get("on"),
            parts=int(facts.get("parts", 0)),
            token=str(facts.get("token", "")),
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        where = told(str(path))
        raise FykeError(f"version {number} in {where} cannot be read: {shown(error)}") from None


def numbers(path: str | Path) -> list[int]:
    """Return the numbers of the versions in a folder that are complete, oldest first."""
    if is_address(path):
        place = Place.of(str(path))
        return sorted({found for found, name in _kept(place) if _facts_in(place, name)})
    return [number for number in _started(Path(path)) if _is_complete(Path(path), number)]


def begin(path: str | Path) -> tuple[int, Path]:
    """Return the number and the folder of a new version; nobody else has got them."""
    root = Path(path)
    if root.exists() and not (root.is_dir() and _is_ours(root)):
        raise FykeError(f"{path} exists and holds no compiled subscriptions; nothing was written")
    make_folder(root)
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
    """Publish the subscriptions of a matcher as a new version; Spark is not needed for it."""
    if is_address(path):
        with claimed(str(path)) as claim:
            return send(add(Path(temporary_folder()) / "versions", matcher), str(path), claim)
    number, folder = begin(path)
    matcher.save(folder / _SHARD)
    made = Version(str(path), number, (_SHARD,), len(matcher), 0)
    publish(made)
    return made


def publish(made: Version) -> None:
    """Make a version the current one, if no newer one is; others may publish at the same time."""
    root = Path(made.path)
    facts = asdict(made)
    del facts["path"]
    write_whole(made.folder / _FACTS, json.dumps(facts, indent=1))
    while (newest := max(numbers(root))) != _named(root):
        write_whole(root / _CURRENT, str(newest))


def send(made: Version, address: str, claim: Claim) -> Version:
    """Publish a version of this machine once more, in a place by URI; facts.json comes last."""
    place = Place.of(address)
    sent = replace(made, path=address, number=claim.number, token=claim.token)
    name = claim.name
    for part in sorted(made.folder.iterdir()):
        if part.is_dir():
            place.put(part, f"{name}/{part.name}")
    facts = asdict(sent)
    del facts["path"]
    place.write(f"{name}/{_FACTS}", json.dumps(facts, indent=1))
    return sent


@dataclass(frozen=True, slots=True)
class Claim:
    """The number of a version in a place by URI, and what else is in the name of its folder."""

    number: int
    token: str

    @property
    def name(self) -> str:
        return f"version-{self.number:06}-{self.token}"


@contextmanager
def claimed(address: str) -> Iterator[Claim]:
    """Claim a number in a place by URI before a version is made; it is given up if that fails.

    FykeError if the place holds anything else than versions, or cannot be written.
    """
    place = Place.of(address)
    _check_place(place)
    claim = claim_number(place)
    try:
        yield claim
    except BaseException:
        with suppress(FykeError):
            place.remove(claim.name)
        raise


def claim_number(place: Place) -> Claim:
    """Claim a number that nobody else has got."""
    for attempt in range(_CLAIMS_MAX):
        number = max((found for found, _ in _kept(place)), default=0) + 1
        claim = Claim(number, secrets.token_hex(4))
        place.write(f"{claim.name}/{_CLAIM}", "")
        if [name for found, name in _kept(place) if found == number] == [claim.name]:
            return claim
        place.remove(claim.name)
        time.sleep(random.uniform(0, _PAUSE_S * (1 + attempt)))
    raise FykeError(f"too many publish versions to {told(place.address)} at once; try again")


def _check_place(place: Place) -> None:
    for name in place.names():
        if not _KEPT.fullmatch(name) and name != _CURRENT:
            raise FykeError(
                f"{told(place.address)} exists and holds no compiled subscriptions; nothing was "
                "written"
            )


def drop(path: str | Path, number: int) -> None:
    """Remove an old version; whoever has it mapped keeps it."""
    if number == current(path).number:
        raise FykeError(f"version {number} in {told(str(path))} is the current one")
    if is_address(path):
        place = Place.of(str(path))
        for found, name in _kept(place):
            if found == number:
                place.remove(f"{name}/{_FACTS}")
                place.remove(name)
        return
    shutil.rmtree(version_folder(Path(path), number), ignore_errors=True)


def _named(root: str | Path) -> int | None:
    """Return the number that CURRENT has."""
    try:
        return int((Path(root) / _CURRENT).read_text())
    except (OSError, ValueError):
        return None


def _newest(address: str) -> int | None:
    """Return the number of the newest version in a place by URI that is complete."""
    place = Place.of(address)
    kept = sorted(_kept(place), reverse=True)
    return next((number for number, name in kept if _facts_in(place, name)), None)


def _facts(path: str | Path, number: int) -> str:
    """Return what the file of a version says; OSError or ValueError if there is none."""
    if not is_address(path):
        return (version_folder(Path(path), number) / _FACTS).read_text()
    place = Place.of(str(path))
    found = (_facts_in(place, name) for at, name in _kept(place) if at == number)
    whole = next(filter(None, found), None)
    if whole is None:
        raise ValueError(f"{_FACTS} is not there")
    return whole


def _facts_in(place: Place, name: str) -> str | None:
    """Return what the file of a version says, once all of it is there: some places show a part."""
    text = place.read(f"{name}/{_FACTS}")
    try:
        return text if isinstance(json.loads(text or ""), dict) else None
    except ValueError:
        return None


def _kept(place: Place) -> list[tuple[int, str]]:
    """Return the versions in a place by URI, complete or not: number and name."""
    return [(int(found[1]), found[0]) for found in map(_KEPT.fullmatch, place.names()) if found]


def _folder_name(made: Version) -> str:
    """Return the name of a version's folder in a place by URI."""
    return Claim(made.number, made.token).name


def _is_ours(root: Path) -> bool:
    return all(_NAME.fullmatch(name) or name.startswith(_CURRENT) for name in os.listdir(root))


def _started(root: Path) -> Iterator[int]:
    names = sorted(os.listdir(root)) if root.is_dir() else []
    return (int(found[1]) for found in map(_NAME.fullmatch, names) if found)


def _is_complete(root: Path, number: int) -> bool:
    return (version_folder(root, number) / _FACTS).exists()
