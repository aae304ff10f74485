"""Origin: where and when numbers were made, and with what."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Origin:
    """`events` and `repeats` are None where each study takes its own."""

    version: str
    machine: str
    date: str
    seed: int
    events: int | None = None
    repeats: int | None = None

    @classmethod
    def here(cls, seed: int, events: int | None, repeats: int | None) -> Origin:
        """Return that of numbers which are made now, on this machine."""
        date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return cls(_version(), machine(), date, seed, events, repeats)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield each with its name, as a page shows them."""
        yield "fyke", self.version
        yield "machine", self.machine
        yield "date", self.date
        yield "seed", str(self.seed)
        yield "events a point", "as the scale has it" if self.events is None else f"{self.events:,}"
        yield "repeats", "as the scale has it" if self.repeats is None else f"{self.repeats:,}"


def _version() -> str:
    try:
        return version("fyke")
    except PackageNotFoundError:
        return "not installed"


def machine() -> str:
    return f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _processor() -> str:
    """Return the name that Linux knows; elsewhere that of the platform."""
    try:
        described = Path("/proc/cpuinfo").read_text("utf-8")
    except (OSError, UnicodeError):
        described = ""
    names = [
        line.partition(":")[2].strip() for line in described.splitlines() if "model name" in line
    ]
    return next(iter(names), "") or platform.processor() or platform.machine()
