"""The central filter: figures 4 and 7.

Both use the structures of the interval engine, which is the paper's: profile sets as pointer lists
or bit lists, and one node per attribute.
"""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter, thread_time
from typing import Final

from fyke.events.event import Event
from fyke.experiments.das.wording import listed, number
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
from fyke.experiments.table import Row, Table, is_rising
from fyke.filters.filter import conjunction
from fyke.filters.predicate import equals
from fyke.matching.interval import IntervalEngine
from fyke.matching.interval_parameters import Parameters as Filing
from fyke.matching.profile_set import Members, ProfileSet, intersection, touched

# --- figure 4: pointers or bits -------------------------------------------------------------------

SET_SIZES: Final = (1_000, 3_000, 5_000)
_FORMS: Final = {"pointers": Filing(bit_list_from=1.0), "bits": Filing(bit_list_from=0.0)}
_TOTALS: Final = {
    "small": (10_000, 100_000, 400_000),
    "paper": (10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000),
}


def _sets_grid(scale: str) -> list[Parameters]:
    return [
        {"total": total, "size": size, "repeats": 3 if scale == "small" else 25}
        for total in _TOTALS[scale]
        for size in SET_SIZES
    ]


def intersect(parameters: Parameters, seed: int) -> list[Row]:
    """Two sets of a size, evenly spread over all profiles; they share the first, the last, and half
    of the others.
    """
    total, size = parameters["total"], parameters["size"]
    rows: list[Row] = []
    for form, filing in _FORMS.items():
        one = _members(total, size, 0, filing)
        other = _members(total, size, 1, filing)
        seconds = []
        for _ in range(parameters["repeats"]):
            begin = perf_counter()
            intersection(one, other)
            seconds.append(perf_counter() - begin)
        rows.append(
            {
                "form": form,
                "total": total,
                "size": size,
                "touched": touched(one, other),
                "microseconds": 1e6 * min(seconds),
            }
        )
    return rows


def _members(total: int, size: int, shift: int, filing: Filing) -> Members:
    made = ProfileSet(filing)
    for at in range(size):
        moved = shift if at and at % 2 == 0 else 0
        made.add(at * (total - 1) // (size - 1) - moved, total)
    return made.members


_IN_SECONDS: Final = (
    "In seconds bits win over the whole range: Python intersects words in C, pointers one by one."
)


def _judge_pointers(results: Results) -> Finding:
    found = results["sets"]
    counts = {size: found.where(form="pointers", size=size).values("touched") for size in SET_SIZES}
    holds = all(len(each) == 1 for each in counts.values()) and (
        counts[1_000] < counts[3_000] < counts[5_000]
    )
    ours = "; ".join(f"{size:,}: {listed(each)} pointers" for size, each in counts.items())
    return Finding(ours, holds)


def _judge_bits(results: Results) -> Finding:
    found = results["sets"].where(form="bits")
    counts = {total: found.where(total=total).values("touched") for total in found.values("total")}
    words = [each[0] for each in counts.values()]
    holds = is_rising(words) and all(len(each) == 1 for each in counts.values())
    ours = "; ".join(f"{total:,}: {listed(each)} words" for total, each in counts.items())
    return Finding(ours, holds)


def crossing(found: Table, size: int, column: str) -> int | None:
    """The least total from which on pointers are no worse than bits."""
    for total in found.values("total"):
        cost = {form: found.one(column, form=form, size=size, total=total) for form in _FORMS}
        if cost["pointers"] <= cost["bits"]:
            return int(total)
    return None


def _judge_crossing(results: Results) -> Finding:
    found = results["sets"]
    totals = found.values("total")
    at = {size: crossing(found, size, "touched") for size in SET_SIZES}
    known = [each if each is not None else float("inf") for each in at.values()]
    holds = totals[0] < known[0] < float("inf") and known == sorted(known)
    said = {size: "beyond the range" if each is None else f"{each:,}" for size, each in at.items()}
    times = [crossing(found, size, "microseconds") for size in SET_SIZES]
    why = "" if any(times) else _IN_SECONDS
    return Finding("; ".join(f"{size:,}: from {each}" for size, each in said.items()), holds, why)


# --- figure 7: attributes -------------------------------------------------------------------------

_ATTRIBUTES: Final = {"small": (1, 2, 4, 8), "paper": tuple(range(1, 11))}
_PORTIONS: Final = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))


def _attributes_grid(scale: str) -> list[Parameters]:
    profiles, events = (200, 400) if scale == "small" else (10_000, 100_000)
    return [
        {"attributes": each, "profiles": profiles, "events": events} for each in _ATTRIBUTES[scale]
    ]


