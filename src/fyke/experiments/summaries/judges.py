"""Judges of the paper's sentences: what is computed, and when it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from fyke.errors import FykeError
from fyke.experiments.experiment import Finding, Results
from fyke.experiments.judges import falls
from fyke.experiments.summaries.studies import SUBSUMPTIONS
from fyke.experiments.table import Row, Table, Wanted
from fyke.sizes import written_size

_PRECHECK: Final = {0.1: 5.8, 0.25: 11.9, 0.5: 17.0, 0.75: 20.4, 0.9: 22.2, 1.0: 23.0}
_PRECHECK_SUMMARY: Final = {0.1: 7.9, 0.25: 10.6, 0.5: 14.8, 0.75: 18.9, 0.9: 21.6, 1.0: 23.0}


def _rows(results: Results, study: str, **where: Wanted) -> Table:
    """Return rows of a study; FykeError if there are none, so that no claim holds of nothing."""
    found = results[study].where(**where)
    if not found:
        raise FykeError(f"there are no rows of {study}")
    return found


def _cwix(results: Results) -> Table:
    return _rows(results, "model", topology="cwix", model="paper")


def _ratios(
    rows: Table, column: str, over: str, under: str = "summary"
) -> dict[float, list[float]]:
    """Return one approach by another, by subsumption and ascending sigma."""
    return {
        p: [
            above / below
            for above, below in zip(
                rows.curve("sigma", column, approach=over, p=p),
                rows.curve("sigma", column, approach=under, p=p),
                strict=True,
            )
        ]
        for p in SUBSUMPTIONS
    }


def _said(ratios: dict[float, list[float]]) -> str:
    return ", ".join(f"{min(each):.1f} to {max(each):.1f} at {p:g}" for p, each in ratios.items())


def both_beat(results: Results) -> Finding:
    rows = _cwix(results)
    names = {"Siena": "siena", "summaries": "summary"}
    worst = {
        name: min(map(min, _ratios(rows, "bytes", "baseline", under).values()))
        for name, under in names.items()
    }
    by = {name: least >= 10 for name, least in worst.items()}
    said = ", ".join(f"{least:.1f} x of {name}" for name, least in worst.items())
    why = "" if all(by.values()) else "where little is subsumed, Siena saves a factor and no order"
    return Finding(f"the baseline sends at least {said}", all(by.values()), why, dict(by))


def small_sigma(results: Results) -> Finding:
    rows = _cwix(results).where(sigma=10)
    by = {p: [rows.one("bytes", approach=each, p=p) for each in _ORDER] for p in SUBSUMPTIONS}
    holds = all(one < two < three for one, two, three in by.values())
    return Finding("; ".join(f"{p:g}: {_numbers(each)}" for p, each in by.items()), holds)


_ORDER: Final = ("summary", "siena", "baseline")


def _numbers(values: list[float]) -> str:
    return " < ".join(f"{each:,.0f}" for each in values)


def _four_to_eight(ratios: dict[float, list[float]], why: str) -> Finding:
    """Hold the paper's factor against ours, by subsumption and in all."""
    by = {f"{p:g}": all(4 <= each <= 8 for each in some) for p, some in ratios.items()}
    return Finding(_said(ratios), all(by.values()), "" if all(by.values()) else why, dict(by))


def model_saving(results: Results) -> Finding:
    found = _four_to_eight(
        _ratios(_cwix(results), "bytes", "siena"),
        "at low subsumption the savings are larger; at 0.9 and small sigma a little smaller",
    )
    return replace(found, ours=f"{found.ours}; prechecked 12.4 to 13.3 ... 3.8 to 4.5")


def flat(results: Results) -> Finding:
    rows = _cwix(results)
    growth = []
    for p in SUBSUMPTIONS:
        curve = rows.curve("sigma", "bytes", approach="summary", p=p)
        sigmas = rows.where(approach="summary", p=p).values("sigma")
        growth.append((curve[-1] / curve[0]) / (sigmas[-1] / sigmas[0]))
    return Finding(
        f"bytes grow {min(growth):.2f} to {max(growth):.2f} times as much as sigma",
        max(growth) <= 1.01,
        "linear in sigma: nearly flat only beside a logarithmic axis",
    )


