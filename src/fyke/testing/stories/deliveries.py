"""Deliveries: what clients get and what they are refused, held against the model of a story.

Laws. Always, Reached and Amid faults of `strategy`: a client gets an event at most once, for live
subscriptions of its own that accept it; it gets every event that must reach it; what has to be
refused is refused, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from fyke.testing.stories.model import Model, Said
from fyke.testing.stories.overlays import LATENCY_S
from fyke.traces.trace import Delivered, Record, Rejected, Sent

STORES: Final = 1_000
"""Writes that may wait for each other on a disk."""


class Deliveries:
    """Checks what the trace shows since the overlay settled last."""

    def __init__(self, model: Model, settles_s: float, checked: Counter[str]) -> None:
        self._model = model
        self._settles_s = settles_s
        self._checked = checked
        self._got: dict[tuple[str, str], tuple[str, ...]] = {}
        """Subscriptions by client and event."""
        self._refused: Counter[tuple[str, str]] = Counter()

    def expect_refusal(self, client: str, kind: str) -> None:
        """Expect a refusal of what a client says next."""
        self._refused[client, kind] += 1

    def check(self, trace: Iterable[Record]) -> None:
        """Check the trace of an overlay that has settled, and begin anew."""
        refused: Counter[tuple[str, str]] = Counter()
        reasons = []
        for record in trace:
            if isinstance(record, Delivered):
                self._check_delivered(record)
            elif isinstance(record, Rejected) and record.about not in ("Declare", "Switch"):
                refused[record.to, record.about] += 1
                reasons.append(record.reason)
            elif self._ends_change(record):
                self._model.strategy = None
        expected = +self._refused
        assert refused == expected, f"refused are {refused}, not {expected}: {reasons}"
        self._checked["refused"] += refused.total()
        for id, said in self._model.said.items():
            self._check_reached(id, said)
        self._refused.clear()
        self._got.clear()

    def _ends_change(self, record: Record) -> bool:
        """Return True if the overlay may have another strategy than it was told to change to.

        It may weigh on its own, or refuse a change late.
        """
        if isinstance(record, Sent):
            return record.kind == "Poll"
        is_refusal = isinstance(record, Rejected) and record.about == "Switch"
        return is_refusal and bool(self._model.place.store_s)

    def _check_delivered(self, got: Delivered) -> None:
        what = f"{got.client} gets {got.id} for {', '.join(got.subscriptions)}"
        assert (got.client, got.id) not in self._got, f"{what}, for the second time"
        assert got.id in self._model.said, f"{what}, which is long over"
        assert got.subscriptions, f"{what} no subscription"
        assert len(set(got.subscriptions)) == len(got.subscriptions), f"{what}: one is twice"
        self._got[got.client, got.id] = got.subscriptions
        event = self._model.said[got.id].event
        slack = self._model.place.store_s * STORES
        for id in got.subscriptions:
            own = [w for w in self._model.wishes if (w.client, w.id) == (got.client, id)]
            assert own, f"{what}: {id} is not its own"
            live = [wish for wish in own if wish.since <= got.t <= wish.until + slack]
            assert live, f"{what}: {id} is not live"
            assert any(wish.filter.matches(event) for wish in live), f"{what}: {id} refuses it"

    def _check_reached(self, id: str, said: Said) -> None:
        """Raise AssertionError if a client does not get an event, whatever is broken elsewhere."""
        distance = self._model.topology.distances(said.at)
        for wish in self._model.wanting(said.event):
            if wish.home not in said.reached:
                continue
            travels = (distance[wish.home] + 0.001) * LATENCY_S
            arrives = wish.since + travels + self._settles_s
            is_timely = said.is_calm and self._model.place.is_even and arrives < said.time
            if not is_timely and not wish.is_settled:
                continue
            self._checked["reached" if said.is_calm else "reached amid faults"] += 1
            assert wish.id in self._got.get((wish.client, id), ()), (
                f"{wish.client} of {wish.home} does not get {id} from {said.at} "
                f"for {wish.id}: {wish.filter}"
            )
