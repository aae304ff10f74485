"""PRU: Bittner, Hinze: Pruning Subscriptions in Distributed Publish/Subscribe Systems.

Inside:

    settings                the four settings: figures 6 to 9, Table 2, bytes, shared predicates
    annotation              figure 5: the selectivity of every node
    claims                  what the paper says about the settings
    replacing               replacement against pruning
    comparing               pruning, covering and merging on the same subscriptions
    orders                  by accuracy, by bytes, and a bound of any order
    aging                   statistics of yesterday
    overlays                brokers with little memory
    millions                a million subscriptions by the plan of a few
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Paper
from fyke.experiments.pruning import (
    aging,
    annotation,
    claims,
    comparing,
    millions,
    orders,
    overlays,
    replacing,
    settings,
)

_PARTS: Final = (replacing, comparing, orders, aging, overlays, millions)

PAPER: Final = Paper(
    name="pruning",
    title="Pruning Subscriptions in Distributed Publish/Subscribe Systems",
    summary="When tables outgrow memory, brokers generalise the subscriptions that cost least in "
    "extra traffic, by removing parts of their trees.",
    studies=(annotation.STUDY, settings.STUDY, *(part.STUDY for part in _PARTS)),
    figures=(
        *(*annotation.FIGURES, *settings.FIGURES),
        *(figure for part in _PARTS for figure in part.FIGURES),
    ),
    claims=(
        *(*annotation.CLAIMS, *claims.CLAIMS),
        *(claim for part in _PARTS for claim in part.CLAIMS),
    ),
    terms=(
        ("pruning", "the removal of a child of a conjunction; the rest of the tree collapses."),
        (
            "total selectivity",
            "the fraction of events that match at least one subscription: what is forwarded.",
        ),
        (
            "bend",
            "the pruning at which the total selectivity lies deepest below the chord from its "
            "first to its last value. The paper does not say how it finds its sharp bend.",
        ),
    ),
    notes=(
        "The paper's data, eBay auctions of one day, are not published. Ours are drawn: 22 "
        "categories of uneven size; condition, cover and signed drawn together by category; price, "
        "bids and buy-it-now by category. Absolute selectivities are therefore not comparable.",
        "Titles are skewed, or equally popular. The paper does not say how titles were sampled. "
        "Where all are equally popular, structure alone decides where classes 1 and 2 bend.",
        "Predicates are counted on 100,000 events and prunings measured on 1,000,000 others at the "
        "paper's scale, after every single pruning: an event leaves with the first version of any "
        "subscription that accepts it.",
        "Ties of the estimated degradation go to the fewest predicates, then to the first place in "
        "the tree, then to the first id.",
    ),
)
