"""DAS: Bittner, Hinze: Design and Analysis of an Efficient Distributed Event Notification Service.

Inside:

    workload                profiles owned by brokers, events in exact proportions
    deployment, metering    an overlay with its profiles; what events do in it
    judging                 claims about time: judged by steps and by time
    overlays                one grid and one run for all overlays; the panels of their figures
    classification          Table 1: all seventeen algorithms
    broker_work             the work of each broker, by counter
    central                 figures 4 and 7: the central filter
    bus, portions, coverings
                            figures 8 to 10, 14 to 16
    brokers, event_types, locality, amounts
                            figures 12, 13; 17, 18; 19, 20; 21
    summary                 what holds in all of them
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.das import (
    amounts,
    broker_work,
    brokers,
    bus,
    central,
    classification,
    coverings,
    event_types,
    locality,
    portions,
    summary,
)
from fyke.experiments.experiment import Claim, Figure, Paper

_PARTS: Final = (
    *(classification, amounts, broker_work, central, portions, brokers, coverings, event_types),
    locality,
)


def _place(figure: Figure) -> int:
    return int(figure.id) if figure.id.isdigit() else 0


def _number(claim: Claim) -> tuple[str, tuple[int, ...]]:
    """Return the letter and the numbers of a tag: DAS-E5.2 is E, (5, 2)."""
    name = claim.id.removeprefix("DAS-")
    return name[0], tuple(map(int, name[1:].split(".")))


PAPER: Final = Paper(
    name="das",
    title="Design and Analysis of an Efficient Distributed Event Notification Service",
    summary="Three algorithms for filtering events at many brokers: profile forwarding (PF) sends "
    "profiles to all brokers, event forwarding (EF) sends events to all brokers, and with "
    "rendezvous nodes (RN) both meet at a broker.",
    studies=(
        classification.STUDY,
        *central.STUDIES,
        broker_work.STUDY,
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
    terms=(
        (
            "step",
            "an event that a broker holds against its filters, a message with an event that it "
            "receives from or sends to a broker, or a notification, one per profile; each weighs "
            "the same. Equal events take equal steps on any machine.",
        ),
        (
            "efficiency by steps",
            "the number of events by the steps of the busiest broker, because all brokers work at "
            "the same time.",
        ),
        (
            "efficiency by time",
            "the number of events by the processor time of the broker that took longest: what the "
            "paper measures, on this machine. Bars are the slowest and the fastest repeat.",
        ),
        (
            "verdict",
            "of a claim about time, there are two, by steps and by time, with reasons where they "
            "disagree. In all it is that by time, in which the paper speaks, where time decides, "
            "and that by steps otherwise. The column “paper” has the paper's words; how they are "
            "read, limits included, is ours.",
        ),
    ),
    notes=(
        "Two numbers that were measured are told apart where the ranges of their repeats do not "
        "overlap and one is at least 10 % more. A sentence about many points fails with one that "
        "clearly contradicts it, and holds where at least half of the points tell. All limits are "
        "ours; each claim names those that it is judged by.",
        "Time is the processor time that brokers spend with events; encoding and decoding "
        "messages, which the simulation leaves out, is not in it. All events wait at their brokers "
        "before the first goes on. The CSV files have the wall time of the whole overlay (wall_s) "
        "as well.",
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
        "A point takes 2,000 events or more, sent three times; the median is shown, with the "
        "slowest and the fastest. At the paper's scale 40 times 20,000 events show the stability, "
        "where the paper has 450,000. Figures 17 and 18 have PF and EF for four numbers of types.",
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
        "Figure 4 counts pointers and words of 32 bits, which is what a pointer takes, where the "
        "intersection looks at them; figure 7 has events that fail at each attribute equally "
        "often, as the paper assumes.",
    ),
)
