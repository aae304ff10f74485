"""Runs of an overlay side by side: a row per metric, a column per strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rich.text import Text

from fyke.cli.writing.listing import heading
from fyke.errors import printable
from fyke.sizes import written_size
from fyke.traces.summary import Load, RunSummary, Traffic


@dataclass(frozen=True, slots=True)
class _Metric:
    """A row; one that is shown `if_any` is left out where no run has anything to show."""

    name: str
    text: Callable[[RunSummary], str]
    note: str
    if_any: Callable[[RunSummary], object] = bool


def _all(run: RunSummary, what: str) -> list[int]:
    """Return what each broker holds of something in the end."""
    return [getattr(load.held, what) for load in run.brokers.values()]


_METRICS = (
    _Metric("messages an event", lambda run: f"{run.network_load:,.2f}", "between brokers"),
    _Metric(
        "  of them useless",
        lambda run: f"{run.useless_share or 0:.1%}",
        "nobody behind the link got the event",
        lambda run: run.useless_share is not None,
    ),
    _Metric(
        "links an event",
        lambda run: f"{run.links_per_event or 0:,.2f}",
        "direct messages take several",
        lambda run: run.links_per_event not in (None, run.network_load),
    ),
    _Metric(
        "bytes an event", lambda run: f"{run.bytes / max(run.events, 1):,.0f}", "of all messages"
    ),
    _Metric("other messages", lambda run: f"{run.control_messages:,}", "of subscriptions and such"),
    _Metric("duplication", lambda run: f"{run.duplication:,.2f}", "copies of a subscription"),
    _Metric("largest table", lambda run: f"{run.largest_table:,}", "subscriptions at a broker"),
    _Metric(
        "largest memory",
        lambda run: written_size(max(_all(run, "bytes"), default=0)),
        "of the tables of a broker, about",
        lambda run: sum(_all(run, "pruned")),
    ),
    _Metric(
        "pruned",
        lambda run: f"{sum(_all(run, 'pruned')):,}",
        "rows that are wider than what neighbours said",
        lambda run: sum(_all(run, "pruned")),
    ),
    _Metric(
        "saved by that",
        lambda run: written_size(sum(_all(run, "saved"))),
        "",
        lambda run: sum(_all(run, "pruned")),
    ),
    _Metric(
        "work an event",
        lambda run: f"{1 / run.throughput if run.throughput else 0:,.1f}",
        "messages and matching, at the busiest",
    ),
    _Metric("busiest broker", lambda run: printable(run.bottleneck or ""), ""),
    _Metric("deliveries", lambda run: f"{run.deliveries:,}", "an event to a client"),
    _Metric("events matched", lambda run: f"{run.p_e:.1%}", "that some client got"),
    _Metric(
        "latency",
        lambda run: f"{1_000 * run.latency.mean_s:,.1f} ms",
        "from publication to delivery, mean",
    ),
    _Metric(
        "lost",
        lambda run: f"{run.lost:,}",
        "messages; links broke, brokers stopped",
        lambda run: run.lost,
    ),
    _Metric(
        "sent again",
        lambda run: f"{run.resent:,}",
        "frames that got lost below the links",
        lambda run: run.resent,
    ),
    _Metric(
        "came twice",
        lambda run: f"{run.copies:,}",
        "frames that were thrown away",
        lambda run: run.copies,
    ),
    _Metric("rejected", lambda run: f"{run.rejected:,}", "messages", lambda run: run.rejected),
)


def comparison(runs: Mapping[str, RunSummary]) -> Iterator[list[Text]]:
    """Yield the rows, the first one a heading."""
    yield heading("", *runs, "")
    for metric in _METRICS:
        if any(metric.if_any(run) for run in runs.values()):
            numbers = [Text(metric.text(run), "bold") for run in runs.values()]
            yield [Text(metric.name), *numbers, Text(metric.note, "dim")]


def agree(runs: Mapping[str, RunSummary]) -> bool:
    """Return True if all runs matched, delivered and notified as much."""
    return len({(run.matched, run.deliveries, run.notified) for run in runs.values()}) <= 1


def stages(run: RunSummary) -> list[list[Text]]:
    """Return a row for each stage of a tree of stages, the root first; none for other overlays.

    Brokers that are down in the end have no stage. The load of the busiest is what it holds events
    against, times events, by that of one server with all subscriptions (MSF-35).
    """
    by_stage: dict[int, list[Load]] = {}
    for load in run.brokers.values():
        by_stage.setdefault(load.held.stage, []).append(load)
    if by_stage.keys() <= {0}:
        return []
    rows = [heading("stage", "brokers", "rows", "largest", "events", "busiest", "load", "")]
    server = run.events * sum(load.held.subscriptions for load in run.brokers.values())
    for stage, loads in sorted(by_stage.items(), reverse=True):
        tables = [load.held.rows for load in loads]
        events = [load.event_messages for load in loads]
        numbers = (len(loads), sum(tables), max(tables), sum(events), max(events))
        most = max(load.held.filtered * load.held.matched for load in loads)
        texts = [str(stage) if stage else "down", *(f"{each:,}" for each in numbers)]
        rows.append([*map(Text, texts), Text(f"{most / max(1, server):.1%}"), Text()])
    return rows


def extra(run: RunSummary, pruned: RunSummary) -> list[list[Text]]:
    """Return a row for each link over which pruning sends more events, the worst first."""
    more = {
        pair: traffic.events - run.links.get(pair, Traffic()).events
        for pair, traffic in pruned.links.items()
    }
    paying = sorted((pair for pair in more if more[pair] > 0), key=lambda pair: -more[pair])
    if not paying:
        return []
    rows = [heading("to", "messages more", "of all", "from")]
    for sender, receiver in paying:
        share = more[sender, receiver] / pruned.links[sender, receiver].events
        numbers = [Text(f"{more[sender, receiver]:,}"), Text(f"{share:.0%}")]
        rows.append([Text(printable(receiver)), *numbers, Text(printable(sender), "dim")])
    return rows


def beyond(pruned: RunSummary, limit: int) -> str:
    """Return a sentence about brokers that hold more than the limit; empty if there are none."""
    over = {name: load.held for name, load in pruned.brokers.items() if load.held.bytes > limit}
    if not over:
        return ""
    most, own = (max(getattr(each, of) for each in over.values()) for of in ("bytes", "own_bytes"))
    who = "1 broker holds" if len(over) == 1 else f"{len(over)} brokers hold"
    least = "; so the limit cannot be met" if own > limit else ""
    return (
        f"{who} more than {written_size(limit)}, up to {written_size(most)}, though all is pruned "
        f"that can be. What a broker's own clients want is never pruned: it takes up to "
        f"{written_size(own)}{least}"
    )
