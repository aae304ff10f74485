"""Figures 8 to 11 of the paper, and what it does not show: bytes, matching, what passes."""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Axis, Figure, Panel
from fyke.experiments.summaries.studies import POPULARITIES
from fyke.experiments.table import Row, Table

_CWIX: Final = {"topology": "cwix", "model": "paper"}
_SIGMA: Final = Axis("sigma", "new subscriptions of a broker in a period", is_log=True)
_OF_A_BROKER: Final = {
    "text": "text",
    "compressed": "zlib",
    "summary": "summary",
    "subsumed_summary": "uncovered",
}
_SENT: Final = {
    "baseline_bytes": "baseline",
    "siena_bytes": "siena",
    "covering_bytes": "covering",
    "bytes": "summaries",
}
_STEPS: Final = {
    "t1_sum": "T1, as a sum",
    "t1_product": "T1, as printed",
    "t2": "T2",
    "table_steps": "covering table",
}


def _savings(rows: Table) -> Table:
    """Return Siena's bytes and storage by those of summaries."""
    keys = ("topology", "graph", "model", "p", "sigma")
    ours = {tuple(row[key] for key in keys): row for row in rows.where(approach="summary")}
    found = []
    for row in rows.where(approach="siena"):
        same = tuple(row[key] for key in keys)
        ratios = {name: row[name] / ours[same][name] for name in ("bytes", "storage")}
        found.append({**dict(zip(keys, same, strict=True)), **ratios})
    return Table.of(found)


def _each_size(rows: Table) -> Table:
    """Return a row for each size that was measured."""
    return Table.of(
        {"p": row["p"], "sigma": row["sigma"], "what": what, "size": row[column]}
        for column, what in (*_OF_A_BROKER.items(), *_SENT.items())
        for row in rows
    )


def _with_steps(rows: Table) -> Table:
    """Return the times, and a row for each count of steps."""
    steps: list[Row] = [
        {"subscriptions": row["subscriptions"], "p": row["p"], "counted": what, "steps": row[name]}
        for name, what in _STEPS.items()
        for row in rows.where(approach="matcher")
    ]
    return Table.of([*rows, *steps])


