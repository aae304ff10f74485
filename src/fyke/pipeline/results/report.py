"""The report: one HTML file with nothing outside it; plots lie in it as images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.results import plots
from fyke.pipeline.results.counting import STEP_S
from fyke.pipeline.results.outcome import RunOutcome, Streamed
from fyke.reports.page import (
    cell,
    code,
    document,
    fact,
    number,
    picture,
    row,
    section,
    side_by_side,
    table,
)

Scales: TypeAlias = list[tuple[int, int]]

STEPS_MIN: Final = 4
"""Fewer make no picture of throughput."""


def page(outcome: RunOutcome, pipeline: Pipeline) -> str:
    """Return the page of a run."""
    subtitle = f"events: {pipeline.events} · subscriptions: {pipeline.subscriptions}"
    parts = [side_by_side(_plots(outcome)), *_tables(outcome)]
    return document(pipeline.report.title, subtitle, _facts(outcome), parts)


def _facts(outcome: RunOutcome) -> Iterator[str]:
    share = outcome.matches / max(outcome.events * outcome.subscriptions, 1)
    yield fact(outcome.events, f"events, {outcome.events_refused:,} refused")
    yield fact(outcome.subscriptions, f"subscriptions, {outcome.subscriptions_refused:,} refused")
    yield fact(outcome.matches, f"matches, {100 * share:.2g} % of all pairs")
    yield fact(outcome.notifications, "notifications")
    yield fact(outcome.subscribers, "subscribers reached")
    if outcome.stream is None:
        yield fact(f"{outcome.duration_s:.1f} s", "in all")
        return
    found = outcome.stream
    yield fact(
        found.batches, f"batches, {found.latency_s:.2f} s each, at most {found.latency_max_s:.2f}"
    )
    yield fact(_lasting(found.running_s), f"running, started {_times(found.starts)}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _lasting(seconds: float) -> str:
    """Write seconds up to a few minutes, hours and minutes beyond."""
    if seconds < 600:
        return f"{seconds:.1f} s"
    return f"{seconds // 3600:,.0f} h {seconds % 3600 // 60:.0f} min"


def _plots(outcome: RunOutcome) -> Iterator[str]:
    found = outcome.statistics
    if outcome.stream is None:
        yield _plot("Stages", "How long each took, and its rate.", plots.stages(outcome.stages))
    else:
        yield from _times_of(outcome.stream)
    if len(found.events_by_step) >= STEPS_MIN:
        image = plots.throughput(found.events_by_step, STEP_S)
        yield _plot("Throughput", "Events matched in a second.", image)
    if outcome.matches:
        scales = doubled(found.events_by_size)
        note = _silence(scales, outcome.matches)
        image = plots.doubling(_loud(scales), "an event", "events")
        yield _plot("Matches of events", note, image)
        scales = list(found.subscriptions_by_matches)
        note = _silence(scales, outcome.matches)
        image = plots.doubling(_loud(scales), "a subscription", "subscriptions")
        yield _plot("Matches of subscriptions", note, image)
    if found.selectivities:
        image = plots.selectivities(found.selectivities)
        note = "Predicates of a sample, by attribute: a dot each, a line at the median."
        yield _plot("Selectivities", note, image)
    if found.classes and outcome.events:
        image = plots.classes(found.classes, outcome.events, len(found.selectivities))
        yield _plot("Classes", "How selective the classes of subscriptions are.", image)
    if found.busiest:
        image = plots.busiest(found.busiest)
        yield _plot("Busiest subscriptions", "Those with most matches.", image)
    if found.busiest_subscribers:
        image = plots.busiest(found.busiest_subscribers)
        yield _plot("Busiest subscribers", "Matches of all they hold.", image)


def _times_of(found: Streamed) -> Iterator[str]:
    """Yield the plots of a stream over time."""
    note = "In a second, while batches were worked on."
    if found.restarts_s:
        note += " Dotted: the stream was started again."
    events = [rate.events / rate.width_s for rate in found.rates]
    yield _plot("Events over time", note, plots.over_time(found, events, "events a second"))
    matches = [rate.matches / rate.width_s for rate in found.rates]
    yield _plot("Matches over time", note, plots.over_time(found, matches, "matches a second"))
    latencies = [rate.latency_s for rate in found.rates]
    image = plots.over_time(found, latencies, "seconds")
    yield _plot("Batches over time", "How long one took, the median.", image)


def doubled(by_size: Iterable[tuple[int, int]]) -> Scales:
    """Count by number of matches, in doubling classes."""
    scales: Counter[int] = Counter()
    for size, count in by_size:
        scales[size.bit_length() - 1] += count
    return sorted(scales.items())


def _loud(scales: Scales) -> Scales:
    return [(scale, count) for scale, count in scales if scale >= 0]


def _silence(scales: Scales, matches: int) -> str:
    """Say what the plot leaves out: those without a match."""
    silent = sum(count for scale, count in scales if scale < 0)
    mean = matches / sum(count for _, count in _loud(scales))
    return f"{silent:,} without any; the others have {mean:,.1f} on average."


def _plot(title: str, note: str, image: str) -> str:
    return section(title, note, picture(title, image))


def _tables(outcome: RunOutcome) -> Iterator[str]:
    found = outcome.statistics
    if found.refusals:
        rows = (row(number(each.rows), cell(each.example)) for each in found.refusals)
        yield section("Why events were refused", "", table(("events", "such as"), rows, (0,)))
    if found.busiest:
        heads = ("subscription", "subscriber", "matches", "filter")
        rows = (
            row(
                cell(each.name, "name"),
                cell(each.subscriber or "", "name"),
                number(each.matches),
                code(each.filter or ""),
            )
            for each in found.busiest
        )
        yield section("What the busiest ask for", "", table(heads, rows, (2,)))
