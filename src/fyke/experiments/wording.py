"""Wording: numbers as claims write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def number(value: float) -> str:
    """Write three digits and no more zeros than needed: 1.25, 3, 0.0417, 200,000."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def exactly(value: float) -> str:
    """Write three decimals, as in the closed forms."""
    return f"{value:.3f}"


def listed(values: Iterable[float]) -> str:
    return ", ".join(map(number, values))


def values_of(values: Mapping[str, float], what: str) -> str:
    """Say what each of some has: 3.12 (random), 0.5 (similarity): messages an event."""
    return ", ".join(f"{value:.3g} ({name})" for name, value in values.items()) + f": {what}"


def tally(answers: Iterable[bool | None]) -> str:
    """Say of how many points something holds, and of how many that is not known."""
    found = list(answers)
    open_ = found.count(None)
    text = f"at {found.count(True)} of {len(found)} points"
    return f"{text}, not told apart at {open_}" if open_ else text
