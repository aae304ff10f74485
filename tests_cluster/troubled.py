"""troubled.py ADDRESS BUCKET FOLDER NAME=SETTING ...: the only worker has little disk and memory.

Prints what the calls say, as JSON; others publish to BUCKET/busy meanwhile.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.errors import PySparkException

import fyke.spark
from fyke.errors import FykeError
from fyke.spark.sessions.reasons import reason
from fyke.spark.versions import versions
from fyke.spark.versions.places import joined
from fyke.workloads.named import workload

LARGE = 12_000
PUBLISHED = 2


def said(call: Callable[[], object]) -> str:
    """Return the sentence that a call ends with."""
    try:
        call()
    except FykeError as error:
        return str(error)
    except PySparkException as error:  # of a job that the caller runs himself
        return reason(str(error))
    return "all went well"


def main(address: str, bucket: str, folder: Path, settings: list[str]) -> dict[str, object]:
    conf = dict(each.split("=", 1) for each in settings)
    session = fyke.spark.session(master=address, conf=conf, logs="off")
    rules = fyke.spark.subscriptions(session, "stock", 100)
    made = [
        fyke.spark.compile(rules.limit(at + 1), joined(bucket, "busy")) for at in range(PUBLISHED)
    ]
    where = str(folder / "rules")
    fyke.spark.compile(rules, where)
    table = workload("stock").subscription_columns(LARGE)
    matcher = fyke.Matcher()
    matcher.add_many(zip(table["id"].to_pylist(), table["filter"].to_pylist(), strict=True))
    versions.add(joined(bucket, "large"), matcher)
    events = fyke.spark.events(session, "stock", 100)
    wide = session.range(300).selectExpr(
        "concat(id, repeat('x', 4000000)) as id", "concat('n = ', id) as filter"
    )
    found: dict[str, object] = {
        "published": [(each.number, each.subscriptions) for each in made],
        "disk": said(
            lambda: fyke.spark.compile(fyke.spark.subscriptions(session, "stock", LARGE), where)
        ),
        "copy": said(lambda: fyke.spark.match(events, joined(bucket, "large")).count()),
        "memory": said(lambda: fyke.spark.compile(wide, where)),
        "versions": versions.numbers(where),
        "rows": fyke.spark.match(events, where).count(),
    }
    session.stop()
    return found


if __name__ == "__main__":
    address, bucket, folder, *settings = sys.argv[1:]
    print(json.dumps(main(address, bucket, Path(folder), settings)))
