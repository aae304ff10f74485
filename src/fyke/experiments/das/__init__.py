"""DAS: Bittner, Hinze: Design and Analysis of an Efficient Distributed Event Notification Service.

| module | idea |
|---|---|
| `workload.py` | profiles owned by brokers, events in exact proportions |
| `deployment.py`, `metering.py` | an overlay with its profiles; what events do in it |
| `overlays.py`, `wording.py` | panels and questions that the figures share; numbers in words |
| `central.py` | figures 4 and 7: the central filter |
| `bus.py`, `portions.py`, `coverings.py` | figures 8 to 10, 14 to 16 |
| `brokers.py`, `event_types.py`, `locality.py`, `amounts.py` | figures 12, 13; 17, 18; 19, 20; 21 |
| `summary.py` | what holds in all of them |
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.das import (
    amounts,
    brokers,
    bus,
    central,
    coverings,
    event_types,
    locality,
    portions,
    summary,
)
from fyke.experiments.experiment import Claim, Figure, Paper

_PARTS: Final = (central, portions, brokers, coverings, event_types, locality, amounts)


def _place(figure: Figure) -> int:
    return int(figure.id) if figure.id.isdigit() else 0


def _number(claim: Claim) -> tuple[int, ...]:
    """DAS-E5.2 is 5, 2."""
    return tuple(map(int, claim.id.removeprefix("DAS-E").split(".")))


PAPER: Final = Paper(
    name="das",
    title="Design and Analysis of an Efficient Distributed Event Notification Service",
    summary="Three algorithms for filtering events at many brokers: profile forwarding (PF) sends "
    "profiles to all brokers, event forwarding (EF) sends events to all brokers, and with "
    "rendezvous nodes (RN) both meet at a broker.",
    studies=(
        *central.STUDIES,
        bus.STUDY,
        brokers.STUDY,
        event_types.STUDY,
        locality.STUDY,
        *amounts.STUDIES,
    ),
    figures=tuple(sorted((each for part in _PARTS for each in part.FIGURES), key=_place)),
    claims=tuple(
        sorted((each for part in (*_PARTS, summary) for each in part.CLAIMS), key=_number)
    ),
    notes=(
        "A broker's steps are the events it holds against its filters, the messages with events "
        "that it receives from and sends to brokers, and its notifications, one per profile. "
        "Efficiency is the number of events by the steps of the busiest broker: claims about time "
        "are judged by it. Events per second are measured: the events by the processor time "
        "of the slowest broker, all events waiting at their brokers before the first goes on; the "
        "CSV files have the wall time of the whole overlay (wall_s) as well.",
        "Brokers run under a virtual clock in one process, with the paper's filter (the engine "
        "`interval`). Their strategies are event_forwarding, subscription_forwarding and "
        "rendezvous.",
        "Network load counts messages with events between brokers, not the publication itself; "
        "the CSV files have it in bytes as well.",
        "The generator is inferred: each value of the one attribute belongs to a broker, which has "
        "sigma equal profiles for it; an event takes a subscribed value with the portion p_e, its "
        "publisher and its owner uniform. Proportions are dealt out exactly instead of drawn, so "
        "that closed forms hold to the last digit. With locality l, the owner is the publisher's "
        "broker with probability l, otherwise one of the others.",
        "At the paper's scale a point takes 2,000 events or more, sent three times, of which the "
        "median time is shown; 40 times 20,000 events show the stability, where the paper has "
        "450,000. Figures 17 and 18 have PF and EF for four numbers of types: they depend on none.",
        "Profiles are rounded down to a number that all brokers and types can share equally: "
        "199,998 for three brokers.",
        "The network of figure 11 is lost; reconstructed from what the text says of it: B1-B2, "
        "B2-B3, B2-B4, B2-B5, B1-B6, B1-B7, B3-B8, B3-B9, brokers added in the order of their "
        "numbers. B2 is the rendezvous node.",
        "Sigma counts the equal profiles of a group, itself included; coverings are equal profiles "
        "of one broker.",
        "Portions, sigmas and abscissas of the paper's figures are lost as well; where the text "
        "names none they were chosen.",
        "Parallel efficiency is not defined in the paper: efficiency of n brokers by n times that "
        "of one.",
        "Figure 4 counts pointers and words of 32 bits, which is what a pointer takes; figure 7 "
        "has events that fail at each attribute equally often.",
    ),
)
