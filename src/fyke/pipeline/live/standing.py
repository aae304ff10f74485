"""The subscriptions of a stream: a version after the other, each with its table.

    subscriptions/_current.json     which version new batches see, and what it was made of
    subscriptions/version=2/        its subscriptions: id, filter, dialect, subscriber
    compiled/                       the versions themselves, for matching

A version counts from the moment that `_current.json` names it: table and matchers are there then.
Files of subscriptions are looked at while the stream runs; when they have changed, and hold still,
a new version is made of them, and the next batch sees it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fyke.durable import make_folder, publish_folder, write_whole
from fyke.errors import FykeError, shown
from fyke.pipeline.compiling import compile_subscriptions
from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.results.folder import Folder
from fyke.pipeline.sources import paths
from fyke.pipeline.sources.origins import Files, Generated, Source
from fyke.spark.streams.step import Following
from fyke.spark.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CURRENT: Final = "_current.json"
_STAGING: Final = "_staging-"


@dataclass(frozen=True, slots=True)
class Current:
    """The version that new batches see; `state` tells what it was made of."""

    version: int
    subscriptions: int
    refused: int
    state: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The places of the subscriptions of a stream, as plain paths for any process."""

    tables: str
    compiled: str
    refusals: str

    @classmethod
    def of(cls, folder: Folder) -> Standing:
        names = ("subscriptions", "compiled", "refused-subscriptions.ndjson")
        return cls(*map(folder.at, names))

    def current(self) -> Current | None:
        file = Path(self.tables) / _CURRENT
        try:
            return Current(**json.loads(file.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError) as error:
            raise FykeError(f"{file} cannot be read: {shown(error)}") from None

    def following(self) -> Following:
        """Return the subscriptions that new batches are matched against."""
        current = self.current()
        assert current is not None
        return Following(self.compiled, current.version, sweeps=True)

    def table(self, version: int) -> str:
        return str(Path(self.tables) / f"version={version}")

    def is_whole(self, version: int) -> bool:
        """Return True if a version can be used."""
        try:
            versions.version(self.compiled, version)
        except FykeError:
            return False
        return Path(self.table(version)).is_dir()

    def renew(self, session: SparkSession, pipeline: Pipeline, state: str) -> Current:
        """Make a new version."""
        root = Path(self.tables)
        make_folder(root)
        for stale in (*root.glob(f"{_STAGING}*"), *Path(self.refusals).glob(f"{_STAGING}*")):
            shutil.rmtree(stale, ignore_errors=True)
        staging = root / f"{_STAGING}{secrets.token_hex(8)}"
        refusals = Path(self.refusals) / staging.name
        made = compile_subscriptions(
            session, pipeline, str(staging / "all"), self.compiled, str(refusals)
        )
        made.standing.write.parquet(str(staging / "used"))
        number = made.version.number
        shutil.rmtree(self.table(number), ignore_errors=True)
        publish_folder(staging / "used", Path(self.table(number)))
        if made.refused:
            refusals.rename(refusals.with_name(f"version={number}"))
        shutil.rmtree(staging)
        current = Current(number, made.version.subscriptions, made.refused, state)
        write_whole(root / _CURRENT, json.dumps(asdict(current), indent=1))
        return current

    def newest(self, session: SparkSession) -> DataFrame:
        """Return every subscription there ever was, as its newest version has it."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        every = session.read.option("mergeSchema", True).parquet(self.tables)
        order = Window.partitionBy("id").orderBy(f.desc("version"))
        ranked = every.withColumn("rank", f.row_number().over(order))
        return ranked.where("rank = 1").drop("rank", "version")


def state_of(pipeline: Pipeline) -> str:
    """Return what a version would be made of now: it changes when the files do."""
    source = pipeline.subscriptions
    schema = pipeline.schema and pipeline.schema.to_document()
    facts: list[Any] = [pipeline.dialect, pipeline.shards, schema, _described(source)]
    path = paths.local(source.path) if isinstance(source, Files) else None
    if path is not None:
        facts += [[file, *_stamp(file)] for file in paths.files(path)]
    return sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _described(source: Source) -> Any:
    if isinstance(source, Generated):
        return [source.workload.description(), source.count]
    return asdict(source)


def _stamp(file: str) -> tuple[int, int]:
    try:
        facts = os.stat(file)
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_size
