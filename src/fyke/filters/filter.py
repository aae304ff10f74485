"""Filter: a Boolean tree over predicates, which is a set of events.

`filter.matches(event)` is the reference semantics; every index, route and Spark job is held
against it. Trees are immutable values: build them with `conjunction`, `disjunction` and `negation`
(or `&`, `|`, `~`), which keep the normal form of PRU-2: no And directly below an And, no Or below
an Or, no operator with fewer than two children, no double negation. They change nothing else;
`simplify` does more.

Each node compiles itself, on first use, to a closure over (attributes, event); a match is then a
few calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from fyke.errors import FilterError
from fyke.events.event import Document, Event, as_event
from fyke.events.value import Value

Test: TypeAlias = Callable[[dict[str, Value], Event], bool]

DEPTH_MAX: Final = 200
"""No tree is deeper, however it was built, so that recursion over trees is always safe."""


class Filter:
    """A set of events.

    Compared by structure; `==` of filters is not equivalence (see `covering.equivalent`).
    """

    __slots__ = ("_hash", "_test")

    depth: ClassVar[int] = 1
    _hash: int
    _test: Test

    def matches(self, event: Event | Document) -> bool:
        """Return True if the event is in this set."""
        if type(event) is not Event:
            event = as_event(event)
        try:
            test = self._test
        except AttributeError:
            test = self.test()
        return test(event.attributes, event)

    def test(self) -> Test:
        """Return the compiled form of `matches`. It is made once."""
        try:
            return self._test
        except AttributeError:
            object.__setattr__(self, "_test", self._compile())
            return self._test

    def _compile(self) -> Test:
        raise NotImplementedError

    def key(self) -> tuple[object, ...]:
        """Return the values that make two filters equal. Booleans and numbers in it differ."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Filter, ...]:
        return ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("filters are immutable")

    def __and__(self, other: Filter) -> Filter:
        return conjunction((self, other))

    def __or__(self, other: Filter) -> Filter:
        return disjunction((self, other))

    def __invert__(self) -> Filter:
        return negation(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((type(self).__name__, self.key())))
            return self._hash

    def __str__(self) -> str:
        """Return the canonical native text: `parse(str(f)) == f` for every filter."""
        raise TypeError(f"no native syntax for {type(self).__name__}")

    def __repr__(self) -> str:
        return f"fyke.parse({str(self)!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constant(Filter):
    """Everything or nothing. Use `TRUE` and `FALSE`."""

    value: bool

    def key(self) -> tuple[object, ...]:
        return (self.value,)

    def _compile(self) -> Test:
        value = self.value
        return lambda attributes, event: value

    def __str__(self) -> str:
        return "true" if self.value else "false"


TRUE: Final = Constant(True)
FALSE: Final = Constant(False)


class _Operator(Filter):
    __slots__ = ("_children", "_depth")

    _children: tuple[Filter, ...]
    _depth: int

    def __init__(self, children: tuple[Filter, ...]) -> None:
        depth = 1
        for child in children:
            if child.depth >= depth:
                depth = child.depth + 1
        if depth > DEPTH_MAX:
            raise FilterError(f"the filter is nested deeper than {DEPTH_MAX} levels")
        object.__setattr__(self, "_children", children)
        object.__setattr__(self, "_depth", depth)

    @property
    def children(self) -> tuple[Filter, ...]:
        return self._children

    @property
    def depth(self) -> int:  # type: ignore[override]
        return self._depth

    def key(self) -> tuple[object, ...]:
        return self._children

    def __reduce__(self) -> tuple[type[Filter], tuple[tuple[Filter, ...]]]:
        return type(self), (self._children,)


class And(_Operator):
    """All children accept. Build with `conjunction`."""

    __slots__ = ()

    def _compile(self) -> Test:
        tests = tuple(child.test() for child in self._children)
        if len(tests) == 2:
            first, second = tests
            return lambda attributes, event: first(attributes, event) and second(attributes, event)

        def all_of(attributes: dict[str, Value], event: Event) -> bool:
            for test in tests:
                if not test(attributes, event):
                    return False
            return True

        return all_of

    def __str__(self) -> str:
        return " and ".join(_operand(child, Or) for child in self._children)


class Or(_Operator):
    """Some child accepts. Build with `disjunction`."""

    __slots__ = ()

    def _compile(self) -> Test:
        tests = tuple(child.test() for child in self._children)

        def any_of(attributes: dict[str, Value], event: Event) -> bool:
            for test in tests:
                if test(attributes, event):
                    return True
            return False

        return any_of

    def __str__(self) -> str:
        return " or ".join(map(str, self._children))


class Not(_Operator):
    """The child does not accept.

    True, then, where its attribute is missing. Build with `negation`.
    """

    __slots__ = ()

    @property
    def child(self) -> Filter:
        return self._children[0]

    def _compile(self) -> Test:
        test = self._children[0].test()
        return lambda attributes, event: not test(attributes, event)

    def __str__(self) -> str:
        return f"not {_operand(self.child, Or, And)}"


def _operand(child: Filter, *looser: type[Filter]) -> str:
    return f"({child})" if isinstance(child, looser) else str(child)


def conjunction(filters: Iterable[Filter]) -> Filter:
    """Return the And of any number of filters; TRUE if there are none."""
    return _join(And, filters, TRUE)


def disjunction(filters: Iterable[Filter]) -> Filter:
    """Return the Or of any number of filters; FALSE if there are none."""
    return _join(Or, filters, FALSE)


def negation(filter: Filter) -> Filter:
    """Return the Not of a filter; the child of a Not; the other one of a constant."""
    if isinstance(filter, Not):
        return filter.child
    if isinstance(filter, Constant):
        return FALSE if filter.value else TRUE
    return Not((filter,))


def _join(operator: type[And] | type[Or], filters: Iterable[Filter], neutral: Constant) -> Filter:
    children: list[Filter] = []
    for filter in filters:
        if type(filter) is operator:
            children.extend(filter.children)
        else:
            children.append(filter)
    if len(children) < 2:
        return children[0] if children else neutral
    return operator(tuple(children))


def walk(filter: Filter) -> Iterator[Filter]:
    """Yield every node of the tree, parents first."""
    todo = [filter]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(node.children))
