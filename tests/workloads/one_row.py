"""One row at a time, in Python's integers: the oracle for what `fyke.workloads` draws as arrays.

A sketch takes either draw; what arrays give at position i is what `Row` gives for number i.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from typing import Any

from fyke.events.event import Event
from fyke.filters.filter import Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Predicate
from fyke.workloads.attribute import CodedAttribute, Number, Words, zipf
from fyke.workloads.bibliography import _AGAIN, _Titles
from fyke.workloads.composition import Composition
from fyke.workloads.conjunctive import ConjunctiveWorkload, FlatWorkload, MixedWorkload
from fyke.workloads.draw import COLUMNS, Choice, RandomStream, Ranges
from fyke.workloads.drawn import DrawnWorkload
from fyke.workloads.form import Fixed, Flag, Form, Moment, Names, Sentence
from fyke.workloads.predicates import NONE, PredicateSource
from fyke.workloads.strings import RECIPES, StringsWorkload, _source, recipe_filter
from fyke.workloads.trees import LEAVES, NEGATED_PER_MILLE, TREES_PER_MILLE, TreesWorkload, _sources
from fyke.workloads.workload import Workload

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def start(seed: int, name: str) -> int:
    """Where a stream starts."""
    found = mix(seed & MASK)
    for byte in name.encode():
        found = mix((found + byte + GOLDEN) & MASK)
    return found


def half(stream: RandomStream, row: int, column: int) -> int:
    return mix((int(stream.start) + (row * COLUMNS + column) * GOLDEN) & MASK) >> 32


def ends(weights: Sequence[int]) -> list[int]:
    total = sum(weights)
    return [(end << 32) // total for end in accumulate(weights)]


def pick(choice: Choice, bits: int) -> int:
    return bisect_right(choice.ends.tolist(), bits)


def inside(ranges: Ranges, at: int, bits: int) -> int:
    return int(ranges.starts[at]) + ((bits * int(ranges.widths[at])) >> 32)


@dataclass(frozen=True)
class Row:
    """The draws of one row, with the methods of `Draw`."""

    stream: RandomStream
    number: int

    def half(self, column: int) -> int:
        return half(self.stream, self.number, column)

    def below(self, column: int, limit: int) -> int:
        return (self.half(column) * limit) >> 32

    def pick(self, choice: Choice, column: int) -> int:
        return pick(choice, self.half(column))

    def pick_by(self, choice: Any, key: int, column: int) -> int:
        bounds = [*choice._starts.tolist(), len(choice._ends)]
        own = choice._ends.tolist()[bounds[key] : bounds[key + 1]]
        return bisect_right(own, self.half(column) + (int(key) << 32))

    def chance(self, per_mille: int, column: int) -> int:
        return int(self.below(column, 1_000) < per_mille)

    def inside(self, ranges: Ranges, at: int, column: int) -> int:
        return inside(ranges, at, self.half(column))

    def within(self, ranges: Ranges, which: int, inside: int) -> int:
        return self.inside(ranges, self.pick(ranges.choice, which), inside)

    def seek(self, number: int, stream: RandomStream | None = None) -> Row:
        return Row(stream or self.stream, number)


# --- forms ---------------------------------------------------------------------------------------


def value(form: Form, code: int) -> Any:
    """What stands in an event."""
    match form:
        case Fixed():
            return int(code) / form.scale
        case Names():
            return form.names[code].as_py()
        case Flag():
            return bool(code == 1)
        case Moment():
            return form.start.as_py() + timedelta(microseconds=int(code))
        case _Titles():
            return text_of(form._words, code // 2) + _AGAIN[code % 2]
    return int(code)


def word(form: Form, code: int) -> str:
    """What stands in the text of a filter."""
    if isinstance(form, Fixed):
        whole, rest = divmod(abs(int(code)), form.scale)
        return f"{'-' if code < 0 else ''}{whole}.{rest:0{form.decimals}d}"
    if isinstance(form, Flag):
        return "true" if code == 1 else "false"
    return str(value(form, code))


def fill(sentence: Sentence, codes: dict[str, int]) -> str:
    forms = sentence._forms.items()
    return sentence._text.format_map({name: word(form, codes[name]) for name, form in forms})


def text_of(composition: Composition, row: int) -> str:
    pieces = enumerate(composition._pieces)
    halves = [(each, half(composition._stream, row, at)) for at, each in pieces]
    return "".join(each.words[pick(each.choice, bits)] for each, bits in halves)


# --- attributes ----------------------------------------------------------------------------------


def code(attribute: CodedAttribute, bits: int) -> int:
    if isinstance(attribute, Words):
        return pick(zipf(attribute.size), bits)
    return (bits * attribute.size) >> 32


def code_ends(attribute: CodedAttribute, stream: RandomStream, row: int) -> tuple[int, int]:
    if not isinstance(attribute, Number):
        found = code(attribute, half(stream, row, 0))
        return found, found
    draw = Row(stream, row)
    width = draw.within(attribute.widths, 0, 1)
    low = draw.below(2, attribute.size - width + 1)
    return low, low + width - 1


def predicates(source: PredicateSource, row: int) -> list[Predicate]:
    matrix = source._templates.matrix
    chosen = matrix[Row(source._template, row).below(0, len(matrix))].tolist()
    used = [source._attributes[at] for at in chosen if at != NONE]
    places = zip(used, source._places, strict=False)
    return [each.predicate(*code_ends(each, place, row)) for each, place in places]


# --- workloads -----------------------------------------------------------------------------------


def event(work: Workload, number: int) -> Event:
    """What `work.event(number)` is, not for both markets at once."""
    if isinstance(work, DrawnWorkload):
        plan = work.plan()
        row = Row(plan.events, number)
        record = plan.records[plan.which_record(row)]
        codes = record.sketch(row)
        values = {name: value(form, codes[name]) for name, form in record.forms.items()}
        return Event({"type": record.type, **values}, supertypes=work.supertypes)
    if isinstance(work, StringsWorkload):
        made = _source(work.seed).events.items()
        return Event({name: text_of(composition, number) for name, composition in made})
    assert isinstance(work, FlatWorkload)
    return Event(
        {
            each.name: each.value(code(each, half(RandomStream(work.seed, name), number, 0)))
            for each in work.attributes
            for name in [f"{work.family} {each.name}"]
        }
    )


def text(work: Workload, number: int) -> str:
    if isinstance(work, DrawnWorkload):
        plan = work.plan()
        row = Row(plan.filters, number)
        wording = plan.wordings[plan.which_wording(row)]
        return fill(wording.sentence, wording.sketch(row))
    return str(filter(work, number))


def subscriber(work: DrawnWorkload, number: int) -> str:
    plan = work.plan()
    return fill(plan.subscriber.sentence, plan.subscriber.sketch(Row(plan.filters, number)))


def filter(work: Workload, number: int) -> Filter:
    if isinstance(work, StringsWorkload):
        source = _source(work.seed)
        row = Row(source.filters, number)
        drawn = {name: row.pick(source.pieces[name].choice, at) for at, name in PIECES}
        words = {name: source.pieces[name].words[code] for name, code in drawn.items()}
        return recipe_filter(RECIPES[row.below(0, len(RECIPES))], words)
    if isinstance(work, TreesWorkload):
        shapes, leaves = _sources(work.seed)
        row = Row(shapes, number)
        if row.below(LEAVES, 1_000) >= TREES_PER_MILLE:
            return filter(MixedWorkload(work.seed), number)
        a, b, c, d, e, f = (
            negation(leaf) if at >= work.guarded and row.chance(NEGATED_PER_MILLE, at) else leaf
            for at, leaf in enumerate(predicates(leaves, number))
        )
        return conjunction((a, disjunction((b, c)), disjunction((d, conjunction((e, f))))))
    assert isinstance(work, ConjunctiveWorkload)
    source = PredicateSource(work.seed, f"{work.family} filters", work.attributes, work.templates())
    return conjunction(predicates(source, number))


PIECES = list(
    enumerate(
        (
            *("host", "root", "owner", "folder", "name", "ending", "extension"),
            *("program", "flag", "option", "value"),
        ),
        start=1,
    )
)
