"""A list of effects is one transaction: all of it is safe before any of it is seen, or none."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

from fyke.nodes.effect import Accept, Store
from fyke.nodes.inputs import Received, Recovered, Stored
from fyke.nodes.message import Unsubscribe
from fyke.nodes.node import Stats
from fyke.overlay.topology import Topology
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Accepted

STORE_S = 1.0


class Clerk:
    """Keeps two records of all that it is told, and says so before, between and after them."""

    def __init__(self, *_) -> None:
        self.recovered = {}
        self.safe = []

    def handle(self, input, now):
        match input:
            case Received(sender, Unsubscribe(id)):
                first, second = (Store((id, part), Unsubscribe(id)) for part in ("one", "two"))
                said = [Accept(sender, about, id) for about in ("before", "between", "after")]
                return [said[0], first, said[1], second, said[2]]
            case Stored(key):
                self.safe.append(key)
            case Recovered(records):
                self.recovered = records
        return []

    def stats(self) -> Stats:
        return Stats()


@given(
    st.lists(st.floats(0, 4), min_size=1, max_size=5),
    st.floats(0, 8),
    st.floats(0, 2),
)
def test_a_transaction_is_safe_as_a_whole_or_not_at_all(times, crash, pause):
    """Whenever the node stops, and however many transactions wait for each other."""
    trace = []
    network = Network(store_s=STORE_S)
    overlay = Simulation(Topology.of([], ["b"]), Clerk, network=network, write=trace.append)
    overlay.attach("c", "b")
    for number, time in enumerate(times):
        overlay.say("c", Unsubscribe(str(number)), time)
    overlay.do(lambda: overlay.crash("b"), crash)
    overlay.run(until=crash)
    stopped = overlay.now
    first = set(trace_of(trace))
    order = sorted(range(len(times)), key=times.__getitem__)
    in_order = [(about, str(at)) for at in order for about in ("before", "between", "after")]
    assert trace_of(trace) == in_order[: len(first)], "what came later waits"
    overlay.do(lambda: overlay.restart("b"), stopped + pause)
    overlay.run(until=stopped + pause)
    recovered = set(overlay.node("b").recovered)
    whole = {str(number) for number in range(len(times))} & {id for id, _ in recovered}
    assert recovered == {(id, part) for id in whole for part in ("one", "two")}
    assert {id for about, id in first if about != "before"} == whole, "said, and not safe"
    assert {("after", id) for id in whole} <= first, "safe, and not said"
    event(f"{'some' if whole else 'nothing'} is safe, {len(times) - len(whole)} are not")
    overlay.run()
    later = {id for about, id in trace_of(trace) if about == "after"} - whole
    assert later == {str(at) for at, time in enumerate(times) if time > stopped + pause}
    assert {id for id, _ in overlay.node("b").safe} == later, "only the living are told"


def trace_of(trace):
    return [(each.about, each.id) for each in trace if isinstance(each, Accepted)]
