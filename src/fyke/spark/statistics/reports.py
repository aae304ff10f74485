"""Reports: a table of distributions as the data that a matcher learns from.

{"events": 2, "attributes": {"symbol": {"present": 2, "values": [["A", 1], ["B", 1]]}},
 "types": {"Stock": 2}}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from fyke.spark.columns import need_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_VALUES: Final = "array<struct<kind:string,value:string,events:bigint,share:double>>"
_NEEDED: Final = {"attribute": "string", "events": "bigint", "present": "bigint"}


def for_matcher(distribution: DataFrame) -> dict[str, Any]:
    """Return the values that `distribution` lists, with their numbers of events, as plain data."""
    need_columns(distribution, {**_NEEDED, "values": _VALUES}, "distribution")
    rows = distribution.select("attribute", "events", "present", "values").collect()
    attributes = {
        row["attribute"]: {
            "present": row["present"],
            "values": [[json.loads(each["value"]), each["events"]] for each in row["values"]],
        }
        for row in sorted(rows, key=lambda row: str(row["attribute"]))
    }
    declared = attributes["type"]["values"] if "type" in attributes else ()
    return {
        "events": max((row["events"] for row in rows), default=0),
        "attributes": attributes,
        "types": {name: count for name, count in declared if isinstance(name, str)},
    }
