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
        "20 years, 25 conferences and 10 authors (from the averages of stages 0, 1 and 3), and a "
        "second title for 26 % of the places (from 0.87). Predicted are the average of stage 2, "
        "all totals and sums, the match rates of brokers, and all of similarity and growth.",
        "How subscribers were placed for the table is not said. The paper's own algorithm (similar "
        "ones meet) gives loads far below it; subscribers at random brokers give the table.",
        "Brokers run under a virtual clock with the strategy `multistage`. A subscriber comes to a "
        "broker of the edge, drawn evenly, which asks for its place by messages, from the root on "
        "(MSF-22 to MSF-26); wildcards come first: the printed order sends them down before they "
        "can be attached. By locality it stays where it came to.",
        "The filters of a broker are the different ones in its table, for whichever children. All "
        "deliveries are held against the exact filters of all subscribers.",
        "Table, figure 7, growth and wildcards count as the paper does: a subscriber is a node of "
        "its own that gets what its broker's stage lets through. Figures joins to leases count all "
        "messages, joins, renewals and events from places to homes included; their claims were "
        "written before the numbers were seen.",
        "The detour is the way from the broker where a subscriber is attached to the one that it "
        "came to.",
    ),
)
