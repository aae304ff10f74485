"""MSF: Eugster, Felber, Guerraoui, Handurukande: Tradeoffs in Event Systems.

Inside:

    tree                    readers in a tree of stages, and what each node sees of events
    placing                 loads and match rates by stage, for every way to place readers
    growing                 readers and brokers that grow together; filters with wildcards
    readers                 readers at real brokers, whose messages are counted
    joins                   the placements as they run, with joins by messages
    strategies              beyond the paper: other strategies on the same tree, six stages
    orders, hot_year, leases
                            beyond the paper: orders of attributes, a hot year, what ends by itself
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Paper
from fyke.experiments.multistage import (
    growing,
    hot_year,
    joins,
    leases,
    orders,
    placing,
    strategies,
)

_PARTS: Final = (placing, growing, joins, strategies, orders, hot_year, leases)

PAPER: Final = Paper(
    name="multistage",
    title="Tradeoffs in Event Systems",
    summary="Multi-stage filtering: brokers form a tree, filters get weaker from the subscribers "
    "up to the root, and events travel down from it. Subscribers join where similar ones are.",
    studies=(
        placing.STUDY,
        *growing.STUDIES,
        joins.STUDY,
        *strategies.STUDIES,
        orders.STUDY,
        hot_year.STUDY,
        leases.STUDY,
    ),
    figures=tuple(figure for part in _PARTS for figure in part.FIGURES),
    claims=tuple(claim for part in _PARTS for claim in part.CLAIMS),
    terms=(
        ("load", "LC: the events that a node receives times the filters that it holds."),
        (
            "relative load",
            "RLC: the load by (all events times all subscriptions), which is the load of one "
            "server with all filters. Equal events and filters give equal numbers on any machine.",
        ),
        (
            "match rate",
            "MR: of the events that a node receives, those that one of its filters accepts.",
        ),
        ("stage", "0 is the subscriber, 1 the brokers at the edge, 3 the root."),
    ),
    notes=(
        "The tree is the paper's: a broker of stage 3, 10 of stage 2, 100 of stage 1. The filters "
        "of the stages are (year, conference, author, title), (year, conference, author), (year, "
        "conference) and (year). Events come in at the root.",
        "Fitted to the printed table, so that these numbers are no predictions: 1,000 subscribers, "
        "20 years, 25 conferences and 10 authors, and a second title for 26 % of the places. What "
        "follows from them is predicted: all averages and totals, and all of similarity.",
        "How subscribers were placed for the table is not said. The paper's own algorithm (similar "
        "ones meet) gives loads far below it; subscribers at random brokers give the table.",
        "Brokers run under a virtual clock with the strategy `multistage`. A subscriber is "
        "attached where its walk from the root ends (MSF-23 to MSF-26); wildcards come first: "
        "the printed order sends them down before they can be attached.",
        "The filters of a broker are the different ones in its table, for whichever children. All "
        "deliveries are held against the exact filters of all subscribers.",
        "Figures joins to leases run joins, attachments and leases as messages between brokers, "
        "and count all of them; their claims were written before the numbers were seen.",
        "Near: each subscriber has a nearest broker at the edge, drawn evenly. Locality attaches "
        "it there. The detour is the way from the broker where it is attached to the nearest.",
    ),
)
