"""`fyke pipeline`: the whole way from events to notifications and a report, on Spark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.text import Text

from fyke.cli.options import Switch
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted
from fyke.cli.writing.problems import Unusable, complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fyke.pipeline.configuration import Pipeline
    from fyke.pipeline.results.outcome import RunOutcome

SAMPLE: Final = "pipeline.toml"

app = App(
    name="pipeline",
    group_parameters="Options",
    help_epilogue="""\
Examples
  fyke pipeline run --quick
  fyke pipeline run --quick --rate 2000 --out live
  fyke pipeline init pipeline.toml
  fyke pipeline run pipeline.toml --out results
  fyke pipeline run pipeline.toml --master spark://host:7077
""",
)

Size = Annotated[int | None, Parameter(metavar="N", validator=Number(gte=1))]
Named = Annotated[str | None, Parameter(metavar="NAME")]


@app.command(sort_key=0)
def run(
    file: Annotated[str | None, Parameter(metavar="FILE")] = None,
    /,
    *,
    out: Annotated[str | None, Parameter(metavar="DIR")] = None,
    tables: Annotated[str | None, Parameter(metavar="URI")] = None,
    events: Size = None,
    rate: Size = None,
    subscriptions: Size = None,
    quick: Switch = False,
    refused_max: Annotated[
        float | None, Parameter(metavar="SHARE", validator=Number(gte=0, lte=1))
    ] = None,
    master: Named = None,
    remote: Named = None,
    for_: Annotated[
        float | None, Parameter(name="--for", metavar="SECONDS", validator=Number(gt=0))
    ] = None,
) -> int:
    """Run a pipeline: ingest, compile, match, notify, count, report.

    A stream runs until Ctrl-C or SIGTERM, and the same command goes on from there.

    Parameters
    ----------
    file
        What to do, as TOML; without it, the sample that `fyke pipeline init` writes.
    out
        Folder for the results, instead of the file's.
    tables
        Where Spark writes its tables, instead of that folder: any path or URI that it writes.
    events
        Events to generate, where a workload makes them.
    rate
        Events to generate in a second, where a workload makes them: a stream.
    subscriptions
        Subscriptions to generate, where a workload makes them.
    quick
        A glance: few generated events and subscriptions.
    refused_max
        Fail if more than this share of the events is refused, instead of the file's: 0 to 1.
    master
        Where Spark runs: local[2], or the address of a cluster.
    remote
        The address of a Spark Connect server, sc://host:15002.
    for_
        Stop a stream after so many seconds.
    """
    from fyke.cli.stages import showing, tell
    from fyke.pipeline import configuration

    pipeline = _pipeline(file, out, tables).placed(master, remote).paced(rate)
    if quick:
        if not pipeline.is_stream:
            events = events or configuration.QUICK_EVENTS
        subscriptions = subscriptions or configuration.QUICK_SUBSCRIPTIONS
    pipeline = pipeline.resized(events, subscriptions).tolerating(refused_max)
    if for_ is not None and not pipeline.is_stream:
        raise Unusable("--for ends a stream, but the events are none")
    tell(f"running {file or 'the sample pipeline'}; Spark is loaded...")
    from fyke.pipeline import running
    from fyke.pipeline.live import live

    screen = console()
    logging.getLogger().addHandler(logging.NullHandler())  # errors become sentences in `main`
    with showing(pipeline.is_stream) as watcher:
        if pipeline.is_stream:
            outcome = live.run(pipeline, watcher, seconds=for_)
        else:
            outcome = running.run(pipeline, watcher)
    show_rows(screen, _stages(outcome), right=[1, 3])
    screen.print()
    show_rows(screen, _totals(outcome), right=[1])
    screen.print(f"\n{_near(pipeline.out / 'report.html')}", soft_wrap=True)
    if outcome.tables is not None:
        screen.print(outcome.tables, soft_wrap=True)
    _warn(outcome, pipeline)
    return 0


@app.command(sort_key=1)
def init(file: Annotated[str, Parameter(metavar="FILE")] = SAMPLE, /) -> int:
    """Write a sample pipeline, commented line by line.

    Parameters
    ----------
    file
        Where to write it; a file that exists stays as it is.
    """
    from fyke.pipeline.configuration import sample

    try:
        with open(file, "x", encoding="utf-8") as stream:
            stream.write(sample())
    except FileExistsError:
        raise Unusable(f"{file} exists; nothing was written") from None
    except (OSError, ValueError) as refused:
        raise Unusable(f"{file}: {getattr(refused, 'strerror', None) or refused}") from None
    console().print(f"{file} is written; run it with: fyke pipeline run {file}", soft_wrap=True)
    return 0


@app.command(sort_key=2)
def connector() -> int:
    """Print the line of [spark.conf] that brings Spark's connector to Kafka.

    It names the connector of the Spark that is installed.
    """
    from fyke.spark.connector import setting

    console().print(setting(), soft_wrap=True, highlight=False, markup=False)
    return 0


def _pipeline(file: str | None, out: str | None, tables: str | None) -> Pipeline:
    from dataclasses import replace

    from fyke.pipeline import configuration
    from fyke.pipeline.sources.origins import resolved

    if file is None:
        made = configuration.parse(configuration.sample(), "the sample", Path.cwd())
    else:
        made = configuration.read(file)
    if tables is not None:
        made = replace(made, tables=resolved(tables, Path.cwd()))
    return made if out is None else replace(made, out=Path(out).absolute())


# --- showing -------------------------------------------------------------------------------------


def _stages(outcome: RunOutcome) -> Iterator[list[Text]]:
    yield heading("stage", "seconds", "", "rate", "")
    for stage in outcome.stages:
        row = [Text(stage.name), Text(f"{stage.duration_s:.1f}", "bold"), Text("")]
        if stage.rows > 1:
            row += [Text(f"{stage.rate:,.0f}"), Text(f"{stage.unit}/s", "dim")]
        else:
            row += [Text(""), Text("")]
        yield row
    yield [Text("all"), Text(f"{outcome.duration_s:.1f}", "bold"), Text(""), Text(""), Text("")]


def _totals(outcome: RunOutcome) -> Iterator[list[Text]]:
    events, matched = max(outcome.events, 1), outcome.events_matched
    yield _total(
        "events", outcome.events, f"{matched:,} matched, {_refused(outcome.events_refused)}"
    )
    yield _total("subscriptions", outcome.subscriptions, _refused(outcome.subscriptions_refused))
    yield _total("matches", outcome.matches, f"{outcome.matches / events:.2f} an event")
    yield _total("notifications", outcome.notifications, f"to {outcome.subscribers:,} subscribers")
    if outcome.stream is not None:
        found = outcome.stream
        starts = counted(found.starts, "start")
        yield _total(
            "batches", found.batches, f"in {starts}, {found.latency_s:.2f} s each (median)"
        )


def _refused(number: int) -> str:
    return f"{number:,} refused"


def _total(what: str, number: int, note: str) -> list[Text]:
    return [Text(what), Text(f"{number:,}", "bold"), Text(note, "dim")]


def _warn(outcome: RunOutcome, pipeline: Pipeline) -> None:
    from fyke.pipeline.results.refusals import listed

    refused = {
        "events": (outcome.events_refused, outcome.statistics.refusals),
        "subscriptions": (outcome.subscriptions_refused, ()),
    }
    for what, (number, reasons) in refused.items():
        if number:
            name = f"refused-{what}.ndjson"
            place = f"{outcome.tables}/{name}" if outcome.tables else _near(pipeline.out / name)
            often = f"; most often:{listed(reasons)}" if reasons else ""
            complain(f"{number:,} {what} could not be used; {place} holds the reasons{often}")


def _near(path: Path) -> Path:
    """Return the path as seen from the working directory, where it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
