"""Steps of matching count from the first event on, over all lives; latencies are ranked exactly."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import event, given
from hypothesis import strategies as st

from fyke.nodes.node import Stats
from fyke.testing.stories.reaching import reached, reaches
from fyke.traces.metrics import summarize
from fyke.traces.trace import Delivered, Happened, Held, Told


def held(steps: int) -> Held:
    return Held(0.0, "b", Stats(probes=steps))


lives = st.lists(
    st.tuples(
        st.lists(st.one_of(st.integers(0, 9), st.none()), max_size=6),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@given(lives)
def test_matching_is_what_was_done_since_the_first_event_in_all_lives(lives):
    """A life is a list of steps, with None for an event; True where a crash ends it."""
    trace, steps, counted, is_counting = [], 0, 0, False
    for acts, is_crash in lives:
        for act in acts:
            if act is None:
                trace += [held(steps), Told(0.0, "b", "c", "Publish", "e")]
                is_counting = True
            else:
                steps += act
                counted += act if is_counting else 0
        trace.append(held(steps))
        if is_crash:
            trace += [Happened(0.0, "crashed", "b"), Happened(0.0, "restarted", "b")]
            steps = 0
    trace.append(held(steps))
    assert summarize(trace).brokers["b"].matching == counted
    event(f"{sum(is_crash for _, is_crash in lives)} crashes, counted: {counted > 0}")


counts = st.one_of(
    st.integers(1, 450),
    st.tuples(st.integers(1, 4), st.integers(-1, 1)).map(lambda at: 100 * at[0] + at[1]),
)
"""Of latencies; every other time around a hundred, where a rank changes."""


@reaches(border=0.01)
@given(counts, st.integers(0, 2**32), st.booleans())
def test_percentiles_are_the_nearest_ranks(count, seed, are_alike):
    """The 99th percentile is the smallest latency that 99 in 100 do not exceed."""
    latencies = Random(seed).choices(range(9 if are_alike else 10**9), k=count)
    trace = [Told(0.0, "b", "c", "Publish", "e")]
    trace += [Delivered(float(each), "b", "c", "e", ("s",)) for each in latencies]
    latency = summarize(trace).latency
    enough = Fraction(99, 100) * len(latencies)
    ranked = [each for each in latencies if sum(other <= each for other in latencies) >= enough]
    assert latency.p99_s == min(ranked)
    assert latency.max_s == max(latencies)
    ordered = sorted(latencies)
    half = len(ordered) // 2
    assert latency.median_s == (ordered[half] + ordered[-half - 1]) / 2
    reached(border=count % 100 == 0 and not are_alike)