def three_orders(results: Results) -> Finding:
    ratios = _ratios(_cwix(results), "bytes", "baseline")
    most = max(map(max, ratios.values()))
    why = "the stated parameters give two orders at most: ids alone are 4 x 5 bytes of 50 (SUM-Q13)"
    return Finding(f"{_said(ratios)}; prechecked 55 to 134", most >= 500, why)


def hops_below_brokers(results: Results) -> Finding:
    rows = _rows(results, "model", model="paper", approach="summary", sigma=10)
    pairs = sorted({(row["topology"], row["graph"], row["hops"], row["brokers"]) for row in rows})
    said = ", ".join(f"{hops} of {brokers}" for _, _, hops, brokers in pairs)
    return Finding(f"{said} brokers; prechecked 19 of 24", all(h < n for _, _, h, n in pairs))


def hops_independent(results: Results) -> Finding:
    rows = _cwix(results).where(sigma=10)
    ours = set(rows.where(approach="summary").column("hops"))
    theirs = rows.curve("p", "hops", approach="siena")
    said = ", ".join(f"{each:.0f}" for each in theirs)
    return Finding(
        f"summaries {ours}, Siena {said}; prechecked 447.5, 322, 185, 100, 66",
        len(ours) == 1 and falls(theirs) is True,
    )


def siena_worst(results: Results) -> Finding:
    hops = _cwix(results).one("hops", approach="siena", p=0.0, sigma=10)
    return Finding(f"{hops:.0f} messages", hops == 24 * 23)


def at_popularity(popularity: float, is_better: bool) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        rows = _rows(results, "events", topology="cwix", popularity=popularity)
        ours, tree, unicast = (
            rows.one("hops", approach=each)
            for each in ("summary", "siena, tree edges", "siena, unicast")
        )
        said = f"{ours:.1f} against {tree:.1f} tree edges and {unicast:.1f} by unicast"
        known = f"; prechecked {_PRECHECK_SUMMARY[popularity]} and {_PRECHECK[popularity]}"
        holds = ours < tree if is_better else tree < ours
        return Finding(said + known, holds, "" if holds else _WHY[popularity])

    return judge


_WHY: Final = {
    0.1: "the search alone takes 6.5 messages; few ends are nearer than that by a tree (SUM-Q14)",
    0.25: "",
    0.5: "",
    0.75: "",
    0.9: "both reach nearly everybody; a tree has no fewer edges than brokers it reaches",
    1.0: "both take one message for each other broker, 23",
}


def elsewhere(results: Results) -> Finding:
    rows = _rows(results, "events", topology="random graph")
    shares = (0.25, 0.5, 0.75)
    by, said = {}, []
    for number in rows.values("graph"):
        some = rows.where(graph=number)
        pairs = [
            [some.one("hops", popularity=share, approach=name) for share in shares]
            for name in ("summary", "siena, tree edges")
        ]
        by[f"graph {number}"] = all(one < other for one, other in zip(*pairs, strict=True))
        said.append(" and ".join("/".join(f"{each:.1f}" for each in some) for some in pairs))
    why = "" if all(by.values()) else "searches are longer where degrees are more alike"
    return Finding("; ".join(said), all(by.values()), why, dict(by))


def nobody(results: Results) -> Finding:
    ours = _rows(results, "events").one("hops", topology="cwix", popularity=0.0, approach="summary")
    return Finding(
        f"{ours:.1f} messages; Siena none",
        None,
        "an event that nobody wants still searches, and the paper counts no such events",
    )


def links(results: Results) -> Finding:
    rows = _rows(results, "events", topology="cwix", approach="summary")
    said = ", ".join(
        f"{row['popularity']:.0%}: {row['summary']:.1f} messages, {row['links']:.1f} links, "
        f"{row['searches']:.1f} in sequence"
        for row in rows
    )
    return Finding(said, None, "straight messages of brokers that are no neighbours cross links")


def storage(results: Results) -> Finding:
    ratios = _ratios(_cwix(results), "storage", "siena")
    inside = all(2 <= each <= 5 for each in ratios[0.9])
    low = all(2 <= each <= 5 for each in ratios[0.1])
    why = "at 10 % subsumption summaries save more than the paper says"
    said = f"{_said(ratios)}; prechecked 7.5 to 7.9 ... 3.1 to 3.4"
    return Finding(said, inside and low, "" if low else why)