def evaluate(parameters: Parameters, seed: int) -> list[Row]:
    """Profile i wants i of every attribute; an event that matches nothing fits one profile up to
    some attribute, each of them equally often.
    """
    count, profiles = parameters["attributes"], parameters["profiles"]
    names = [f"a{attribute}" for attribute in range(count)]
    engine = IntervalEngine()
    for slot in range(profiles):
        engine.add(slot, conjunction([equals(name, slot) for name in names]))
    rows: list[Row] = []
    for p_e in _PORTIONS:
        events = _events(names, profiles, p_e, parameters["events"])
        engine.work.probes = 0
        begin = thread_time()
        matched = sum(len(engine.match(event)) for event in events)
        seconds = thread_time() - begin
        rows.append(
            {
                "attributes": count,
                "p_e": float(p_e),
                "events": len(events),
                "matched": matched,
                "evaluations": engine.work.probes / len(events),
                "seconds_per_100k": 100_000 * seconds / len(events),
            }
        )
    return rows


def _events(names: list[str], profiles: int, p_e: Fraction, at_least: int) -> list[Event]:
    unit = p_e.denominator * len(names)
    size = unit * -(-at_least // unit)
    matching = int(p_e * size)
    made = []
    for turn in range(size):
        document: dict[str, object] = dict.fromkeys(names, turn % profiles)
        if turn >= matching:
            document[names[turn % len(names)]] = profiles + turn
        made.append(Event(document))
    return made


def _judge_linear(results: Results) -> Finding:
    """Exactly p_e n + (1 - p_e) (n + 1) / 2."""
    found = results["attributes"]
    off = [abs(row["evaluations"] - _expected(row["p_e"], row["attributes"])) for row in found]
    most = found.values("attributes")[-1]
    none, half = (found.one("evaluations", attributes=most, p_e=p) for p in (0.0, 0.5))
    grown = [
        curve[-1] / curve[0]
        for p_e in (0.0, 1.0)
        for curve in [found.curve("attributes", "seconds_per_100k", p_e=p_e)]
    ]
    ours = (
        f"of {most} attributes {number(none)} at p_e = 0, {number(half)} at 0.5; furthest from "
        f"p_e n + (1 - p_e)(n + 1)/2: {number(max(off))}. Seconds grow {number(grown[0])} times "
        f"if none match, {number(grown[1])} times if all do"
    )
    return Finding(ours, max(off) < 1e-9)


def _expected(p_e: float, attributes: int) -> float:
    return p_e * attributes + (1 - p_e) * (attributes + 1) / 2


# --- what there is --------------------------------------------------------------------------------

STUDIES: Final = (
    Study("sets", intersect, _sets_grid, cost=lambda p: 1.0),
    Study("attributes", evaluate, _attributes_grid, cost=lambda p: 1e-3 * p["events"]),
)

_TOTAL: Final = Axis("total", "profiles in all")
FIGURES: Final = (
    Figure(
        "4",
        "Intersecting two sets of profiles",
        "Two sets of 1,000, 3,000 or 5,000 profiles are intersected, as lists of pointers and as "
        "lists of bits. Pointers cost by the size of the sets, bits by the number of all profiles, "
        "so the lines of one size cross.",
        "sets",
        (
            Panel("Pointers and words looked at", _TOTAL, Axis("touched", "pointers or words"),
                  ("size", "form")),
            Panel("Time", _TOTAL, Axis("microseconds", "microseconds", is_log=True),
                  ("size", "form")),
        ),
    ),
    Figure(
        "7",
        "Filtering by the number of attributes",
        "Events are filtered against unique profiles with a condition on each of n attributes. "
        "Events that match take n evaluations, the others are refused after half of them.",
        "attributes",
        (
            Panel("Evaluations", Axis("attributes", "attributes"),
                  Axis("evaluations", "attributes evaluated per event"), ("p_e",)),
            Panel("Time", Axis("attributes", "attributes"),
                  Axis("seconds_per_100k", "seconds for 100,000 events"), ("p_e",)),
        ),
    ),
)  # fmt: skip

CLAIMS: Final = (
    Claim("DAS-E1.1", "With pointers, an intersection depends on the size of the sets alone.",
          "in words", ("4",), _judge_pointers),
    Claim("DAS-E1.2", "With bits, it depends on the number of all profiles alone.",
          "in words", ("4",), _judge_bits),
    Claim("DAS-E1.3", "Bits are better up to a number of profiles, pointers beyond it; the number "
          "grows with the size of the sets.", "in words", ("4",), _judge_crossing),
    Claim("DAS-E2", "Evaluations are linear in the number of attributes n; events that match "
          "nothing are refused after half of them on average.",
          "p_e n + (1 - p_e) n/2", ("7",), _judge_linear),
)  # fmt: skip
