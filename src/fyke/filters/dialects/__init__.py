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

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from fyke.errors import FilterError, shown
from fyke.filters.normal_form import fold
from fyke.filters.resolution import checked
from fyke.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from types import ModuleType

    from fyke.events.schema import Schema
    from fyke.filters.filter import Filter
    from fyke.filters.residual import Check

DIALECTS: Final = ("fyke", "cloudevents", "cesql", "eventbridge", "sigma", "das", "siena")

_CHECKS_KEPT = 4096


def parse(
    source: object,
    dialect: str = "fyke",
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Filter:
    """Reads a filter in one of the dialects.

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
    """As `parse`, but nothing is folded: the filter looks as it was written where it can."""
    module = _module(dialect)
    filter: Filter
    if schema is not None and dialect == "das":  # whose grammar depends on what has an order
        filter = module.parse(source, limits, schema.orders)
    else:
        filter = module.parse(source, limits)
    return checked(filter, schema)


@lru_cache(maxsize=_CHECKS_KEPT)
def check(dialect: str, text: str) -> Check:
    """The interpreter behind a residual."""
    module = _module(dialect)
    if not hasattr(module, "check"):
        raise FilterError(f"the dialect {dialect} has no residuals")
    built: Check = module.check(text)
    return built


@lru_cache
def _module(dialect: str) -> ModuleType:
    if dialect not in DIALECTS:
        raise FilterError(
            f"unknown dialect {shown(dialect)}", expected=f"one of {', '.join(DIALECTS)}"
        )
    return import_module(f"{__name__}.{dialect}")
