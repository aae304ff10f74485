"""The configuration: `pipeline.toml` as plain values, checked before anything starts.

`sample.toml` beside this file is the documentation: every key, with its default where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from fyke.errors import FykeError, shown
from fyke.events import json
from fyke.events.schema import Schema
from fyke.filters.dialects import DIALECTS
from fyke.pipeline.sources import origins
from fyke.pipeline.sources.origins import Origin, Paced, Source, resolved
from fyke.section import Section

FORMS: Final = ("digest", "event")
UNTIL: Final = ("stopped", "available")
QUICK_EVENTS: Final = 20_000
QUICK_SUBSCRIPTIONS: Final = 2_000
REFUSED_MAX: Final = 0.5
"""The share of its events that a run may refuse, unless it is told otherwise."""
_OUT: Final = "pipeline-out"


@dataclass(frozen=True, slots=True)
class Notifications:
    form: str
    parquet: bool
    ndjson: bool


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    busiest: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a stream: the time between its batches, and whether it ever ends by itself."""

    every_s: float
    until: str


@dataclass(frozen=True, slots=True)
class Place:
    """The place where Spark runs."""

    master: str | None
    remote: str | None
    conf: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """All of it."""

    events: Origin
    refused_max: float
    subscriptions: Source
    dialect: str
    shards: int | None
    schema: Schema | None
    """The meaning of values: orders of enumerations, timestamps in text, decimals in JSON."""
    notifications: Notifications
    pace: Pace
    report: Report
    place: Place
    out: Path
    tables: str | None = None
    """The folder or URI of Spark's tables, if it is not `out`."""

    @property
    def is_stream(self) -> bool:
        return origins.is_stream(self.events)

    def resized(self, events: int | None, subscriptions: int | None) -> Pipeline:
        """Return the same with other numbers of generated rows."""
        return replace(
            self,
            events=origins.resized(self.events, events, "events"),
            subscriptions=origins.resized(self.subscriptions, subscriptions, "subscriptions"),
        )

    def paced(self, rate: int | None) -> Pipeline:
        """Return the same with generated events as a stream, at this rate."""
        return self if rate is None else replace(self, events=origins.paced(self.events, rate))

    def tolerating(self, refused_max: float | None) -> Pipeline:
        """Return the same, whose events may be refused up to another share."""
        if refused_max is None:
            return self
        if self.is_stream:
            raise FykeError("--refused-max is for runs that end; a stream goes on in any case")
        return replace(self, refused_max=refused_max)

    def placed(self, master: str | None, remote: str | None) -> Pipeline:
        """Return the same pipeline, run elsewhere."""
        if master is None and remote is None:
            return self
        if master is not None and remote is not None:
            raise FykeError("Spark has a master or a remote address, not both")
        return replace(self, place=replace(self.place, master=master, remote=remote))


def sample() -> str:
    """Return the text of the sample."""
    return (files("fyke.pipeline") / "sample.toml").read_text("utf-8")


def read(path: str | Path) -> Pipeline:
    """Return the pipeline in a file."""
    return _pipeline(Section.read(path), Path(path).absolute().parent)


def parse(text: str, place: str, folder: Path) -> Pipeline:
    """Return the pipeline of a text; relative paths start at `folder`."""
    return _pipeline(Section.parse(text, place), folder)


def _pipeline(whole: Section, folder: Path) -> Pipeline:
    events, subscriptions = whole.section("events"), whole.section("subscriptions")
    out, tables = _output(whole.section("output"), folder)
    made = Pipeline(
        events=origins.read_events(events, folder),
        refused_max=events.share("refused_max", REFUSED_MAX),
        dialect=subscriptions.choice("dialect", DIALECTS, "fyke"),
        shards=subscriptions.whole("shards", None, 1) if "shards" in subscriptions else None,
        subscriptions=origins.read_subscriptions(subscriptions, folder),
        schema=_schema(whole.section("schema"), folder),
        notifications=_notifications(whole.section("notifications")),
        pace=_pace(whole.section("stream")),
        report=_report(whole.section("report")),
        place=_place(whole.section("spark")),
        out=out,
        tables=tables,
    )
    events.end()
    whole.end()
    if isinstance(made.events, Paced) and made.pace.until != UNTIL[0]:
        whole.fail("stream.until is 'available', but a workload at a rate never ends")
    return made


def _schema(section: Section, folder: Path) -> Schema | None:
    path, names = section.text("path"), section.items("timestamps", "a list of names")
    section.end()
    if not all(isinstance(name, str) for name in names):
        section.fail(f"schema.timestamps is {shown(names)}; expected a list of names")
    if path is None:
        return Schema().with_timestamps(names) if names else None
    try:
        declared = Schema.from_document(json.decode((folder / path).read_bytes()))
        return declared.with_timestamps(names)
    except (FykeError, OSError) as refused:
        reason = getattr(refused, "strerror", None) or refused
        section.fail(f"schema.path is {path!r}: {reason}")


def _notifications(section: Section) -> Notifications:
    made = Notifications(
        form=section.choice("form", FORMS, FORMS[0]),
        parquet=section.flag("parquet", True),
        ndjson=section.flag("ndjson", True),
    )
    section.end()
    return made


def _pace(section: Section) -> Pace:
    made = Pace(section.seconds("every", 1.0), section.choice("until", UNTIL, UNTIL[0]))
    section.end()
    return made


def _report(section: Section) -> Report:
    title = section.text("title") or "Fyke pipeline"
    made = Report(title, section.whole("busiest", 10, 1))
    section.end()
    return made


def _place(section: Section) -> Place:
    made = Place(section.text("master"), section.text("remote"), section.options("conf"))
    section.end()
    if made.master is not None and made.remote is not None:
        section.fail("Spark has a master or a remote address, not both")
    return made


def _output(section: Section, folder: Path) -> tuple[Path, str | None]:
    path, tables = section.text("path") or _OUT, section.text("tables")
    section.end()
    if "://" in path:
        section.fail(
            f"output.path is {path!r}; expected a folder, not an address; output.tables may be one"
        )
    return Path(resolved(path, folder)), None if tables is None else resolved(tables, folder)
