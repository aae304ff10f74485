"""Why rows were refused: the commonest reasons, with counts.

Reasons that differ only in numbers and in quoted values are one kind, shown by an example: that the
JSON ends at byte 17 in one line and at byte 230 in another is one mistake.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError, shortened
from fyke.pipeline.configuration import Pipeline
from fyke.pipeline.live.journal import NAMELESS
from fyke.pipeline.results.outcome import Reason

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REASONS_MAX: Final = 5
_VARIES: Final = r"""(attribute '[^']*')|'[^']*'|"[^"]*"|\d+"""
"""The name of an attribute stays."""


def commonest(rows: DataFrame) -> tuple[Reason, ...]:
    """Return the commonest kinds of reasons in the column `reason`, where it is not null."""
    from pyspark.sql import functions as f

    kind = f.regexp_replace("reason", _VARIES, "$1")
    found = rows.where("reason is not null").groupBy(kind.alias("kind"))
    counts = found.agg(f.count("*").alias("rows"), f.min("reason").alias("example"))
    top = counts.orderBy(f.desc("rows"), "example").limit(REASONS_MAX)
    return tuple(Reason(row["example"], row["rows"]) for row in top.collect())


def listed(reasons: Iterable[Reason]) -> str:
    """Return a line for each reason."""
    lines = ((each.rows, shortened(each.example.partition("\n")[0])) for each in reasons)
    return "".join(f"\n  {rows:>9,}  {example}" for rows, example in lines)


def check_refused(pipeline: Pipeline, refused: int, seen: int, reasons: Iterable[Reason]) -> None:
    """Raise FykeError if a run refused too many of its events."""
    if not refused or refused / seen <= pipeline.refused_max:
        return
    why, key = listed(reasons), getattr(pipeline.events, "key", None)
    hint = f" (events.key is {key!r})" if key is not None and NAMELESS in why else ""
    raise FykeError(
        f"{refused:,} of {seen:,} events were refused{hint}; events.refused_max (--refused-max) "
        f"allows the share {pipeline.refused_max}; most often:{why}"
    )