def storage_at_least(results: Results) -> Finding:
    ratios = _ratios(_cwix(results), "storage", "siena")
    return Finding(_said(ratios), min(map(min, ratios.values())) >= 2)


def siena_like_baseline(results: Results) -> Finding:
    rows = _cwix(results)
    shares = [
        siena / baseline
        for siena, baseline in zip(
            rows.curve("sigma", "storage", approach="siena", p=0.1),
            rows.curve("sigma", "storage", approach="baseline", p=0.1),
            strict=True,
        )
    ]
    return Finding(f"{min(shares):.0%} of the baseline at 10 %", min(shares) >= 0.75)


def copies(results: Results) -> Finding:
    rows = _cwix(results).where(approach="summary", sigma=100)
    shares = [
        row["storage_with_copies"] / row["storage"] for row in rows if row["p"] in SUBSUMPTIONS
    ]
    return Finding(
        f"{min(shares):.2f} to {max(shares):.2f} times as much with the owners' exact copies",
        None,
        "the paper never mentions that owners have to check events exactly (SUM-15)",
    )


def similar(results: Results) -> Finding:
    rows = _rows(results, "model", p=0.5, sigma=100)
    least, most = 1e9, 0.0
    for row in rows.where(approach="summary"):
        same = {key: row[key] for key in ("topology", "graph", "model")}
        ratio = rows.one("bytes", approach="siena", **same) / row["bytes"]
        least, most = min(least, ratio), max(most, ratio)
    return Finding(
        f"Siena sends {least:.1f} to {most:.1f} x the bytes, over all graphs and parameters",
        least > 2 and most / least < 4,
    )


def not_smaller(results: Results) -> Finding:
    rows = _rows(results, "real")
    said, shares = [], []
    for row in rows.sort("p"):
        if row["sigma"] == max(rows.values("sigma")):
            shares.append(row["summary"] / row["text"])
            said.append(f"{shares[-1]:.2f} of the text at {row['p']:g}")
    return Finding(
        ", ".join(said),
        max(shares) < 1,
        "by the model a summary has 54 bytes of ids and values for 50 of text at 0.1 (SUM-Q12); "
        "encoded, boxes stand for ids",
    )


def real_saving(results: Results) -> Finding:
    rows = _rows(results, "real")
    ratios = {
        p: [row["siena_bytes"] / row["bytes"] for row in rows.where(p=p)] for p in rows.values("p")
    }
    return _four_to_eight(
        ratios, "texts are longer than 50 bytes, and encoded summaries smaller than the model's"
    )


def real_covering(results: Results) -> Finding:
    rows = _rows(results, "real").sort("p")
    largest = max(rows.values("sigma"))
    shares = [row["covering_bytes"] / row["siena_bytes"] for row in rows.where(sigma=largest)]
    saved = [row["covering_bytes"] / row["bytes"] for row in rows.where(sigma=largest)]
    left = [1 - row["subsumed_summary"] / row["summary"] for row in rows.where(sigma=largest)]
    return Finding(
        f"real covering sends {min(shares):.1f} to {max(shares):.1f} x what the probabilities say, "
        f"{min(saved):.0f} to {max(saved):.0f} x the summaries; left out of a summary, what is "
        f"covered saves {min(left):.0%} to {max(left):.0%} more of it (SUM-F3)",
        None,
        "the paper simulates Siena by probabilities; whole subscriptions cover each other rarely",
    )


def subsumptions(results: Results) -> Finding:
    rows = _rows(results, "real")
    some = rows.where(sigma=max(rows.values("sigma"))).sort("p")
    said = ", ".join(
        f"{row['p']:g}: {row['inside']:.0%} lie in ranges and prefixes with all values, "
        f"{row['covered']:.1%} are covered"
        for row in some
    )
    why = "the model uses one probability for both: per value here, per subscription there"
    by = {f"{row['p']:g}": abs(row["covered"] - row["p"]) <= 0.1 for row in some}
    return Finding(said, all(by.values()), "" if all(by.values()) else why, dict(by))


