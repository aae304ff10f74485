"""Figures 8 to 11 of the paper, and what it does not show: bytes, matching, what passes."""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Axis, Figure, Panel
from fyke.experiments.summaries.studies import POPULARITIES

_CWIX: Final = {"topology": "cwix", "model": "paper"}
_SIGMA: Final = Axis("sigma", "new subscriptions of a broker in a period", is_log=True)

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
        "Bytes of Siena by those of summaries on random graphs of 20 to 33 brokers and with other "
        "parameters. The paper calls the results similar.",
        "model",
        (
            Panel(
                "bytes at subsumption 0.5",
                _SIGMA,
                Axis("bytes", "bytes", is_log=True),
                ("approach", "model"),
                {"p": 0.5, "graph": 0, "topology": "random graph"},
            ),
        ),
    ),
    Figure(
        "bytes",
        "Real bytes of generated subscriptions",
        "A broker's subscriptions as text, compressed with zlib, and as an encoded summary. The "
        "model's sizes are not needed here.",
        "real",
        tuple(
            Panel(
                label,
                Axis("p", "probability of subsumption, per value"),
                Axis(column, "bytes", is_log=True),
                ("sigma",),
            )
            for label, column in (
                ("summary", "summary"),
                ("text compressed", "compressed"),
                ("summary of what none covers", "subsumed_summary"),
                ("sent in a period", "bytes"),
            )
        ),
    ),
    Figure(
        "matching",
        "Cost of matching",
        "Processor time of an event by the number of subscriptions. The paper says that summaries "
        "match significantly faster, and does not show it.",
        "matching",
        (
            Panel(
                "subsumption 0.5",
                Axis("subscriptions", "subscriptions", is_log=True),
                Axis("us", "µs per event", is_log=True),
                ("approach",),
                {"p": 0.5},
            ),
        ),
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
            Panel(
                "bytes of subscriptions",
                Axis("brokers", "brokers", is_log=True),
                Axis("bytes", "bytes sent", is_log=True),
                ("approach",),
                {"popularity": 0.01, "approach": ("summary", "covering, a tenth")},
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
