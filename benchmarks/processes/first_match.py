"""Opens a snapshot of W1 and matches an event: `first_match FOLDER`."""

from __future__ import annotations

import json
import sys
import time

EVENT = {
    **{"s10": "s10-7", "s100": "s100-17", "s1k": "s1k-17", "s10k": "s10k-17", "s100k": "s100k-17"},
    **{f"n{at}": 123_456 * at for at in range(1, 6)},
}


def main(path: str) -> None:
    started = time.perf_counter()
    import fyke

    imported = time.perf_counter()
    matcher = fyke.Matcher.open(path)
    opened = time.perf_counter()
    matcher.match(EVENT)
    matched = time.perf_counter()
    told = {
        "at": time.time(),
        "imported": imported - started,
        "opened": opened - imported,
        "matched": matched - opened,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
