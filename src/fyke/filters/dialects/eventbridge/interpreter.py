"""The exact meaning of a pattern, on the nested event.

Fields are independent unless two of them reach into one array of objects: then their values must
come from the same element (event-ruler's array consistency).
    {"people": {"first": ["Anna"], "last": ["Jones"]}}       refuses
    {"people": [{"first": "Anna", "last": "Smith"}, {"first": "Eve", "last": "Jones"}]}
although both names are there.

Idea. Elements of arrays form a tree below the root. Take the fields in the order of their paths and
keep the set of elements in which a partial match may stand. A field moves it to where the field's
values sit: down into the element, or along after climbing out of arrays that are not on its path.
An absent field must be absent from the element reached so far, not from the event.
Invariant. After each field, an element is in the set exactly if some choice of values for the
fields so far is consistent and ends there; what it chose in arrays already left matters no more.
Cost. Per field, its values times the depth. Without a list at any path the flat attributes decide.
Differs. Arrays that are spelled at one path with different dots in keys count as one array; fields
are ordered by segments, event-ruler orders by characters (that shows only with `exists: false`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from fyke.events.event import Event
from fyke.events.value import Scalar, Value, admit
from fyke.filters.dialects.eventbridge.field import Field
from fyke.filters.dialects.eventbridge.pattern import Branch, Pattern


def groups(branch: Branch) -> Iterator[Branch]:
    """Yield the fields of a branch that can meet in an array: their paths start alike."""
    for _, fields in groupby(branch, key=lambda field: field.segments[0]):
        yield tuple(fields)


class PatternCheck:
    """The test if an event matches a pattern. `attributes` are the paths that the pattern names."""

    __slots__ = ("_branches", "attributes")

    def __init__(self, pattern: Pattern) -> None:
        fields = {field for branch in pattern.branches for field in branch}
        self.attributes: frozenset[str] | None = frozenset(field.path for field in fields)
        asked = {field: _Asked(field) for field in fields}
        self._branches = [
            [[asked[field] for field in group] for group in groups(branch)]
            for branch in pattern.branches
        ]

    def __call__(self, event: Event) -> bool:
        return any(all(_holds(group, event) for group in branch) for branch in self._branches)


class _Asked:
    """A field with its test compiled."""

    __slots__ = ("absent", "path", "test")

    def __init__(self, field: Field) -> None:
        self.path = field.path
        self.absent = field.accepts_none
        self.test: Callable[[Scalar], bool] = field.test()

    def holds(self, attributes: dict[str, Value]) -> bool:
        """Return the verdict if no other field matters."""
        value = attributes.get(self.path, ())
        if not isinstance(value, tuple):
            return self.test(value)
        return any(map(self.test, value)) if value else self.absent


def _holds(group: list[_Asked], event: Event) -> bool:
    attributes = event.attributes
    if len(group) == 1 or not any(type(attributes.get(asked.path)) is tuple for asked in group):
        return all(asked.holds(attributes) for asked in group)
    return _Elements(group, event.document).consistent()


class _Elements:
    """The elements of arrays that lead to the fields of one group, and the values that sit there.

    Element 0 is the root. Ticks count values in document order, so that the values below an element
    are those between its start and its end.
    """

    def __init__(self, group: list[_Asked], document: Mapping[str, object]) -> None:
        self.group = group
        self.tests = {asked.path: asked.test for asked in group}
        self.paths = sorted(self.tests)
        self.tick = 0
        self.parents, self.arrays, self.starts, self.ends = [0], [""], [0], [0]
        self.values: dict[str, list[tuple[int, int, bool]]] = {path: [] for path in self.paths}
        self.directly: dict[tuple[str, int], bool] = {}
        self._object(document, "", 0)
        self.ends[0] = self.tick

    # --- building

    def _object(self, document: Mapping[str, object], prefix: str, element: int) -> None:
        for name, value in document.items():
            path = prefix + name
            if path in self.tests or self._leads_on(path):
                self._value(value, path, element)

    def _value(self, value: object, path: str, element: int) -> None:
        if isinstance(value, Mapping):
            self._object(value, path + ".", element)
        elif isinstance(value, (list, tuple)):
            for child in value:
                if isinstance(child, (Mapping, list, tuple)):
                    self._element(child, path, element)
                else:
                    self._scalar(child, path, element)
        else:
            self._scalar(value, path, element)

    def _element(self, value: object, path: str, parent: int) -> None:
        element = len(self.parents)
        self.parents.append(parent)
        self.arrays.append(path)
        self.starts.append(self.tick)
        self.ends.append(self.tick)
        self._value(value, path, element)
        self.ends[element] = self.tick

    def _scalar(self, value: object, path: str, element: int) -> None:
        test = self.tests.get(path)
        if test is not None:
            meets = test(admit(value))
            self.values[path].append((self.tick, element, meets))
            self.directly[path, element] = meets or self.directly.get((path, element), False)
            self.tick += 1

    def _leads_on(self, path: str) -> bool:
        inner = path + "."
        at = bisect_left(self.paths, inner)
        return at < len(self.paths) and self.paths[at].startswith(inner)

    # --- matching

    def consistent(self) -> bool:
        reached = {0}
        for asked in self.group:
            reached = {
                after
                for before in {self._climb(element, asked.path) for element in reached}
                for after in self._moves(before, asked)
            }
            if not reached:
                return False
        return True

    def _climb(self, element: int, path: str) -> int:
        """Return the innermost element, from here outwards, whose array is on the path."""
        while element and not f"{path}.".startswith(f"{self.arrays[element]}."):
            element = self.parents[element]
        return element

    def _moves(self, element: int, asked: _Asked) -> Iterator[int]:
        """Yield the elements to which a field can move a match that stands in `element`."""
        values = self.values[asked.path]
        first = bisect_left(values, (self.starts[element],))
        end = bisect_left(values, (self.ends[element],))
        for at in range(first, end):
            _, holder, meets = values[at]
            if meets:
                yield holder
        found, outer = first < end, element
        while outer:
            outer = self.parents[outer]
            meets_outside = self.directly.get((asked.path, outer))
            found = found or meets_outside is not None
            if meets_outside:
                yield element
        if asked.absent and not found:
            yield element
