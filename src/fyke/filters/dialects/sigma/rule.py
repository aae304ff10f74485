"""A Sigma rule as a value: its name, where its events come from, and the filter that it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from fyke.errors import FilterError, shown
from fyke.filters.dialects.sigma.compiler import compile_detections
from fyke.filters.dialects.sigma.document import read
from fyke.filters.dialects.sigma.mapping import NO_MAPPING, SigmaMapping
from fyke.filters.dialects.sigma.modifiers import Placeholders
from fyke.filters.dialects.sigma.plain import DETECTION, Plain, Value, Written, copy_plain
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import TypeIs
from fyke.limits import DEFAULT_LIMITS, Limits

_OTHER_DOCUMENTS: Final = {
    "correlation": "a correlation rule speaks about several events",
    "filter": "a Sigma filter only adapts other rules",
    "action": "a collection of rules that share parts: write each rule in full",
}


@dataclass(frozen=True, slots=True)
class LogSource:
    """The source of a rule's events; a part is None if the rule does not say it."""

    category: str | None = None
    product: str | None = None
    service: str | None = None

    @property
    def type_name(self) -> str | None:
        """The name of the event type: product, category and service, as far as given."""
        return ".".join(self._parts()) or None

    @property
    def supertypes(self) -> tuple[str, ...]:
        """The names of the more general log sources, for events that come from this one."""
        parts = self._parts()
        chosen = (
            combination
            for size in range(len(parts) - 1, 0, -1)
            for combination in combinations(parts, size)
        )
        return tuple(map(".".join, chosen))

    def _parts(self) -> list[str]:
        return [part for part in (self.product, self.category, self.service) if part]


@dataclass(frozen=True, slots=True)
class SigmaRule:
    """A rule that was read. `filter` is its detection alone; the log source stays beside it."""

    filter: Filter
    id: str | None = None
    title: str | None = None
    level: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    logsource: LogSource = LogSource()
    mapping: SigmaMapping = NO_MAPPING

    def typed_filter(self) -> Filter:
        """Return the filter for events whose type is the log source or a subtype of it."""
        name = self.logsource.type_name
        return self.filter if name is None else conjunction([TypeIs(name), self.filter])

    def routed_filter(self) -> Filter:
        """Return the filter, for events of the log source, as the mapping knows these."""
        return conjunction([*self.mapping.conditions(self.logsource), self.filter])


def rule(
    source: object,
    limits: Limits = DEFAULT_LIMITS,
    *,
    placeholders: Placeholders | None = None,
    mapping: SigmaMapping | None = None,
) -> SigmaRule:
    """Read a rule from YAML text or from a parsed dict; FilterError says what cannot be read.

    `placeholders` gives the values of what `|expand` asks for, by name. `mapping` says what fields
    and log sources are called in the events.
    """
    mapping = mapping or NO_MAPPING
    document = read(source, limits)
    if not isinstance(document, dict):
        raise FilterError(f"{shown(document)} is not a rule", expected="a map with a detection")
    for key, reason in _OTHER_DOCUMENTS.items():
        if key in document:
            raise FilterError(f"{key}: {reason}", expected="a detection rule")
    detections, conditions = _detections(document)
    logsource = _logsource(document)
    values, fields = _placeholders(placeholders, limits), mapping.fields_of(logsource)
    return SigmaRule(
        compile_detections(detections, conditions, limits, values, fields),
        id=_text(document, "id"),
        title=_text(document, "title"),
        level=_text(document, "level"),
        status=_text(document, "status"),
        tags=tuple(_tags(document)),
        logsource=logsource,
        mapping=mapping,
    )


def _detections(document: dict[str, Plain]) -> tuple[dict[str, Plain], list[str]]:
    detection = document.get(DETECTION)
    if not isinstance(detection, dict):
        raise FilterError("the rule has no detection", expected="detection: a map")
    named = {
        name: value
        for name, value in detection.items()
        if name != "condition"
        and not (name == "timeframe" and isinstance(value, (Written, str, int)))
    }
    given = detection.get("condition")
    conditions = given if isinstance(given, list) else [given]
    texts = [condition for condition in conditions if isinstance(condition, str)]
    if not texts or len(texts) < len(conditions):
        raise FilterError("detection: no condition", expected="condition: text, or a list of texts")
    return named, texts


def _placeholders(given: Placeholders | None, limits: Limits) -> Placeholders | None:
    if given is None:
        return None
    checked = copy_plain({name: list(values) for name, values in given.items()}, limits)
    assert isinstance(checked, dict)
    return {
        name: [str(value) for value in values]
        for name, values in checked.items()
        if isinstance(values, list)
    }


# --- metadata -----------------------------------------------------------------------------------


def _text(document: dict[str, Plain], key: str) -> str | None:
    """Return the text at a key; None if it holds a list or a map."""
    value = document.get(key)
    return None if value is None or isinstance(value, (dict, list)) else _spell(value)


def _spell(value: Value) -> str:
    return value.text if isinstance(value, Written) else str(value)


def _tags(document: dict[str, Plain]) -> Iterator[str]:
    """Yield the tags; a single one need not stand in a list."""
    given = document.get("tags")
    for tag in given if isinstance(given, list) else [given]:
        if tag is not None and not isinstance(tag, (dict, list)):
            yield _spell(tag)


def _logsource(document: dict[str, Plain]) -> LogSource:
    """Read the log source. It may become a condition, so what cannot be read is refused."""
    given = document.get("logsource") or {}
    if not isinstance(given, dict):
        raise FilterError(f"logsource: {shown(given)}", expected="a map")
    for key in ("category", "product", "service"):
        if isinstance(given.get(key), (dict, list)):
            raise FilterError(f"logsource: {key}: {shown(given[key])}", expected="text")
    return LogSource(_text(given, "category"), _text(given, "product"), _text(given, "service"))
