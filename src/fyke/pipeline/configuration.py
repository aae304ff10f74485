"""What a pipeline is to do: `pipeline.toml` as plain values, checked before anything starts.

`sample.toml` beside this file is the documentation: every key, with its default where there is one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeAlias

from fyke.errors import FykeError
from fyke.filters.dialects import DIALECTS
from fyke.pipeline.section import Section
from fyke.workloads.named import workload
from fyke.workloads.workload import Workload

FORMATS: Final = ("parquet", "json", "csv")
STREAMS: Final = ("kafka", "fyke")
FORMS: Final = ("digest", "event")
QUICK_EVENTS: Final = 20_000
QUICK_SUBSCRIPTIONS: Final = 2_000
_OUT: Final = "pipeline-out"


@dataclass(frozen=True, slots=True)
class Generated:
    """Rows that a workload makes."""

    workload: Workload
    count: int

    def __str__(self) -> str:
        return f"workload {self.workload.name}, seed {self.workload.seed}"


@dataclass(frozen=True, slots=True)
class Files:
    """Rows that lie in files, read by Spark."""

    format: str
    path: str
    options: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    schema: str | None = None

    def __str__(self) -> str:
        return f"{self.format} {self.path}"


Source: TypeAlias = Generated | Files


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
class Place:
    """Where Spark runs."""

    master: str | None
    remote: str | None
    conf: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """All of it."""

    events: Source
    subscriptions: Source
    dialect: str
    shards: int | None
    notifications: Notifications
    report: Report
    place: Place
    out: Path

    def resized(self, events: int | None, subscriptions: int | None) -> Pipeline:
        """The same with other numbers of generated rows."""
        return replace(
            self,
            events=_resized(self.events, events, "events"),
            subscriptions=_resized(self.subscriptions, subscriptions, "subscriptions"),
        )

    def placed(self, master: str | None, remote: str | None) -> Pipeline:
        """The same elsewhere."""
        if master is None and remote is None:
            return self
        if master is not None and remote is not None:
            raise FykeError("Spark has a master or a remote address, not both")
        return replace(self, place=replace(self.place, master=master, remote=remote))


def sample() -> str:
    """The text of the sample."""
    return (files("fyke.pipeline") / "sample.toml").read_text("utf-8")


def read(path: str | Path) -> Pipeline:
    """The pipeline in a file."""
    try:
        text = Path(path).read_bytes().decode()
    except OSError as refused:
        raise FykeError(f"{path}: {refused.strerror or refused}") from None
    except UnicodeDecodeError as refused:
        raise FykeError(f"{path}: not UTF-8 at byte {refused.start}") from None
    return parse(text, str(path), Path(path).absolute().parent)


def parse(text: str, place: str, folder: Path) -> Pipeline:
    """The pipeline of a text; relative paths start at `folder`."""
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as refused:
        raise FykeError(f"{place}: not TOML: {refused}") from None
    return _pipeline(Section(place, "", document), folder)


def _pipeline(whole: Section, folder: Path) -> Pipeline:
    subscriptions = whole.section("subscriptions")
    made = Pipeline(
        events=_source(whole.section("events"), folder, is_events=True),
        dialect=subscriptions.choice("dialect", DIALECTS, "fyke"),
        shards=subscriptions.whole("shards", None, 1) if "shards" in subscriptions else None,
        subscriptions=_source(subscriptions, folder, is_events=False),
        notifications=_notifications(whole.section("notifications")),
        report=_report(whole.section("report")),
        place=_place(whole.section("spark")),
        out=_out(whole.section("output"), folder),
    )
    whole.end()
    return made


def _source(section: Section, folder: Path, *, is_events: bool) -> Source:
    if "workload" in section and "format" in section:
        section.fail("rows come from a workload or from files; name one of them")
    found = _files(section, folder, is_events) if "format" in section else _generated(section)
    section.end()
    return found


def _generated(section: Section) -> Generated:
    name = section.needed("workload", "the name of a workload, or format and path of files")
    count, seed = section.whole("count", None, 1), section.whole("seed", 0, 0)
    options = section.options("options")
    try:
        return Generated(workload(name, **{**options, "seed": seed}), count)
    except (FykeError, TypeError) as refused:
        section.fail(str(refused))


def _files(section: Section, folder: Path, is_events: bool) -> Files:
    format = section.choice("format", (*FORMATS, *(STREAMS if is_events else ())), "")
    if format in STREAMS:
        section.fail(
            f"events.format {format!r} is a stream, which the pipeline does not run yet; "
            f"expected one of {', '.join(FORMATS)}"
        )
    path = _resolved(section.needed("path", "a file, a folder or a pattern"), folder)
    options = section.options("options")
    for name, value in options.items():
        if not isinstance(value, str | bool | int | float):
            section.fail(f"option {name!r} is {value!r}; expected text, a number or a Boolean")
    if not is_events:
        return Files(format, path, options)
    key = section.needed("key", "the column that says which event a row is")
    schema = section.text("schema")
    if (schema is None) is (format == "csv"):
        section.fail("events.schema says the columns of a csv file, and of no other")
    return Files(format, path, options, key, schema)


def _notifications(section: Section) -> Notifications:
    made = Notifications(
        form=section.choice("form", FORMS, FORMS[0]),
        parquet=section.flag("parquet", True),
        ndjson=section.flag("ndjson", True),
    )
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


def _out(section: Section, folder: Path) -> Path:
    path = section.text("path") or _OUT
    section.end()
    if "://" in path:
        section.fail(f"output.path is {path!r}; expected a folder, not an address")
    return Path(_resolved(path, folder))


def _resolved(path: str, folder: Path) -> str:
    return path if "://" in path else str(folder / path)


def _resized(source: Source, count: int | None, what: str) -> Source:
    if count is None:
        return source
    if not isinstance(source, Generated):
        raise FykeError(f"--{what} sizes a workload, but the {what} come from {source}")
    return replace(source, count=count)
