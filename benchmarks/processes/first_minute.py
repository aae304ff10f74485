"""One process on a new machine, from its first import on: `first_minute CASE SUBSCRIPTIONS`.

The folder for kernels is an empty one, given by NUMBA_CACHE_DIR. CASE: match, batch, open FOLDER
(a snapshot that was saved before), save FOLDER (makes that snapshot), idle (a timer alone).
"""

from __future__ import annotations

import time

STARTED = time.perf_counter()

import asyncio  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402

import fyke  # noqa: E402

IMPORTED = time.perf_counter()
EVENT = {"symbol": "S7", "price": 30, "volume": 700}
LIMIT_S = 600.0
IDLE_S = 10.0
TICK_S = 0.01


def filters(count: int) -> list[tuple[str, str]]:
    return [
        (
            f"s{n}",
            f"symbol = 'S{n % 500}' and price between {n % 1000} and {n % 1000 + 50}"
            if n % 5
            else f"volume between {n} and {n + 500}",
        )
        for n in range(count)
    ]


async def stalls(
    matcher: fyke.Matcher, expected: list[str], limit_s: float = LIMIT_S
) -> dict[str, float]:
    """Waits for the compiled engine: the longest stall of a timer, by the clock and by CPU time."""
    longest = cpu = 0.0
    end = time.perf_counter() + limit_s
    while type(matcher.engine).__name__ != "CompiledEngine" and time.perf_counter() < end:
        before, cpu_before = time.perf_counter(), time.process_time()
        await asyncio.sleep(TICK_S)
        longest = max(longest, time.perf_counter() - before - TICK_S)
        cpu = max(cpu, time.process_time() - cpu_before)
        if matcher.match(EVENT) != expected:
            raise AssertionError("the verdict changed")
    return {"stall": longest, "stall_cpu": cpu, "moved": time.perf_counter() - STARTED}


def first(case: str, count: int, folder: str) -> dict[str, float]:
    if case == "idle":
        return asyncio.run(stalls(fyke.Matcher(), [], IDLE_S))
    if case == "save":
        fyke.warm()
    given = filters(count)
    before = time.perf_counter()
    matcher = fyke.Matcher.open(folder) if case == "open" else fyke.Matcher()
    if case != "open":
        matcher.add_many(given)
    added = time.perf_counter()
    if case == "save":
        matcher.save(folder)
        return {}
    if case == "batch":
        matcher.match_batch([EVENT] * 100)
    expected = matcher.match(EVENT)
    answered = time.perf_counter()
    adding = 0.0 if case == "open" else added - before
    told = {"first": IMPORTED - STARTED + answered - before - adding, "adding": adding}
    return told | asyncio.run(stalls(matcher, expected)) | {"found": len(expected)}


def main(case: str, count: str, folder: str = "") -> None:
    print(json.dumps(first(case, int(count), folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
