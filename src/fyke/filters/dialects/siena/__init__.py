"""Siena's filters: a list of attribute constraints, all of which must hold.

    filter      = constraints | [ "filter" ] "{" [ constraints ] "}"
    constraints = constraint { [ ";" | "&" | "," ] constraint }
    constraint  = [ type ] name ( operator value | "any" )
    type        = "string" | "int" | "integer" | "long" | "float" | "double"
                | "date" | "datetime" | "bool" | "boolean"
    operator    = "=" | "!=" | "<" | "<=" | ">" | ">=" | ">*" | "*<" | "*" | "~"
    name        = word | string
    value       = number | "true" | "false" | string

A string stands in double or single quotes; a backslash takes the next character literally, except
that \\n, \\t and \\r are control characters. As JSON: a list of objects with the keys `name` (or
`attribute`), `op`, `value`, perhaps `type`; or of `[name, op, value]`, `[type, name, op, value]`.

Example. `string exchange ~ "N*SE"; symbol >* "OT"; price > 8.30; price < 8.70`
Meaning. `>*` starts with, `*<` ends with, `*` contains, `~` fits a pattern whose stars stand for
any text: `N*SE` accepts NYSE and NSE, `ab*bc` refuses abc (SUM-Q4). `any` holds where the attribute
is there. A constraint on a missing attribute is false, `!=` too (SUM-Q7). Numbers compare by value,
whatever their type. A declared type is part of the test, as in SUM-3: `int a != 5` wants a number,
`a != 5` also accepts 'x'. A value declared as date is read as a timestamp.
Exact. Every filter is a tree of predicates; there is no residual.
Source. SUM-2, SUM-3, SUM-Q4, SUM-Q7; braces as in Siena's own notation; `~` is ours.

Inside:

    text, listed            the notations
    constraint              one constraint as a predicate
"""

from __future__ import annotations

from fyke.errors import FilterError
from fyke.filters.dialects.siena.listed import from_json, from_list
from fyke.filters.dialects.siena.text import from_text
from fyke.filters.filter import Filter
from fyke.limits import DEFAULT_LIMITS, Limits


def parse(source: object, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read a list of constraints, as text, as JSON text or as the list itself."""
    if isinstance(source, str):
        is_json = source.lstrip().startswith("[")
        return from_json(source, limits) if is_json else from_text(source, limits)
    if isinstance(source, (list, tuple)):
        return from_list(source, limits)
    raise FilterError(
        f"a Siena filter is text or a list of constraints, not {type(source).__name__}"
    )
