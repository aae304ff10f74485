"""The languages in which a filter may be written, one module each, all compiled to the same trees.

A dialect module offers

    parse(source, limits) -> Filter   the tree: exact, or an indexable part and a Residual
    check(text) -> Check              for residuals only: the dialect's own interpreter

`source` is text, or the parsed object (a dict or a list) for the dialects whose notation is JSON
or YAML. The law: the tree's indexable part covers the dialect's own meaning
(`fyke.testing.covering.check_covers`).

Inside:

    fyke                    the native language
    cloudevents, cesql/     CloudEvents: the Subscriptions API and SQL
    eventbridge/, sigma/    EventBridge patterns; Sigma rules
    das, siena/             the languages of two papers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fyke.filters.algebra.normal_form import fold
from fyke.filters.residual import DIALECTS, dialect_module
from fyke.filters.resolution import resolve_strictly
from fyke.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from fyke.events.schema import Schema
    from fyke.filters.filter import Filter

__all__ = ["DIALECTS", "parse", "read"]


def parse(
    source: object,
    dialect: str = "fyke",
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Filter:
    """Read a filter in one of the dialects.

    A schema gives its enumerations their order, and lets bounds on single-valued attributes fold.
    """
    filter = read(source, dialect, schema=schema, limits=limits)
    return filter if schema is None else fold(filter, schema)


def read(
    source: object,
    dialect: str = "fyke",
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Filter:
    """Read a filter as `parse` does, but fold nothing: it looks as it was written, where it can."""
    module = dialect_module(dialect)
    filter: Filter
    if schema is not None and dialect == "das":  # whose grammar depends on what has an order
        filter = module.parse(source, limits, schema.orders)
    else:
        filter = module.parse(source, limits)
    return resolve_strictly(filter, schema)
