"""Leases: the cost of renewals while subscriptions come and go, and what they clear away."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Final

from fyke.experiments.experiment import (
    Axis,
    Claim,
    Figure,
    Finding,
    Panel,
    Parameters,
    Results,
    Study,
)
from fyke.experiments.multistage.placing import FAN_OUT, READERS
from fyke.experiments.multistage.readers import Readers, cost
from fyke.experiments.multistage.tree import CLASSES
from fyke.experiments.table import Row
from fyke.experiments.wording import values_of
from fyke.overlay.generators import hierarchy
from fyke.workloads.bibliography import BibliographyWorkload

PERIOD_S: Final = 60.0
_CHURN: Final = (0.0, 0.01, 0.1)
"""The share of all subscriptions that are replaced in a period."""
_PERIODS: Final = 5
_LEASED: Final = {"tiny": 100, "small": READERS, "paper": 10_000}
_GONE: Final = 0.1
"""The share of the brokers at the edge that stop for good."""


def _grid(scale: str) -> list[Parameters]:
    return [
        {"churn": churn, "readers": _LEASED[scale], "leases": leases}
        for churn in _CHURN
        for leases in (False, True)
    ]


def lease(parameters: Parameters, seed: int) -> list[Row]:
    """Return messages a period while subscriptions change, and rows left of brokers that stop."""
    workload, draw = BibliographyWorkload(seed), Random(f"leases {seed}")
    count, churn = parameters["readers"], parameters["churn"]
    lease_s = PERIOD_S if parameters["leases"] else None
    readers = Readers(
        hierarchy((FAN_OUT, FAN_OUT)), seed, "multistage", stages=CLASSES, lease_s=lease_s
    )
    filters = workload.filters(2 * count + 10)
    held = [f"r{number}" for number in range(count)]
    readers.subscribe(dict(zip(held, islice(filters, count), strict=True)))
    _pass(readers, 2)
    readers.forget()
    changed = 0
    for _ in range(_PERIODS):
        gone = draw.sample(held, round(churn * count))
        readers.unsubscribe(gone)
        came = {f"r{count + changed + at}": next(filters) for at in range(len(gone))}
        readers.subscribe(came)
        changed += len(gone)
        held = [each for each in held if each not in set(gone)] + list(came)
        _pass(readers, 1)
    messages = readers.control(readers.sent) / _PERIODS
    size = readers.control(readers.bytes) / _PERIODS
    stopped = draw.sample(readers.edge, round(_GONE * len(readers.edge)))
    for broker in stopped:
        readers.overlay.crash(broker)
    before = _rows_of(readers, stopped)
    _pass(readers, _PERIODS)
    return [
        {"leases": "leases" if parameters["leases"] else "none", "churn": 100 * churn,
         "readers": count, "messages": messages, "bytes": size, "renewals": readers.sent["Renew"],
         "rows_before": before, "rows_after": _rows_of(readers, stopped)}
    ]  # fmt: skip


def _pass(readers: Readers, periods: int) -> None:
    readers.overlay.run(until=readers.overlay.now + periods * PERIOD_S)


def _rows_of(readers: Readers, stopped: list[str]) -> int:
    """Return how many rows brokers hold for others that have stopped."""
    heard = (readers.strategy(name).tables()["heard"] for name in readers.overlay.running)
    return sum(len(known) for table in heard for side, known in table.items() if side in stopped)


STUDY: Final = Study("leases", lease, _grid, cost)


# --- claims ---------------------------------------------------------------------------------------


def _judge_renewals(results: Results) -> Finding:
    table, extra = results["leases"], {}
    for churn in table.values("churn"):
        pair = [table.one("messages", churn=churn, leases=each) for each in ("leases", "none")]
        extra[f"{churn:g} % replaced"] = pair[0] - pair[1]
    links = FAN_OUT + FAN_OUT * FAN_OUT
    said = values_of(extra, f"messages a period more with leases, on {links} links")
    return Finding(said, max(extra.values()) <= 1.1 * links)


def _judge_expiry(results: Results) -> Finding:
    table = results["leases"].where(churn=0.0)
    left = {each: table.one("rows_after", leases=each) for each in ("leases", "none")}
    before = table.one("rows_before", leases="leases")
    said = values_of(left, f"rows left of brokers that stopped; {before} before")
    return Finding(said, left["leases"] == 0 and left["none"] > 0)


FIGURES: Final = (
    Figure(
        "leases", "Leases and explicit ends",
        "Messages between brokers in a period, by the share of subscriptions that are replaced; "
        "rows that are left when a tenth of the brokers at the edge has stopped for good. Leases "
        "cost a message a link and period, and clear away what nobody ends.", "leases",
        (
            Panel("Messages", Axis("churn", "% replaced a period"),
                  Axis("messages", "messages a period"), ("leases",)),
            Panel("Left of what is gone", Axis("churn", "% replaced a period"),
                  Axis("rows_after", "rows"), ("leases",)),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("MSF-B7", "Leases cost one message a link and period.", "each node renews the validity "
          "of the filters which they submitted to their parents.", ("leases",), _judge_renewals,
          "Whatever changes meanwhile: at most a tenth more than there are links."),
    Claim("MSF-B8", "What stops for good is forgotten.", "The scheme is better suited than "
          "explicit unsubscription in some sense as it handles process failure", ("leases",),
          _judge_expiry, "A tenth of the brokers at the edge stops: no row is left of them after "
          "five periods; without leases, some are."),
)  # fmt: skip
