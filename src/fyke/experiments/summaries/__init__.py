"""SUM: Triantafillou, Economides: Subscription Summarization.

Inside:

    model                   sizes and hops as the paper computes them, on any graph
    workload                subscriptions with table 1's parameters, really generated
    covering                real covering: what a source forwards
    passing, simulated      what passes; larger overlays, of real brokers
    studies                 what is run
    figures, claims, judges         what is shown, and what the paper says of it
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Paper
from fyke.experiments.summaries.claims import CLAIMS
from fyke.experiments.summaries.figures import FIGURES
from fyke.experiments.summaries.studies import STUDIES

PAPER: Final = Paper(
    name="summaries",
    title="Subscription Summarization: A New Paradigm for Efficient Publish/Subscribe Systems",
    summary="Brokers send each other short summaries of subscriptions instead of subscriptions; "
    "events search for the brokers that hold summaries of others.",
    studies=STUDIES,
    figures=FIGURES,
    claims=CLAIMS,
    terms=(
        (
            "subsumption",
            "the probability that a value lies in a row that is there already (summaries), or that "
            "a subscription is not forwarded to a neighbour (Siena). The paper has one number for "
            "both.",
        ),
        ("sigma", "new subscriptions of each broker in a period."),
        ("hop", "a message from one broker to another, whether they are neighbours or not."),
        ("popularity", "the share of brokers that want an event."),
    ),
    notes=(
        "The network of 24 brokers is the Topology Zoo's Cwix, which fits all that the text says "
        "of the Cable and Wireless backbone; random graphs have 20 to 33 brokers.",
        "Siena's messages are expectations, computed exactly: there is nothing to draw. Its trees "
        "are shortest paths from each source, its probability uses the degree in the overlay.",
        "Equal-degree neighbours send in the order of their ids, to greater ones only.",
        "Prechecked numbers are those of an independent computation on the same graph.",
    ),
)
