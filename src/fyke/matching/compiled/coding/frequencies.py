"""Frequencies: the share of events that have a symbol, expected before and observed since.

Idea. A subscription is filed under the rarest symbol that it needs. When a vocabulary gives out a
symbol, it asks a *source* for the *prior* of that symbol: a share of the events, and the number of
events that this share weighs as much as. A weight of zero says that nothing is known; then there
is a guess. For a value, that is its share among the subscriptions that name a value of the same
attribute, because what many people wait for tends to happen often: most rules for Windows name one
product, and so do the events they are for. For patterns, presence and types it is a constant.
Observed events soon outweigh both.

    SampleSource(statistics)         what a sample of events says (`matching.statistics`)
    vocabulary.frequencies           observed events, priors and guesses together
    ObservedSource(old, sample)      what an old vocabulary has observed, or else what a sample says

Example. A prior of (0.5, 256) and 10 of 100 events observed make (0.5 * 256 + 10) / (256 + 100).
Invariant. Verdicts never depend on a frequency. A symbol is observed from the moment on in which it
is given out: `since` holds how many events came before.
Cost. A few additions for each event that is observed.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np

from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import Glob
from fyke.matching.compiled.coding.axes import KEYED, SYMBOL_STEP, AxisKind
from fyke.matching.compiled.coding.codes import OTHER
from fyke.matching.compiled.kernels.frames import EventBases
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import frame_at, word
from fyke.matching.statistics import AttributeCounts, Statistics

if TYPE_CHECKING:
    from fyke.matching.compiled.boxes.box_table import BoxTable
    from fyke.matching.compiled.coding.event_coding import Codes
    from fyke.matching.compiled.coding.vocabulary import Vocabulary

Prior: TypeAlias = tuple[float, float]
"""A share of the events, and its weight in events."""
Shares: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
_Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
_Flags: TypeAlias = np.ndarray[Any, np.dtype[np.int8]]

UNKNOWN: Final[Prior] = (0.0, 0.0)
WEIGHT_MIN: Final = 256
WEIGHT_MAX: Final = 10_000
"""Weight of a prior, at most: as many observed events outweigh any share."""
GUESS_WEIGHT: Final = 256
GUESS: Final = {
    AxisKind.VALUE: 0.01,
    AxisKind.TEXT: 0.005,
    AxisKind.TYPE: 0.3,
    AxisKind.PRESENCE: 0.5,
}
UNSEEN: Final = 0.5
"""Occurrences that are assumed of something that was never seen."""
TEXTS_MAX: Final = 256
"""Strings of an attribute that are held against a pattern."""
OBSERVED_ROWS_MAX: Final = 256
"""Rows of a batch that are observed."""
_SYMBOLIC: Final = 1
_TEXTUAL: Final = 2
"""The codes of an axis are symbols, or rows of symbols; 0 stands for any other."""
_SPARSE: Final = 16
"""Numbers are laid out in an array if more than one in 16 occurs; else taken one by one."""


# --- where priors come from ----------------------------------------------------------------------


class Source(Protocol):
    """Gives the priors of what a vocabulary has not named before; values by `scalar_key`."""

    def value(self, attribute: str, key: object) -> Prior: ...

    def presence(self, attribute: str) -> Prior: ...

    def type(self, name: str) -> Prior: ...

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Prior: ...


class SampleSource:
    """The source that the statistics of a sample are."""

    def __init__(self, statistics: Statistics | None = None) -> None:
        self.statistics = Statistics() if statistics is None else statistics
        self._known: dict[str, _SampledAttribute] = {}
        if self.statistics.events:
            self._known = {
                name: _SampledAttribute.of(counts)
                for name, counts in self.statistics.attributes.items()
            }

    def value(self, attribute: str, key: object) -> Prior:
        known = self._known.get(attribute)
        if known is None:
            return UNKNOWN
        return self._prior(known.counts.values.get(key, known.other))

    def presence(self, attribute: str) -> Prior:
        known = self._known.get(attribute)
        return UNKNOWN if known is None else self._prior(known.counts.present)

    def type(self, name: str) -> Prior:
        return self._prior(self.statistics.types.get(name, 0)) if self.statistics.types else UNKNOWN

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Prior:
        known = self._known.get(attribute)
        if known is None or not known.texts:
            return UNKNOWN
        accepts = globs.matcher(pattern)
        accepted = sum(
            count
            for text, count in known.texts.items()
            if accepts(globs.fold(text) if ignore_case else text)
        )
        part = max(accepted, UNSEEN) / max(sum(known.texts.values()), 1)
        return self._prior(min(part, 1.0) * known.counts.present)

    def _prior(self, count: float) -> Prior:
        events = self.statistics.events
        return max(count, UNSEEN) / events, min(max(events, WEIGHT_MIN), WEIGHT_MAX)


@dataclass(frozen=True, slots=True)
class _SampledAttribute:
    counts: AttributeCounts
    other: float
    """Occurrences that are assumed of a value that is not among the counts."""
    texts: dict[str, int]

    @classmethod
    def of(cls, counts: AttributeCounts) -> _SampledAttribute:
        rest = max(counts.present - sum(counts.values.values()), 0)
        texts = ((key, n) for key, n in counts.values.items() if isinstance(key, str))
        return cls(
            counts=counts,
            other=min(rest, min(counts.values.values(), default=rest)),
            texts=dict(islice(texts, TEXTS_MAX)),
        )


class ObservedSource:
    """The source that an old vocabulary is; where it has observed little, a sample answers."""

    def __init__(self, old: Vocabulary, sample: SampleSource) -> None:
        self.sample = sample
        self._old = old

    def value(self, attribute: str, key: object) -> Prior:
        axes = self._old.attributes.get(attribute)
        symbol = None if axes is None else axes.symbols.get(key)
        return self._observed(symbol) or self.sample.value(attribute, key)

    def presence(self, attribute: str) -> Prior:
        axes = self._old.attributes.get(attribute)
        symbol = None if axes is None or axes.presence < 0 else axes.presence_symbol
        return self._observed(symbol) or self.sample.presence(attribute)

    def type(self, name: str) -> Prior:
        _, symbol = self._old.types.get(name, (0, None))
        return self._observed(symbol) or self.sample.type(name)

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Prior:
        axes = self._old.attributes.get(attribute)
        symbol = None if axes is None else axes.pattern_symbols.get((pattern, ignore_case))
        return self._observed(symbol) or self.sample.pattern(attribute, pattern, ignore_case)

    def _observed(self, symbol: int | None) -> Prior | None:
        return None if symbol is None else self._old.frequencies.posterior(symbol // SYMBOL_STEP)


# --- the frequencies of one vocabulary -----------------------------------------------------------


class Frequencies:
    """The prior of each symbol and the events observed with it, by half the symbol."""

    def __init__(self, axes: Sequence[tuple[AxisKind, str]], source: Source) -> None:
        self.source = source
        self.events = 0
        """Events observed so far."""
        self.counts: _Counts = np.zeros(0, np.int64)
        self.since: _Counts = np.zeros(0, np.int64)
        """Events observed before each symbol was given out."""
        self._axes = axes
        self._kinds: _Flags = np.zeros(0, np.int8)
        self._shares = array("f", [0.0])
        self._weights = array("f", [0.0])
        self._has_priors = False
        """True if some symbol has a prior."""
        self._named = array("i", [0])
        """By half the symbol, how often subscriptions named it; and how often some on an axis."""
        self._named_on: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._shares)

    # --- priors

    def append(self, prior: Prior) -> None:
        """Add a symbol that is given out."""
        share, weight = prior
        self._shares.append(share)
        self._weights.append(weight)
        self._named.append(0)
        self._has_priors = self._has_priors or weight > 0

    def correct(self, symbol: int, prior: Prior) -> None:
        """Replace the prior of a symbol, unless the new one says nothing."""
        if prior != UNKNOWN:
            place = symbol // SYMBOL_STEP
            self._shares[place], self._weights[place] = prior
            self._has_priors = True

    def name(self, axis: int, symbol: int) -> None:
        """Take note of a subscription that asks for a value."""
        self._named[symbol // SYMBOL_STEP] += 1
        self._named_on[axis] += 1

    def prior_arrays(self, size: int) -> tuple[Shares, Shares]:
        """Return the shares and weights of the first symbols; others may be added meanwhile."""
        return _first(self._shares, size), _first(self._weights, size)

    # --- observing

    def observe(self, codes: Codes, rows: int = OBSERVED_ROWS_MAX) -> None:
        """Count the symbols of the first events."""
        rows = min(rows, codes.events)
        self._reserve()
        if not self.counts.flags.writeable:
            self.counts = self.counts.copy()
        count_symbols(codes.frame.handle, rows, self._kinds_of(codes.lows.shape[1]), self.counts)
        self.events += rows

    def _kinds_of(self, coded: int) -> _Flags:
        """Return for each of the first `coded` axes what its codes are."""
        if len(self._kinds) != coded:
            kinds = [kind for kind, _ in self._axes[:coded]]
            self._kinds = np.array(
                [_TEXTUAL if kind is AxisKind.TEXT else int(kind in KEYED) for kind in kinds],
                np.int8,
            )
        return self._kinds

    def _reserve(self) -> None:
        """Make room for the symbols that were given out meanwhile."""
        new = len(self) - len(self.counts)
        if new > 0:
            self.since = np.append(self.since, np.full(new, self.events))
            self.counts = np.append(self.counts, np.zeros(new, np.int64))

    # --- what is expected

    def share(self, axis: int, symbol: int) -> float:
        """Return the expected share of events that have a symbol.

        A value without a prior is guessed from what subscriptions named so far.
        """
        place = symbol // SYMBOL_STEP
        expected, weight = self._shares[place], self._weights[place]
        if not weight:
            kind = self._axes[axis][0]
            expected, weight = GUESS[kind], GUESS_WEIGHT
            if kind is AxisKind.VALUE:
                named, of = self._named[place], self._named_on[axis]
                expected = (expected * weight + named) / (weight + of)
        seen, events = self._seen(place)
        return (expected * weight + seen) / (weight + events)

    def posterior(self, place: int) -> Prior | None:
        """Return what a symbol's prior would be now; None if too few events are known."""
        share, weight = self._shares[place], self._weights[place]
        seen, events = self._seen(place)
        if weight + events < WEIGHT_MIN:
            return None
        expected = (share * weight + max(seen, UNSEEN)) / (weight + events)
        return min(expected, 1.0), min(weight + events, WEIGHT_MAX)

    def shares(self, boxes: BoxTable) -> Shares:
        """Return the expected share of each constraint's symbol; 1 where it names none.

        Values without a prior are guessed from these boxes.
        """
        kinds = np.array([kind for kind, _ in self._axes], np.int32)
        guess = np.array([GUESS.get(kind, 0.0) for kind, _ in self._axes])
        keys = np.flatnonzero((boxes.low == boxes.high) & (guess[boxes.axis] > 0))
        axis, place = boxes.axis[keys], boxes.low[keys] // SYMBOL_STEP
        prior = guess[axis]
        values = np.flatnonzero(kinds[axis] == AxisKind.VALUE)
        named = _occurrences(place[values], SYMBOL_STEP * len(self))
        prior[values] = named / np.bincount(axis[values])[axis[values]]
        expected, weight = self._priors_at(place)
        prior = np.where(weight > 0, expected, prior)
        weight = np.where(weight > 0, weight, GUESS_WEIGHT)
        seen, events = self._seen_at(place)
        shares = np.ones(len(boxes.axis), np.float32)
        shares[keys] = (prior * weight + seen) / (weight + events)
        return shares

    def _priors_at(self, places: np.ndarray[Any, np.dtype[np.int32]]) -> tuple[Shares, Shares]:
        """Return the shares and weights of some symbols."""
        if not self._has_priors:
            nothing = np.zeros(len(places), np.float32)
            return nothing, nothing
        if _SPARSE * len(places) > len(self):
            shares, weights = self.prior_arrays(int(places.max(initial=0)) + 1)
            return shares[places], weights[places]
        pairs = [(self._shares[place], self._weights[place]) for place in places.tolist()]
        found = np.array(pairs, np.float32).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def _seen(self, place: int) -> tuple[int, int]:
        """Return how many events had a symbol, and of how many."""
        if place >= len(self.counts):
            return 0, 0
        return int(self.counts[place]), self.events - int(self.since[place])

    def _seen_at(self, places: np.ndarray[Any, np.dtype[np.int32]]) -> tuple[_Counts, _Counts]:
        """Return the same for many symbols."""
        counts, since = self.counts, self.since
        known = np.flatnonzero(places < min(len(counts), len(since)))
        seen, events = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        seen[known] = counts[places[known]]
        events[known] = self.events - since[places[known]]
        return seen, events

    # --- snapshots

    def restore_priors(self, shares: Shares, weights: Shares) -> None:
        """Take the priors that were saved; ValueError if shares and weights do not fit."""
        if shares.shape != weights.shape:
            raise ValueError("the priors of symbols are not what they should be")
        self._shares = array("f", shares.astype(np.float32).tobytes())
        self._weights = array("f", weights.astype(np.float32).tobytes())
        self._named = array("i", bytes(4 * len(self._shares)))
        self._named_on.clear()
        self._has_priors = bool(weights.any())

    def restore_counts(self, counts: _Counts, since: _Counts, events: int) -> None:
        """Take the counts that were saved; ValueError if they do not fit."""
        is_plain = counts.dtype == since.dtype == np.int64 and counts.ndim == 1
        if not is_plain or counts.shape != since.shape or len(counts) > len(self):
            raise ValueError("the counts of events are not what they should be")
        self.counts, self.since, self.events = counts, since, events


