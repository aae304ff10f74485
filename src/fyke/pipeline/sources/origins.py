"""Origins of the rows of a pipeline, as `pipeline.toml` says them.

    workload, count                 generated, a number of them
    workload, rate                  a stream: generated, a number of them a second
    format, path                    files that are there
    format, path, stream = true     a stream: files as they appear in a folder
    format = "fyke", path           a stream: an append log
    format = "kafka", servers, topic

`sources` and `streams` make DataFrames of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from fyke.errors import FykeError, shown
from fyke.pipeline.sources.columns_text import columns
from fyke.section import Section
from fyke.workloads.named import workload
from fyke.workloads.workload import Workload

FORMATS: Final = ("parquet", "json", "csv")
STREAMS: Final = ("fyke", "kafka")
"""Formats that are streams, and nothing else."""

Options: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Generated:
    """Rows that a workload makes."""

    workload: Workload
    count: int

    def __str__(self) -> str:
        return f"workload {self.workload.name}, seed {self.workload.seed}"


@dataclass(frozen=True, slots=True)
class Paced:
    """Rows that a workload makes as time goes by: a number of them a second."""

    workload: Workload
    rate: int

    def __str__(self) -> str:
        return f"workload {self.workload.name}, seed {self.workload.seed}, as a stream"


@dataclass(frozen=True, slots=True)
class Files:
    """Rows that lie in files, read by Spark; in a stream, those that will appear too."""

    format: str
    path: str
    options: Options = field(default_factory=dict)
    key: str | None = None
    schema: str | None = None
    is_stream: bool = False

    def __str__(self) -> str:
        return f"{self.format} {self.path}{', as a stream' if self.is_stream else ''}"


@dataclass(frozen=True, slots=True)
class Log:
    """Documents that are appended to a log."""

    path: str
    key: str
    options: Options = field(default_factory=dict)

    def __str__(self) -> str:
        return f"log {self.path}"


@dataclass(frozen=True, slots=True)
class Topic:
    """Documents that are sent to a topic of Kafka."""

    servers: str
    topic: str
    key: str
    options: Options = field(default_factory=dict)

    def __str__(self) -> str:
        return f"topic {self.topic} at {self.servers}"


Source: TypeAlias = Generated | Files
"""Rows that are there."""
Origin: TypeAlias = Source | Paced | Log | Topic
_Origin = TypeVar("_Origin", bound=Origin)


def is_stream(origin: Origin) -> bool:
    return isinstance(origin, Paced | Log | Topic) or (
        isinstance(origin, Files) and origin.is_stream
    )


def identity(origin: Origin) -> dict[str, Any]:
    """Return what makes a stream this one and no other; the rate and options may change."""
    match origin:
        case Paced():
            return {"workload": origin.workload.description()}
        case Files():
            found = {"format": origin.format, "path": origin.path, "key": origin.key}
            return found if origin.schema is None else {**found, "schema": origin.schema}
        case Log():
            return {"format": "fyke", "path": origin.path, "key": origin.key}
        case Topic():
            return {"format": "kafka", "topic": origin.topic, "key": origin.key}
    raise AssertionError(origin)


# --- reading them from a file --------------------------------------------------------------------


def read_events(section: Section, folder: Path) -> Origin:
    """Read where events come from: anywhere."""
    return _events_in_files(section, folder) if _is_format(section) else _made(section)


def read_subscriptions(section: Section, folder: Path) -> Source:
    """Read where subscriptions are; they are there when a pipeline starts."""
    found: Source
    if _is_format(section):
        format = section.choice("format", FORMATS, "")
        found = Files(format, _path(section, folder, "a file, a folder or a pattern"))
        found = replace(found, options=_options(section))
    else:
        found = Generated(_workload(section), section.whole("count", None, 1))
    section.end()
    return found


def resized(origin: _Origin, count: int | None, what: str) -> _Origin | Generated:
    """Return the same with another number of generated rows."""
    if count is None:
        return origin
    if not isinstance(origin, Generated):
        raise FykeError(f"--{what} sizes a workload, but the {what} come from {origin}")
    return replace(origin, count=count)


def paced(origin: Origin, rate: int) -> Paced:
    """Return the same workload as a stream."""
    if not isinstance(origin, Generated | Paced):
        raise FykeError(f"--rate makes a stream of a workload, but the events come from {origin}")
    return Paced(origin.workload, rate)


def resolved(path: str, folder: Path) -> str:
    """Resolve relative paths: they start at the folder of the file that names them."""
    return path if "://" in path else str(folder / path)


def _is_format(section: Section) -> bool:
    if "workload" in section and "format" in section:
        section.fail("rows come from a workload or from files; name one of them")
    return "format" in section


def _made(section: Section) -> Generated | Paced:
    made = _workload(section)
    if "rate" not in section:
        return Generated(made, section.whole("count", None, 1))
    if "count" in section:
        section.fail("events.count makes so many events, events.rate an endless stream; choose one")
    return Paced(made, section.whole("rate", None, 1))


def _workload(section: Section) -> Workload:
    name = section.needed("workload", "the name of a workload, or format and path of files")
    seed, options = section.whole("seed", 0, 0), section.options("options")
    try:
        return workload(name, **{**options, "seed": seed})
    except (FykeError, TypeError) as refused:
        section.fail(str(refused))


def _events_in_files(section: Section, folder: Path) -> Files | Log | Topic:
    format = section.choice("format", (*FORMATS, *STREAMS), "")
    if format == "kafka":
        servers = section.needed("servers", "host:port of a server, or several with commas")
        topic = section.needed("topic", "the name of a topic")
        return Topic(servers, topic, _key(section), _options(section))
    if format == "fyke":
        path = _path(section, folder, "the folder of a log")
        if "://" in path:
            section.fail(f"events.path is {path!r}; expected the folder of a log, not an address")
        return Log(path, _key(section), _options(section))
    path = _path(section, folder, "a file, a folder or a pattern")
    options, key = _options(section), _key(section)
    stream, schema = section.flag("stream", False), section.text("schema")
    if schema is None and format == "csv":
        section.fail("events.schema is missing; expected the columns of the csv files")
    if schema is not None and not (format == "csv" or (format == "parquet" and stream)):
        section.fail("events.schema says the columns of csv files, or of Parquet in a stream")
    if schema is not None:
        _check_schema(section, schema, key)
    return Files(format, path, options, key, schema, stream)


def _check_schema(section: Section, schema: str, key: str) -> None:
    try:
        names = columns(schema)
    except FykeError as refused:
        section.fail(
            f"events.schema is {shown(schema)}; expected columns such as "
            f"'id string, price double', but there is {refused}"
        )
    if key not in names:
        known = ", ".join(map(shown, names))
        section.fail(f"events.key is {shown(key)}; expected a column of events.schema: {known}")


def _key(section: Section) -> str:
    return section.needed("key", "the column that says which event a row is")


def _path(section: Section, folder: Path, expected: str) -> str:
    return resolved(section.needed("path", expected), folder)


def _options(section: Section) -> Options:
    """Return the options of Spark's reader."""
    options = section.options("options")
    for name, value in options.items():
        if not isinstance(value, str | bool | int | float):
            section.fail(f"option {name!r} is {value!r}; expected text, a number or a Boolean")
    return options
