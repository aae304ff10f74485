"""What the figures on overlays share: axes, panels, and questions to their rows.

Efficiency is shown twice: events per 1,000 steps of the busiest broker, and events per second of
the broker that took longest, processor time as it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from fyke.errors import FykeError
from fyke.experiments.das.judging import NAMES, STEPS, TIME, Measure
from fyke.experiments.das.wording import number
from fyke.experiments.experiment import Axis, Panel, Results
from fyke.experiments.table import Row, Scalar, Table, Wanted

ENGINE: Final = "interval"
"""The paper's filter."""
EVENTS: Final = {"tiny": 1, "small": 2_000, "paper": 2_000}
"""Events of a point, at least."""
REPEATS: Final = {"tiny": 2, "small": 3, "paper": 3}

LOAD: Final = Axis("load", "messages per event")
DUPLICATION: Final = Axis("duplication", "brokers per profile")
_LONG: Final = {"PF": "profile forwarding", "EF": "event forwarding", "RN": "rendezvous nodes"}


def rows_of(study: str) -> Callable[[Results], Table]:
    return lambda results: results[study]


def efficiency_panels(x: Axis, by: str, few: Wanted, **where: Wanted) -> tuple[Panel, ...]:
    """A panel per strategy and one of all together, with `few` of the curves; below, the same in
    seconds.
    """
    return tuple(panel for y in (STEPS, TIME) for panel in _four(x, y, by, few, where))


def _four(x: Axis, y: Measure, by: str, few: Wanted, where: dict[str, Wanted]) -> Iterable[Panel]:
    yield from three(x, y, by, where)
    log = replace(y.axis, is_log=True)
    yield Panel(f"(d) all, by {y.name}", x, log, ("strategy", by), {**where, by: few})


def three(x: Axis, y: Measure, by: str, where: Mapping[str, Wanted]) -> Iterable[Panel]:
    """A panel per strategy."""
    for letter, name in zip("abc", NAMES, strict=True):
        title = f"({letter}) {_LONG[name]}, by {y.name}"
        yield Panel(title, x, y.axis, (by,), {**where, "strategy": name})


def of_each(rows: Table, column: str, **where: Wanted) -> dict[str, float]:
    """A value of each strategy, at one point."""
    return {name: rows.one(column, strategy=name, **where) for name in NAMES}


def curves(
    rows: Table, x: str, y: str, *by: str, **where: Wanted
) -> dict[tuple[Scalar, ...], list[float]]:
    """`y` by ascending `x` for each choice of `by`."""
    chosen = rows.where(**where)
    keys = dict.fromkeys(tuple(row[name] for name in by) for row in chosen)
    return {key: chosen.curve(x, y, **dict(zip(by, key, strict=True))) for key in keys}


def furthest(rows: Table, column: str, expected: Callable[[Row], float]) -> float:
    """How far a column is from a closed form, at most."""
    if not rows:
        raise FykeError(f"there are no rows to take {column} from")
    return max(abs(float(row[column] or 0) - expected(row)) for row in rows)


def said(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in values.items())