FIGURES: Final = (
    Figure(
        "8",
        "Bandwidth for subscription propagation",
        "Bytes that all brokers send in a period, by the paper's model, on 24 brokers. Summaries "
        "lie below Siena's subsumption everywhere, and that below the baseline.",
        "model",
        tuple(
            Panel(
                f"subsumption {p}",
                _SIGMA,
                Axis("bytes", "bytes", is_log=True),
                ("approach",),
                {"p": p},
            )
            for p in (0.1, 0.5, 0.9)
        ),
        _CWIX,
    ),
    Figure(
        "9",
        "Hops for subscription propagation",
        "Messages until all subscriptions have spread. Those of summaries do not depend on the "
        "probability of subsumption.",
        "model",
        (
            Panel(
                "24 brokers",
                Axis("p", "probability of subsumption"),
                Axis("hops", "messages", is_log=True),
                ("approach",),
            ),
        ),
        {**_CWIX, "sigma": 10},
    ),
    Figure(
        "10",
        "Hops of an event",
        "Mean messages of an event by the share of brokers that want it. An event that nobody "
        "wants still searches; straight messages cross several links, one after the other.",
        "events",
        (
            Panel(
                "24 brokers",
                Axis("popularity", "share of brokers that want it"),
                Axis("hops", "hops"),
                ("approach",),
            ),
            Panel(
                "how far away it is noticed",
                Axis("popularity", "share of brokers that want it"),
                Axis("latency", "links until a broker has it"),
                ("approach",),
                {"approach": ("summary", "siena, tree edges"), "popularity": POPULARITIES[1:]},
            ),
            Panel(
                "bytes of an event of 50",
                Axis("popularity", "share of brokers that want it"),
                Axis("bytes", "bytes"),
                ("approach",),
                {"approach": ("summary", "siena, tree edges")},
            ),
        ),
        {"topology": "cwix"},
    ),
    Figure(
        "11",
        "Storage for subscriptions",
        "Bytes that all brokers hold after a period, by the paper's model. Owners need exact "
        "copies of their own subscriptions, which the paper leaves out.",
        "model",
        tuple(
            Panel(
                f"subsumption {p}",
                _SIGMA,
                Axis("storage", "bytes", is_log=True),
                ("approach",),
                {"p": p},
            )
            for p in (0.1, 0.9)
        ),
        _CWIX,
    ),
    Figure(
        "similar",
        "Other networks and parameters",
        "Siena's bytes by those of summaries, by the paper's model, with other parameters and on "
        "random graphs of 20 to 33 brokers. The paper calls the results similar.",
        "model",
        (
            Panel(
                "24 brokers, subsumption 0.5",
                _SIGMA,
                Axis("bytes", "siena / summary, bytes sent"),
                ("model",),
                {"p": 0.5, "topology": "cwix"},
            ),
            Panel(
                "random graphs, subsumption 0.5",
                _SIGMA,
                Axis("bytes", "siena / summary, bytes sent"),
                ("graph",),
                {"p": 0.5, "topology": "random graph", "model": "paper"},
            ),
            Panel(
                "random graphs, subsumption 0.5",
                _SIGMA,
                Axis("storage", "siena / summary, bytes stored"),
                ("graph",),
                {"p": 0.5, "topology": "random graph", "model": "paper"},
            ),
        ),
        derived=_savings,
    ),
    Figure(
        "bytes",
        "Real bytes of generated subscriptions",
        "Subscriptions as text, compressed, as an encoded summary, and as one of those that no "
        "other covers; and what is sent in a period: by Siena's probabilities, by real covering. "
        "Whole subscriptions seldom cover each other, so that saves little.",
        "real",
        tuple(
            Panel(
                title,
                Axis("p", "probability of subsumption, per value"),
                Axis("size", "bytes", is_log=True),
                ("what", "sigma"),
                {"what": tuple(some.values())},
            )
            for title, some in (("of a broker", _OF_A_BROKER), ("sent by 24 brokers", _SENT))
        ),
        derived=_each_size,
    ),
    Figure(
        "matching",
        "Cost of matching",
        "Processor time of an event, and steps as the paper counts them. The paper says that "
        "summaries match significantly faster, and does not show it.",
        "matching",
        (
            Panel(
                "subsumption 0.5, time",
                Axis("subscriptions", "subscriptions", is_log=True),
                Axis("us", "µs per event", is_log=True),
                ("approach",),
                {"p": 0.5},
            ),
            Panel(
                "subsumption 0.5, steps",
                Axis("subscriptions", "subscriptions", is_log=True),
                Axis("steps", "steps per event", is_log=True),
                ("counted",),
                {"p": 0.5},
            ),
        ),
        derived=_with_steps,
    ),
    Figure(
        "passing",
        "What passes",
        "The share of stock events that a summary lets through, by its size; few of them match. A "
        "Bloom filter of equality values has the same size; pruned subscriptions are compressed "
        "text.",
        "passing",
        (
            Panel(
                "stock",
                Axis("bytes", "bytes", is_log=True),
                Axis("passing", "share of events that pass"),
                ("summary",),
            ),
        ),
    ),
    Figure(
        "variants",
        "Virtual degrees and several neighbours",
        "Messages that the busiest broker handles, by what all brokers send for an event: the "
        "lower, the better spread; the more to the left, the shorter the searches.",
        "variants",
        (
            Panel(
                "events that a quarter of the brokers want",
                Axis("messages", "messages of an event"),
                Axis("busiest", "of them at the busiest broker"),
                ("variant", "topology"),
                is_joined=False,
            ),
        ),
    ),
    Figure(
        "beyond",
        "Larger overlays",
        "Real brokers in a simulation, on random graphs of mean degree 3. Summaries stay small, "
        "but the search visits many brokers one after the other, whoever wants the event.",
        "beyond",
        (
            *(
                Panel(
                    title,
                    Axis("brokers", "brokers", is_log=True),
                    Axis(column, "bytes", is_log=True),
                    ("approach",),
                    {"popularity": 0.01, "approach": ("summary", "covering, a tenth")},
                )
                for title, column in (
                    ("sent for subscriptions", "bytes"),
                    ("held by all", "storage"),
                    ("held by the largest broker", "largest"),
                )
            ),
            *(
                Panel(
                    f"{popularity:.0%} of the brokers want it",
                    Axis("brokers", "brokers", is_log=True),
                    Axis("messages", "messages of an event"),
                    ("approach",),
                    {"popularity": popularity},
                )
                for popularity in (0.0, 0.01, 0.1)
            ),
        ),
    ),
)
