"""Recipes: conjunctions of patterns with holes, such as `path like '{root}*{name}*'`.

A recipe makes a filter of the words that fill its holes, or the sentence of all its filters'
canonical texts, for many at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TypeAlias

from fyke.filters.filter import Filter, conjunction
from fyke.filters.glob import Glob, glob, to_like
from fyke.filters.text_predicate import like
from fyke.workloads.form import Form, Names, Sentence

Recipe: TypeAlias = tuple[tuple[str, str, str], ...]
"""Attribute, operator and pattern of each predicate; a star is any string. No hole occurs twice."""


def recipe_filter(recipe: Recipe, pieces: Mapping[str, str]) -> Filter:
    """The filter of a recipe, with these words in its holes."""
    return conjunction(
        like(attribute, glob(pattern.format_map(pieces).split("*")), operator == "ilike")
        for attribute, operator, pattern in recipe
    )


def recipe_sentence(recipe: Recipe, words: Mapping[str, Sequence[str]]) -> Sentence:
    """The texts of a recipe's filters; the holes' codes are places in `words`."""
    texts: list[str] = []
    forms: dict[str, Form] = {}
    for attribute, operator, pattern in recipe:
        printed, text = _printed(operator, glob(pattern.split("*")))
        texts.append(f"{attribute} {printed} '{text}'")
        for _, hole, _, _ in Formatter().parse(pattern):
            if hole is not None:
                forms[hole] = Names(_written(word, printed) for word in words[hole])
    return Sentence(" and ".join(texts), **forms)


def _printed(operator: str, pattern: Glob) -> tuple[str, str]:
    """The operator as the printer chooses it, and what stands between the quotes."""
    if pattern.is_exact:
        return "=", pattern.segments[0]
    if operator == "like":
        if pattern.is_prefix:
            return "starts with", pattern.segments[0]
        if pattern.is_suffix:
            return "ends with", pattern.segments[1]
        if pattern.is_contains:
            return "contains", pattern.segments[1]
    return operator, "%".join(pattern.segments)


def _written(word: str, operator: str) -> str:
    match operator:
        case "like":
            return to_like(Glob((word,)))
        case "ilike":
            return to_like(Glob((word,)).folded())
    return word
