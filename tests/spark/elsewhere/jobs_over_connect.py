"""Generators, statistics and a sweep over Spark Connect; prints what they found."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from pyspark.errors import AnalysisException

from fyke import spark


def square(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    if seed == 1:
        os._exit(1)
    return {"square": parameters["x"] ** 2}


def main() -> None:
    session = spark.session(remote="local[2]")
    with suppress(AnalysisException):  # the client is told; the server's terminal is the user's
        session.sql("select nothing from nowhere").collect()
    statistics = spark.statistics
    events = spark.events(session, "auction", 500)
    rules = spark.subscriptions(session, "auction", 100)
    table = statistics.distribution(events)
    told = statistics.for_matcher(table)
    fractions = statistics.match_fractions(events, rules).collect()
    found = {
        "events": told["events"],
        "attributes": sorted(told["attributes"]),
        "stages": [len(row.attributes) for row in statistics.stages(table, 1).collect()],
        "predicates": statistics.selectivities(events, rules).count(),
        "fractions": len(fractions),
        "matches": sum(row.matches for row in fractions),
        "coverings": statistics.coverings(rules).count() >= 0,
        "duplicates": statistics.duplicates(rules).count(),
        "sweep": [row.square for row in spark.sweep(square, {"x": [3, 4]}, 2).collect()],
    }
    session.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
