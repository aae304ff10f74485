"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

from fyke.cli.reading.inputs import STANDARD_INPUT
from fyke.filters.dialects import DIALECTS


def _check_dash(kind: object, value: object) -> None:
    """Raise ValueError for what looks like an option; a lone `-` is standard input."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str) and each.startswith("-") and each != STANDARD_INPUT:
            raise ValueError("There is no such option.")


OR_STANDARD_INPUT = Parameter(allow_leading_hyphen=True, validator=_check_dash)
RulesFile: TypeAlias = Annotated[str, Parameter(name="SUBSCRIPTIONS"), OR_STANDARD_INPUT]
EventsFile: TypeAlias = Annotated[str | None, Parameter(metavar="EVENTS")]
OutFile: TypeAlias = Annotated[str | None, Parameter(metavar="FILE")]
Dialect: TypeAlias = Annotated[str, Parameter(metavar="NAME", choices=DIALECTS)]
SchemaFile: TypeAlias = Annotated[str | None, Parameter(metavar="FILE")]
Timestamps: TypeAlias = Annotated[str | None, Parameter(metavar="NAME,...")]
Switch: TypeAlias = Annotated[bool, Parameter(negative=(), show_default=False)]
SubscriptionsFile: TypeAlias = Annotated[
    str | None, Parameter(alias="-s", metavar="FILE"), OR_STANDARD_INPUT
]
