"""Detections to trees: maps are conjunctions, lists are alternatives, scalars outside of a map are
keywords.

A value that predicates can express becomes predicates; what they cannot becomes a Residual of
that one value, so the rest of the rule stays indexable. Keywords are looked for everywhere in the
event and are always residuals, one for each item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fyke.errors import FilterError, shown
from fyke.filters.dialects.sigma.condition import Conditions
from fyke.filters.dialects.sigma.criteria import Criterion, alternatives
from fyke.filters.dialects.sigma.modifiers import Item, Key, Placeholders, read_item
from fyke.filters.dialects.sigma.plain import Plain, Value
from fyke.filters.dialects.sigma.search import residual_text
from fyke.filters.filter import Filter, conjunction, disjunction, negation
from fyke.filters.residual import Residual
from fyke.limits import Limits


def compile_detections(
    detections: dict[str, Plain],
    condition: str | list[str],
    limits: Limits,
    placeholders: Placeholders | None = None,
    fields: Mapping[str, str] | None = None,
) -> Filter:
    """Compile the condition over the named detections; of several conditions, some must hold.

    `fields` says which attribute a field is, where it is one of another name.
    """
    compiler = _Compiler(limits, placeholders, fields or {})
    trees = {name: compiler.named(name, detection) for name, detection in detections.items()}
    conditions = Conditions(trees, limits)
    texts = [condition] if isinstance(condition, str) else condition
    return disjunction(map(conditions.read, texts))


@dataclass(frozen=True, slots=True)
class _Compiler:
    limits: Limits
    placeholders: Placeholders | None
    fields: Mapping[str, str]

    def named(self, name: str, detection: Plain) -> Filter:
        try:
            return self.detection(detection)
        except FilterError as error:
            raise FilterError(
                f"detection {shown(name)}: {error.problem}", expected=error.expected
            ) from None

    def detection(self, detection: Plain) -> Filter:
        if isinstance(detection, dict):
            if not detection:
                raise FilterError("an empty map", expected="at least one field")
            return conjunction(self.item(key, value) for key, value in detection.items())
        if not isinstance(detection, list):
            return self.item("", detection)
        if not detection:
            raise FilterError("an empty list", expected="at least one map or keyword")
        if any(isinstance(element, (dict, list)) for element in detection):
            return disjunction(map(self.detection, detection))
        return self.item("", detection)

    def item(self, text: str, given: Plain) -> Filter:
        try:
            key, values = self._renamed(text, _values(given))
            return item_tree(read_item(key, values, self.limits, self.placeholders))
        except FilterError as error:
            where = f"{shown(text)}: " if text else ""
            raise FilterError(where + error.problem, expected=error.expected) from None

    def _renamed(self, text: str, values: list[Value]) -> tuple[str, list[Value]]:
        """Put the attribute's name into the key; into the values as well if these name fields."""
        name, *modifiers = text.split("|")
        if "fieldref" in modifiers:
            values = [
                self.fields.get(each, each) if isinstance(each, str) else each for each in values
            ]
        return "|".join([self.fields.get(name, name), *modifiers]), values


def _values(given: Plain) -> list[Value]:
    values = given if isinstance(given, list) else [given]
    for value in values:
        if isinstance(value, (dict, list)):
            sort = "map" if isinstance(value, dict) else "list"
            raise FilterError(f"a {sort} as a value", expected="a value, or a list of values")
    return values  # type: ignore[return-value]


def item_tree(item: Item) -> Filter:
    """Return the tree that accepts exactly what the item accepts."""
    key = item.key
    if not key.field:
        filter = _keywords(item)
    else:
        trees = [
            _value_tree(key, value, choice)
            for value, choice in zip(item.values, item.criteria(), strict=True)
        ]
        filter = conjunction(trees) if key.every else alternatives(trees)
    return negation(filter) if key.negated else filter


def _keywords(item: Item) -> Filter:
    text = item.key.text + ("|all" if item.key.every else "")
    return Residual("sigma", residual_text(text, list(item.values)))


def _value_tree(key: Key, value: Value, choice: Sequence[Criterion]) -> Filter:
    def rest() -> Filter:
        return Residual("sigma", residual_text(key.text, value))

    return alternatives(criterion.tree(key.field, rest) for criterion in choice)