def linear(results: Results) -> Finding:
    rows = _rows(results, "matching", approach="matcher")
    growth = []
    for p in rows.values("p"):
        for column in ("t1_sum", "t2"):
            curve = rows.curve("subscriptions", column, p=p)
            counts = rows.where(p=p).values("subscriptions")
            growth.append((curve[-1] / curve[0]) / (counts[-1] / counts[0]))
    product = [row["t1_product"] / row["t1_sum"] for row in rows]
    return Finding(
        f"steps grow {min(growth):.2f} to {max(growth):.2f} times as much as subscriptions; the "
        f"printed product is {min(product):.1f} to {max(product):.1f} x the sum (SUM-Q11)",
        max(growth) < 1.3,
    )


def faster(results: Results) -> Finding:
    rows = _rows(results, "matching")
    largest = max(rows.values("subscriptions"))
    some = rows.where(subscriptions=largest)
    by = {
        name: [row["us"] for row in some.where(approach=name)] for name in some.values("approach")
    }
    times = ", ".join(f"{name} {min(us):,.0f} to {max(us):,.0f} µs" for name, us in by.items())
    counted = {
        row["p"]: (row["t1_sum"] + row["t2"], row["table_steps"])
        for row in some.where(approach="matcher")
    }
    holds = {f"{p:g}": ours < theirs for p, (ours, theirs) in counted.items()}
    said = ", ".join(
        f"{ours:,.0f} steps against {theirs:,.0f} at {p:g}" for p, (ours, theirs) in counted.items()
    )
    why = "its steps count all rows and ids, a table stops at the first predicate that fails"
    is_held = all(holds.values())
    return Finding(
        f"{largest:,} subscriptions: {said}; {times}", is_held, "" if is_held else why, dict(holds)
    )


def least_through(results: Results) -> Finding:
    rows = _rows(results, "passing")
    by = {(row["summary"], row["bytes"]): row["passing"] for row in rows.sort("bytes")}
    said = ", ".join(f"{name} of {size:,} B {share:.0%}" for (name, size), share in by.items())
    matching = rows.column("matching")[0]
    return Finding(f"{said}; {matching:.0%} match", None, "the paper does not look at it")


def beyond(results: Results) -> Finding:
    rows = _rows(results, "beyond", popularity=0.01)
    said, shares, evens = [], [], []
    for count in rows.values("brokers"):
        some = rows.where(brokers=count)
        ours = next(iter(some.where(approach="summary")))
        theirs = next(iter(some.where(approach="covering, a tenth")))
        shares.append(ours["searches"] / count)
        evens.append(_even(ours, theirs))
        sent, held, largest = (written_size(ours[key]) for key in ("bytes", "storage", "largest"))
        said.append(
            f"{count:,} brokers, {ours['subscriptions']:,} subscriptions: {sent} in "
            f"{ours['hops']:,} messages, {held} held, {largest} at the largest; an event "
            f"{ours['messages']:.0f} messages, {ours['searches']:.0f} of them one after the other, "
            f"against {theirs['messages']:.0f}; pays up to {evens[-1]:,.2g} events a subscription"
        )
    why = (
        f"the search visits {min(shares):.0%} to {max(shares):.0%} of the brokers one after the "
        "other, even if nobody wants the event. What summaries save of covering's bytes, events "
        f"have used up after {min(evens):,.2g} to {max(evens):,.2g} of them for each subscription"
    )
    return Finding("; ".join(said), None, why)


def _even(ours: Row, theirs: Row) -> float:
    """Return at how many events for each subscription summaries and covering send equal bytes.

    Covering was computed for a tenth of the subscriptions; they hardly cover each other, so all of
    them send ten times as much.
    """
    saved = 10 * theirs["bytes"] - ours["bytes"]
    return float(saved / (ours["event_bytes"] - theirs["event_bytes"]) / ours["subscriptions"])


def load(results: Results) -> Finding:
    rows = _rows(results, "variants", topology="cwix")
    said = ", ".join(
        f"{row['variant']}: {row['hops']} messages of summaries, {row['searches']:.1f} searches, "
        f"{row['messages']:.1f} messages an event, busiest {row['busiest']:.2f}"
        for row in rows
    )
    return Finding(said, None, "virtual degrees are future work in the paper")