@kernel
def count_symbols(events_frame: Any, rows: int, kinds: Any, counts: Any) -> None:
    """Count the symbols of the first events; a symbol that has no count yet is passed over."""
    events: EventBases = frame_at(EventBases, events_frame)
    for row in range(rows):
        for axis in range(len(kinds)):
            code = word(events.lows, row * events.axes + axis)
            if kinds[axis] == _SYMBOLIC:
                if code > OTHER and code // SYMBOL_STEP < len(counts):
                    counts[code // SYMBOL_STEP] += 1
            elif kinds[axis] == _TEXTUAL and code >= 0:
                for at in range(word(events.accepted_at, code), word(events.accepted_at, code + 1)):
                    place = word(events.accepted, at) // SYMBOL_STEP
                    if place < len(counts):
                        counts[place] += 1


def _occurrences(places: np.ndarray[Any, np.dtype[np.int32]], end: int) -> Any:
    """Return how often the number at each place occurs; all are below `end`."""
    if _SPARSE * len(places) > end:
        return np.bincount(places)[places]
    _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    return counts[which]


def _first(numbers: array[float], size: int) -> Shares:
    found = np.frombuffer(numbers.tobytes(), np.float32)[:size]
    return np.concatenate([found, np.zeros(size - len(found), np.float32)])
