"""Stages: which attributes of a class of events each stage of a tree filters on.

Idea. Attributes are ordered from general (few large classes of events) to special. Stage 0, the
subscriber, filters on all of them; each stage nearer to the root on fewer, so that a table near the
root is small and a busy node decides by a few attributes. A filter is weakened for a stage: what it
says about other attributes is left out, so it accepts more, never less.

    stages of Stock         0 and 1: symbol, price      2: symbol      3: nothing but the type
    symbol = 'DEF' and price < 10
                            at stage 2: type is Stock and symbol = 'DEF', at stage 3: type is Stock

Invariant. Whatever the attributes are, a weakened filter covers the filter. So brokers may disagree
about stages for a while, and an event of a class that nobody advertised is routed all the same.
Several publishers. Each stage keeps what all publishers of the class keep there. That is the same
in whatever order their words come, so a broker tells a neighbour one value for each class. A
publisher is told what is kept in the end, if that is not what it said.
Source. MSF-17 to MSF-21, MSF-12b, MSF-Q3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.events.schema import Schema
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import And, Filter, Or
from fyke.filters.predicate import In, TypeIs

STAGES_MAX: Final = 64
"""Stages that a publisher may name, at most."""

Stages: TypeAlias = tuple[tuple[str, ...], ...]
"""The attributes that each stage keeps, the most general first, from stage 0 on."""
Classes: TypeAlias = Mapping[str, Stages]
"""The stages of each class of events, by the name of its type."""


def check_stages(stages: Sequence[Sequence[str]], schema: Schema, type_name: str) -> Stages:
    """Return the stages of a class; FykeError unless each is part of the one before."""
    if isinstance(stages, str) or len(stages) > STAGES_MAX:
        raise FykeError(f"stages of {type_name}; expected at most {STAGES_MAX} lists of attributes")
    checked = tuple(tuple(each) for each in stages)
    known = _attributes(schema, type_name)
    for stage, names in enumerate(checked):
        wider = set(checked[stage - 1]) if stage else set(names)
        for name in names:
            if not isinstance(name, str) or not name:
                raise FykeError(f"stage {stage} of {type_name}: {shown(name)}; expected a name")
            if name not in wider:
                raise FykeError(
                    f"stage {stage} of {type_name} keeps {name}, which stage {stage - 1} does not; "
                    "expected each stage to keep part of what the one before keeps"
                )
            if known is not None and name not in known:
                raise FykeError(f"stage {stage} of {type_name} keeps {name}, which no event has")
    return checked


def _attributes(schema: Schema, type_name: str) -> frozenset[str] | None:
    """Return the names that events of a type may have; None where that is not declared."""
    if schema.type(type_name) is None:
        return None
    return frozenset(each.name for each in schema.attributes_of(type_name)) | {"type"}


def classes_of(filter: Filter) -> frozenset[str] | None:
    """Return the types that a filter asks for by name; None where it does not say."""
    if isinstance(filter, TypeIs):
        return frozenset({filter.name})
    if isinstance(filter, In) and filter.attribute == "type":
        return frozenset(each for each in filter.values if isinstance(each, str))
    parts = [classes_of(child) for child in filter.children]
    known = [each for each in parts if each is not None]
    if isinstance(filter, And) and known:
        return min(known, key=len)
    if isinstance(filter, Or) and len(known) == len(parts):
        return frozenset().union(*known)
    return None


def kept_at(stages: Stages, stage: int) -> frozenset[str]:
    """Return the attributes that a stage keeps; those beyond the last keep what the last does."""
    return frozenset(stages[min(stage, len(stages) - 1)]) if stages else frozenset()


def common(several: Iterable[Classes]) -> dict[str, Stages]:
    """Return, for each class, what all that speak of it keep at each stage."""
    found: dict[str, Stages] = {}
    for classes in several:
        for name, stages in classes.items():
            found[name] = _both(found[name], stages) if name in found else stages
    return dict(sorted(found.items()))


def are_alike(one: Stages, other: Stages) -> bool:
    """Return True if each stage keeps the same, in whatever order."""
    last = max(len(one), len(other))
    return all(kept_at(one, stage) == kept_at(other, stage) for stage in range(last))


def _both(one: Stages, other: Stages) -> Stages:
    """Keep at each stage what both keep, in an order that does not depend on who comes first."""
    last = max(len(one), len(other))
    return tuple(
        tuple(sorted(kept_at(one, stage) & kept_at(other, stage))) for stage in range(last)
    )


def weaken_for(filter: Filter, stage: int, classes: Classes, schema: Schema) -> Filter:
    """Return a filter as a stage needs it: as far as it speaks of what the stage keeps.

    A filter of several classes keeps what any of them keeps. It stays as it is where it may accept
    events of a class without stages.
    """
    if not classes:
        return filter
    kept = _kept(filter, stage, classes, schema)
    return filter if kept is None else _weakened(filter, kept)


def _kept(filter: Filter, stage: int, classes: Classes, schema: Schema) -> frozenset[str] | None:
    names = classes_of(filter)
    if names is None:
        stages: list[Stages | None] = list(classes.values())
    else:
        stages = [_stages_of(name, classes, schema) for name in names]
    known = [each for each in stages if each is not None]
    if len(known) < len(stages):
        return None
    return frozenset({"type"}).union(*(kept_at(each, stage) for each in known))


def _stages_of(type_name: str, classes: Classes, schema: Schema) -> Stages | None:
    """Return the stages of a type, or of the nearest supertype that has some."""
    above = (type_name, *schema.supertypes(type_name))
    return next((classes[each] for each in above if each in classes), None)


@lru_cache(maxsize=4096)
def _weakened(filter: Filter, kept: frozenset[str]) -> Filter:
    return weaken(filter, kept)
