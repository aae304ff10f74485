"""The paper's sentences, and what judges them."""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Claim
from fyke.experiments.summaries.judges import (
    at_popularity,
    beyond,
    both_beat,
    copies,
    elsewhere,
    faster,
    flat,
    hops_below_brokers,
    hops_independent,
    least_through,
    linear,
    links,
    load,
    model_saving,
    nobody,
    not_smaller,
    real_covering,
    real_saving,
    siena_like_baseline,
    siena_worst,
    similar,
    small_sigma,
    storage,
    storage_at_least,
    subsumptions,
    three_orders,
)

CLAIMS: Final = (
    Claim(
        "SUM-E1.a", "Both beat the baseline", "both our approach and Siena significantly "
        "outperform the baseline approach by orders of magnitude", ("8",), both_beat,
        "ten times less at every point, of each",
    ),
    Claim(
        "SUM-E1.b", "Better already at 1 % of S", "even for a value of σ that is a very small "
        "percentage of S (e.g., 1% of S) our approach is better than its competitors", ("8",),
        small_sigma, "summary < Siena < baseline at sigma = 10",
    ),
    Claim(
        "SUM-E1.c", "Four to eight times less than Siena", "we drastically outperform it (by a "
        "factor of 4 to 8 times)", ("8",), model_saving,
        "4 to 8 at every point, by subsumption",
    ),
    Claim(
        "SUM-E1.d", "Nearly flat", "scalability is very good, as evidenced by the nearly 'flat' "
        "lines", ("8",), flat, "at most linear in sigma",
        circular="the model of sizes is linear in sigma, with a constant part",
    ),
    Claim(
        "SUM-E1.e", "Three orders of magnitude", "our approach is up to three orders of magnitude "
        "better when compared to the baseline approach", ("8",), three_orders, "500 or more",
    ),
    Claim(
        "SUM-E2.a", "Fewer hops than brokers", "always requires a number of hops that is smaller "
        "than the number of brokers in the system", ("9", "similar"), hops_below_brokers,
        "on every graph; by the order (degree, id) it cannot be otherwise (SUM-Q9)",
        circular="a broker sends once, and the greatest never",
    ),
    Claim(
        "SUM-E2.b", "Hops do not depend on subsumption", "We note a significant difference in "
        "figure 9 between the two approaches", ("9",), hops_independent,
        "ours are constant, Siena's fall",
    ),
    Claim(
        "SUM-E2.c", "Siena's worst case", "each broker will receive the subscriptions of all "
        "others (for a total of 24 times 23 hops)", ("9",), siena_worst, "at subsumption 0",
        circular="nothing is subsumed at 0",
    ),
    *(
        Claim(
            f"SUM-E3.{letter}", f"Popularity {popularity:.0%}",
            "Our algorithm is shown to be better for event popularities up to 75%"
            if is_better
            else "For very highly popular events, Siena is better",
            ("10",), at_popularity(popularity, is_better),
            "messages of summaries against edges of the union of tree paths",
        )
        for letter, popularity, is_better in (
            ("a", 0.1, True), ("b", 0.25, True), ("c", 0.5, True), ("d", 0.75, True),
            ("e", 0.9, False), ("f", 1.0, False),
        )
    ),
    Claim(
        "SUM-E3.g", "Events that nobody wants", "the majority of events will not be so popular",
        ("10",), nobody,
    ),
    Claim(
        "SUM-E3.h", "Hops in three counts", "We count as one hop every message that is being sent "
        "from a broker to another", ("10",), links,
    ),
    Claim(
        "SUM-E3.i", "The same on other networks", "The results for configurations with the other "
        "parameter values are similar", ("10",), elsewhere,
        "on each random graph: fewer messages than tree edges at 25, 50 and 75 %",
    ),
    Claim(
        "SUM-E4.a", "Two to five times less storage", "Our approach outperforms Siena by about two "
        "to five times for subsumption probability equal to 10% and 90%", ("11",), storage,
    ),
    Claim(
        "SUM-E4.b", "At least two times less", "the storage requirements are smaller than Siena's "
        "by 2 to 5 times", ("11",), storage_at_least, "at least 2 everywhere",
    ),
    Claim(
        "SUM-E4.c", "Siena stores like the baseline", "for small subsumption probabilities, Siena "
        "requires almost the same storage space as the baseline approach", ("11",),
        siena_like_baseline, "three quarters or more, at 10 %",
    ),
    Claim(
        "SUM-E4.d", "With exact copies", "Subscription Storage Requirements", ("11",), copies,
    ),
    Claim(
        "SUM-E5.a", "Matching is linear", "the total computational time is O(N)", ("matching",),
        linear, "counted steps grow at most 1.3 times as fast as subscriptions",
        circular="an id stands in one list for each of its attributes; rows are no more than that",
    ),
    Claim(
        "SUM-E5.b", "Matching is faster", "significantly faster matching/filtering of events at "
        "each broker", ("matching",), faster,
        "Algorithm 1 against a scan of the subscriptions that no other covers, in counted steps",
    ),
    Claim(
        "SUM-S", "Similar elsewhere", "The results for configurations with the other parameter "
        "values are similar", ("similar",), similar, "Siena by summaries within a factor of 4",
    ),
    Claim(
        "SUM-Q12", "A summary is smaller than its subscriptions", "compacting subscription "
        "information", ("bytes",), not_smaller, "encoded, of the largest sigma",
    ),
    Claim(
        "SUM-Q13", "Real bytes against Siena", "outperforming the subsumption mechanism of Siena "
        "by a factor of four to eight", ("bytes",), real_saving,
        "4 to 8 at every point, by subsumption",
    ),
    Claim(
        "SUM-27", "Real covering", "subscription subsumption", ("bytes",), real_covering,
    ),
    Claim(
        "SUM-Q15", "Two probabilities", "Subscription Subsumption probability", ("bytes",),
        subsumptions,
        "a whole subscription is covered as often as a value: 0.1 more or less, at the largest "
        "sigma",
    ),
    Claim(
        "SUM-F1", "Virtual degrees and several neighbours", "virtual degrees", ("variants",), load,
    ),
    Claim("SUM-B", "Where it stops to pay", "large-scale systems", ("beyond",), beyond),
    Claim(
        "SUM-Q1", "What passes", "we can ensure the same complexity as competing approaches",
        ("passing",), least_through,
    ),
)  # fmt: skip
