"""Mapping: what the fields and log sources of rules are called in somebody's events.

Rules say `Image` and `product: windows`; events may say `process.executable` and `winlog.channel`.
A mapping is a YAML (or JSON) text or a dictionary:

    fields:
        Image: process.executable                   # for rules of all log sources
    logsources:
        - logsource: {product: windows, category: process_creation}
          where: "winlog.channel = 'Sysmon' and winlog.event_id = 1"
          fields: {User: user.name}                 # for these only, before those above

An entry is for the rules whose log source has what it names, and perhaps more. `where` is a filter
in the native language: it says which events come from there. Where no entry with a `where` is for a
rule, events have the attributes `product`, `category` and `service`, as the rule names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FilterError, shown
from fyke.filters.dialects.sigma.document import read
from fyke.filters.dialects.sigma.plain import Plain, Written
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.filters.predicate import equals
from fyke.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from fyke.filters.dialects.sigma.rule import LogSource

_PARTS: Final = ("product", "category", "service")


@dataclass(frozen=True, slots=True)
class Source:
    """The fields and the condition of rules for one kind of log source."""

    logsource: Mapping[str, str]
    where: Filter | None
    fields: Mapping[str, str]

    def is_for(self, source: LogSource) -> bool:
        """Return whether a rule's log source has all that is named here."""
        return all(getattr(source, name) == value for name, value in self.logsource.items())


@dataclass(frozen=True, slots=True)
class SigmaMapping:
    """Names of fields and conditions on log sources; `read_mapping` makes one."""

    fields: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    def fields_of(self, source: LogSource) -> dict[str, str]:
        """Return the attribute for each field that the rules of a log source rename."""
        found = dict(self.fields)
        for each in reversed(self.sources):
            if each.is_for(source):
                found |= each.fields
        return found

    def conditions(self, source: LogSource) -> list[Filter]:
        """Return the conditions that all events of a log source satisfy."""
        known = [each.where for each in self.sources if each.is_for(source) and each.where]
        if known:
            return known
        named = {name: getattr(source, name) for name in _PARTS}
        return [equals(name, value) for name, value in named.items() if value]


NO_MAPPING: Final = SigmaMapping()


def read_mapping(source: object, limits: Limits = DEFAULT_LIMITS) -> SigmaMapping:
    """Read a mapping from YAML text or a dictionary; FilterError says what cannot be read."""
    document = _map(read(source, limits) or {}, "the mapping", ("fields", "logsources"))
    entries = document.get("logsources") or []
    if not isinstance(entries, list):
        raise FilterError(f"logsources: {shown(entries)}", expected="a list of maps")
    return SigmaMapping(
        _names(document.get("fields"), "fields"),
        tuple(_source(each, f"logsources[{at}]", limits) for at, each in enumerate(entries)),
    )


def read_placeholders(source: object, limits: Limits = DEFAULT_LIMITS) -> dict[str, list[str]]:
    """Read the values of placeholders: a map from each name to a value or a list of values."""
    document = _map(read(source, limits) or {}, "the values", None)
    return {name: list(_texts(value, name)) for name, value in document.items()}


def _source(given: Plain, place: str, limits: Limits) -> Source:
    entry = _map(given, place, ("logsource", "where", "fields"))
    logsource = _names(entry.get("logsource"), f"{place}: logsource")
    for name in logsource:
        if name not in _PARTS:
            raise FilterError(
                f"{place}: logsource: unknown key {shown(name)}", expected=", ".join(_PARTS)
            )
    where = entry.get("where")
    if where is not None and not isinstance(where, str):
        raise FilterError(f"{place}: where: {shown(where)}", expected="a filter as text")
    try:
        condition = None if where is None else parse_text(where, limits)
    except FilterError as refused:
        raise FilterError(f"{place}: where: {refused}") from None
    return Source(logsource, condition, _names(entry.get("fields"), f"{place}: fields"))


def _map(given: Plain, place: str, known: tuple[str, ...] | None) -> dict[str, Plain]:
    if not isinstance(given, dict):
        raise FilterError(f"{place}: {shown(given)}", expected="a map")
    for name in given:
        if known is not None and name not in known:
            raise FilterError(f"{place}: unknown key {shown(name)}", expected=", ".join(known))
    return given


def _names(given: Plain, place: str) -> dict[str, str]:
    """Read a map from text to text."""
    found: dict[str, str] = {}
    for name, value in _map({} if given is None else given, place, None).items():
        text: Any = value.text if isinstance(value, Written) else value
        if not isinstance(text, str) or not text:
            raise FilterError(f"{place}: {name}: {shown(value)}", expected="a name")
        found[name] = text
    return found


def _texts(given: Plain, name: str) -> Iterator[str]:
    for value in given if isinstance(given, list) else [given]:
        if value is None or isinstance(value, dict | list):
            raise FilterError(f"{name}: {shown(value)}", expected="a value, or a list of values")
        yield value.text if isinstance(value, Written) else str(value)
