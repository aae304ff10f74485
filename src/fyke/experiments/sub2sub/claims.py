"""The sentences of the paper, judged by the rows of the figures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from statistics import fmean
from typing import Final

import numpy as np

from fyke.experiments.experiment import Claim, Finding, Results
from fyke.experiments.sub2sub.overlay import MAIN, SETTINGS
from fyke.experiments.table import Table

_TELLING: Final = 100
"""Deliveries of which a mean says something."""


def _setting(results: Results, kind: str, setting: tuple[int, str] = MAIN) -> Table:
    return results["overlay"].where(kind=kind, attributes=setting[0], interest=setting[1])


def _rings(results: Results, setting: tuple[int, str]) -> tuple[list[float], int | None]:
    """Return the share of complete rings by cycle, as long as the paper looks; and the first cycle
    in which all are complete.
    """
    rows = _setting(results, "cycle", setting)
    first = [row["cycle"] for row in rows if row["rings"] == 100]
    return rows.where(is_late=False).curve("cycle", "rings"), min(first, default=None)


def _judge_complete(setting: tuple[int, str]) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        rings, first = _rings(results, setting)
        when = f"all after {first} cycles" if first else "not all"
        ours = f"{rings[-1]:.2f} % of the rings after {len(rings)} cycles; {when}"
        why = "" if rings[-1] == 100 else "The last rings wait for two peers to hear of each other."
        return Finding(ours, rings[-1] == 100, why)

    return judge


def _judge_growth(results: Results) -> Finding:
    drops = []
    for setting in SETTINGS:
        links = _setting(results, "cycle", setting).curve("cycle", "links")
        drops += [best - now for best, now in zip(accumulate(links, max), links, strict=True)]
    holds = max(drops) < 0.5
    why = "" if holds else "A link is given up before a better one is known to both."
    return Finding(f"at most {max(drops):.2f} points below an earlier cycle", holds, why)


def _judge_early(results: Results) -> Finding:
    spread = _setting(results, "spread")
    first = next((row["cycle"] for row in spread.sort("cycle") if row["complete"] == 100), None)
    _, all_rings = _rings(results, MAIN)
    ours = f"all disseminations complete in cycle {first}, all rings in cycle {all_rings}"
    return Finding(ours, first is not None and (all_rings is None or first <= all_rings))


def _judge_long(results: Results) -> Finding:
    lengths, peers = _lengths(results, MAIN)
    ours = f"{min(lengths)} to {max(lengths)} of {peers:,} peers"
    if peers != 10_000:
        return Finding(ours, None, "Lengths grow with the peers; the paper has 10,000.")
    return Finding(ours, min(lengths) <= 4 and 190 <= max(lengths) <= 300)


def _judge_short(results: Results) -> Finding:
    lengths, _ = _lengths(results, (5, "power_law"))
    middle = float(np.median(lengths))
    return Finding(f"median {middle:g}, longest {max(lengths)}", middle <= 3)


def _lengths(results: Results, setting: tuple[int, str]) -> tuple[list[int], int]:
    rows = _setting(results, "length", setting)
    return [row["length"] for row in rows for _ in range(row["events"])], rows.column("peers")[0]


def _judge_logarithm(results: Results) -> Finding:
    rows = _setting(results, "hops").where(shortcuts=1)
    errors = {
        name: _error(rows, grows) for name, grows in (("logarithm", np.log2), ("line", np.asarray))
    }
    ours = "; ".join(f"error of a {name} {error:.3f}" for name, error in errors.items())
    holds = errors["logarithm"] < errors["line"]
    return Finding(f"{ours} hops", holds, "" if holds else "Rings are too short to tell.")


def _error(rows: Table, grows: Callable[[np.ndarray], np.ndarray]) -> float:
    lengths, hops = (np.array(rows.column(name), float) for name in ("length", "hops"))
    weights = np.sqrt(np.array(rows.column("events"), float))
    x = grows(lengths)
    fit = np.polyval(np.polyfit(x, hops, 1, w=weights), x)
    return float(np.sqrt(np.average((fit - hops) ** 2, weights=weights**2)))


def _judge_half(results: Results) -> Finding:
    rows = _setting(results, "hops").where(shortcuts=0).keep(lambda row: row["length"] >= 4)
    ratios = [row["hops"] / (row["length"] / 2) for row in rows]
    return Finding(f"hops by half the ring: {min(ratios):.2f} to {max(ratios):.2f}",
                   min(ratios) >= 0.6 and max(ratios) <= 1.01)  # fmt: skip


def _judge_publishers(results: Results) -> Finding:
    parts, holds = [], True
    for answers in ("layers 1 and 2", "all layers"):
        rows = _setting(results, "join").where(who="publishers", answers=answers)
        late = sum(row["joins"] for row in rows if row["cycles"] > 5)
        parts.append(f"{answers}: {max(rows.column('cycles'))} at most, {late} later than 5")
        holds = holds and late == 0
    why = "" if holds else "With answers from layers 1 and 2 alone a search can turn in circles."
    return Finding("; ".join(parts), holds, why)


def _judge_slower(results: Results) -> Finding:
    means = {}
    for who in ("publishers", "subscribers"):
        rows = _setting(results, "join").where(who=who, answers="layers 1 and 2")
        total = sum(rows.column("joins"))
        means[who] = sum(row["cycles"] * row["joins"] for row in rows) / total
    ours = ", ".join(f"{who} {mean:.1f} cycles" for who, mean in means.items())
    return Finding(f"{ours} on average", means["publishers"] < means["subscribers"])


def _load(results: Results, name: str) -> float:
    return float(_setting(results, "load").one(name))


def _judge_spam(results: Results) -> Finding:
    spam = _load(results, "spam")
    return Finding(f"{spam:g} of {_load(results, 'deliveries'):,.0f} deliveries", spam == 0)


def _judge_sends(results: Results) -> Finding:
    most = _load(results, "sends_max")
    return Finding(f"at most {most:g} sends of an event by a peer", most <= 3)


def _judge_receipts(results: Results) -> Finding:
    receipts = _load(results, "receipts")
    return Finding(f"{receipts:.2f} receipts of an event by a peer, on average", receipts <= 3)


def _judge_promise(results: Results) -> Finding:
    names = "broken", "complete", "rings"
    broken, complete, rings = (int(_load(results, name)) for name in names)
    ours = f"{broken} promises broken for {complete:,} complete rings, of {rings:,} rings"
    return Finding(ours, broken == 0 if complete else None)


def _judge_fair(results: Results) -> Finding:
    tenths = _setting(results, "width").keep(lambda row: row["gets"] >= _TELLING)
    mean = sum(row["by_event"] * row["gets"] for row in tenths) / sum(tenths.column("gets"))
    most = max(tenths.column("by_event")) / mean
    widest = float(_setting(results, "widest").one("sends"))
    ours = (
        f"{most:.2f} times at most; all sends have a Gini coefficient of "
        f"{_load(results, 'gini'):.2f}, the widest box sends {widest:.1f} times the mean"
    )
    return Finding(ours, most <= 1.5)


def _hits(results: Results, what: str, column: str = "hit", **values: object) -> list[float]:
    rows = results["churn"].where(what=what, repairs=True, **values)  # type: ignore[arg-type]
    return [row[column] for row in rows.sort("cycle")]


def _judge_churn(results: Results) -> Finding:
    hits = _hits(results, "churn", "settled", share=0.01)
    least = min(hits)
    every = min(_hits(results, "churn", share=0.01))
    ours = f"settled peers hit {fmean(hits):.3f} % ({least:.2f} % at least), all {every:.2f} %"
    return Finding(ours, fmean(hits) >= 99.9)


def _judge_recovery(what: str, within: int) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        parts, holds = [], True
        for share in results["churn"].where(what=what).values("share"):
            rows = results["churn"].where(what=what, repairs=True, share=share).sort("cycle")
            late = [row["hit"] for row in rows if row["cycle"] > within]
            again = next((row["cycle"] for row in rows if row["hit"] >= 99.9), None)
            parts.append(
                f"{100 * share:g} %: from cycle {again} on" if again else f"{share}: never"
            )
            holds = holds and bool(late) and fmean(late) >= 99.9
        return Finding("; ".join(parts), holds)

    return judge


def _judge_loss(results: Results) -> Finding:
    with_, without = (
        fmean(row["hit"] for row in results["churn"].where(what="loss", repairs=repairs))
        for repairs in (True, False)
    )
    ours = f"{with_:.2f} % hit with repair, {without:.2f} % without"
    late = (
        "A gap is found and closed by four messages in a row, each of which may be lost. Digests "
        "name an event for fifteen cycles; the claim looks after four."
    )
    holds = with_ >= 99.9
    return Finding(ours, holds, "" if holds else late)


def _judge_views(results: Results) -> Finding:
    """Compare when 99 % of the rings are complete; in the end all choices must be there."""
    last, first = {}, {}
    for variant in results["views"].values("variant"):
        rings = results["views"].where(variant=variant).curve("cycle", "rings")
        last[variant] = rings[-1]
        first[variant] = next((n for n, share in enumerate(rings, 1) if share >= 99), None)
    ours = "99 % of the rings after " + ", ".join(
        f"{cycle or 'no'} cycles ({variant})" for variant, cycle in first.items()
    )
    return Finding(ours, min(last.values()) >= 99)


_ALL: Final = "We can see that after 40 cycles, all rings are fully set up."

_REACTIVE: Final = "Sub-2-Sub is highly reactive to changes in the set of subscriptions."
_RESISTANT: Final = (
    "Epidemic protocols have proved to converge quickly and to produce failure-resistant overlays."
)

CLAIMS: Final = (
    *(
        Claim(f"S2S-E1.{number}", f"All rings are complete: {n} attributes, {law} interest.", _ALL,
              ("6",), _judge_complete((n, law)),
              "The rings of the judging events, after the last cycle of the run.")
        for number, (n, law) in enumerate(SETTINGS, 1)
    ),
    Claim("S2S-E1.5", "Ring links come and stay.", "Figure 6 shows the evolution of ring "
          "construction per cycle", ("6",), _judge_growth, "Never half a point below an earlier "
          "cycle, in any of the four settings."),
    Claim("S2S-E2.1", "Disseminations are complete before all rings are.", "complete dissemination "
          "is achieved even before all rings are in place.", ("6", "7"), _judge_early),
    Claim("S2S-E3.1", "Rings of three attributes have 2 to 246 peers.", "the rings it involves "
          "range from very small (2 subscribers) to quite large (246 subscribers)", ("8a",),
          _judge_long, "At 10,000 peers: the shortest at most 4, the longest from 190 to 300.",
          "The law of interests was chosen so that lengths are the paper's."),
    Claim("S2S-E3.2", "Rings of five attributes are short.", "In five-attribute schemes, rings are "
          "trivially short (2-3 subscribers)", ("8a",), _judge_short, "Their median is at most 3."),
    Claim("S2S-E4.1", "Hops grow like the logarithm of the ring.", "this relation is of "
          "logarithmic fashion", ("8b",), _judge_logarithm,
          "a + b log2 L fits better than a + b L."),
    Claim("S2S-E4.2", "Along the ring only, hops are half of it.", "following the ring links alone "
          "requires linear time to cover all interested nodes", ("8c",), _judge_half,
          "From 0.6 to 1 of half the ring, for rings of four and more."),
    Claim("S2S-E5.1", "Publishers join within five cycles.", "all 10,000 publishers we tested "
          "joined in five or less cycles", ("9",), _judge_publishers),
    Claim("S2S-E5.2", "Publishers join faster than subscribers.", "For publishers, on the other "
          "hand, joining is a simpler task", ("9",), _judge_slower, "By the mean of cycles."),
    Claim("S2S-E6.1", "Nobody gets what it does not want.", "Spam is entirely out of the question "
          "in this dissemination algorithm.", ("load",), _judge_spam),
    Claim("S2S-E6.2", "A peer sends an event to three others at most.", "upon first reception "
          "forwards it to the same small number of nodes: up to two adjacent neighbors, and a few "
          "random ones", ("load",), _judge_sends, "With one shortcut; a publisher's own event "
          "aside."),
    Claim("S2S-E6.3", "A peer receives an event a few times.", "each of them receives an event "
          "once or a few more times", ("load",), _judge_receipts, "At most three times, on "
          "average."),
    Claim("S2S-E6.4", "Who wants an event gets it once, nobody else does.", "only interested "
          "subscribers are reached by an event and (ii) subscribers do not miss any event matching "
          "their subscription", ("load",), _judge_promise, "Where the ring of an event is "
          "complete, every peer that wants it gets it, once, nobody else does, with 2 + r sends a "
          "peer."),
    Claim("S2S-E6.5", "Load follows interest.", "", ("load",), _judge_fair, "In each tenth of the "
          "peers, by the sizes of their boxes, that gets 100 deliveries or more, peers send an "
          "event that they get at most 1.5 times as often as the mean peer does."),
    Claim("S2S-Q6", "The sizes of views hardly matter.", "Each peer knows about a few other peers",
          ("views",), _judge_views, "With half and twice the usual sizes at least 99 % of the "
          "rings are complete at the end."),
    Claim("S2S-R1", "Peers that come and go do not hurt those that stay.", _REACTIVE, ("churn",),
          _judge_churn, "With repair, 1 % of the peers replaced in every cycle: those that are "
          "there for ten cycles get 99.9 % of what they want."),
    Claim("S2S-R2", "The others recover when many fail at once.", _RESISTANT, ("failure",),
          _judge_recovery("failure", 12), "With repair, 99.9 % on average from the twelfth cycle "
          "on."),
    Claim("S2S-R3", "What was parted finds together.", _RESISTANT, ("partition",),
          _judge_recovery("partition", 12), "With repair, half of the peers parted for ten cycles: "
          "99.9 % on average from the twelfth cycle on."),
    Claim("S2S-R4", "Lost messages lose no events.", _RESISTANT, ("loss",), _judge_loss,
          "With repair, one of five messages lost: 99.9 % on average, within four cycles."),
)  # fmt: skip
