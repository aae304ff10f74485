"""Predicates on strings: patterns, regular expressions, networks of addresses."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from fyke.errors import FilterError, shown
from fyke.events.value import Value
from fyke.filters.declaration import DECLARATIONS, declare
from fyke.filters.language.notation import attribute_name, literal
from fyke.filters.predicate import Accepts, Predicate, ValuePredicate, equals
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import Glob
from fyke.filters.texts.regular_expression import finder, regular_expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Like(ValuePredicate):
    """A string that fits a pattern.

    With `ignore_case` the pattern is held folded. Build with `like`.
    """

    attribute: str
    pattern: Glob
    ignore_case: bool = False

    def __post_init__(self) -> None:
        globs.check_size(self.pattern)

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.pattern.segments, self.ignore_case

    def accepts(self) -> Accepts:
        fits = globs.matcher(self.pattern)
        if self.ignore_case:
            fold = globs.fold
            return lambda value: type(value) is str and fits(fold(value))
        return lambda value: type(value) is str and fits(value)

    def __str__(self) -> str:
        return f"{attribute_name(self.attribute)} {self._condition()}"

    def _condition(self) -> str:
        pattern = self.pattern
        if self.ignore_case:
            return f"ilike {literal(globs.to_like(pattern))}"
        if pattern.accepts_all:
            return "like '%'"
        if pattern.is_prefix:
            return f"starts with {literal(pattern.segments[0])}"
        if pattern.is_suffix:
            return f"ends with {literal(pattern.segments[1])}"
        if pattern.is_contains:
            return f"contains {literal(pattern.segments[1])}"
        return f"like {literal(globs.to_like(pattern))}"


def like(attribute: str, pattern: Glob, ignore_case: bool = False) -> Predicate:
    """Return the simplest predicate of a pattern: without wildcards it is an equality."""
    if ignore_case:
        pattern = pattern.folded()
        if not all(globs.is_caseless(char) for char in pattern.tokens()):
            return Like(attribute, pattern, ignore_case=True)
    return equals(attribute, pattern.segments[0]) if pattern.is_exact else Like(attribute, pattern)


def starts_with(attribute: str, prefix: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, Glob((prefix, "")), ignore_case)


def ends_with(attribute: str, suffix: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, Glob(("", suffix)), ignore_case)


def contains(attribute: str, inner: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, globs.glob(("", inner, "")), ignore_case)


class TextPredicate(ValuePredicate):
    """A predicate on strings that is an attribute and a text (see `declaration`).

    The methods may give the answers of this class: they are safe for every set of strings.
    """

    __slots__ = ()

    @classmethod
    def from_text(cls, attribute: str, text: str) -> Self:
        """Read the predicate; FilterError if the text is refused."""
        return cls(attribute, text)  # type: ignore[call-arg]

    def __str__(self) -> str:
        declaration = DECLARATIONS[type(self)]
        attribute, text = declaration.strings(self)
        return f"{attribute_name(attribute)} {declaration.words} {literal(text)}"

    def covers(self, other: Self) -> bool:
        """Return True only if every string that `other` accepts is accepted here."""
        return self.key()[1:] == other.key()[1:]

    def overlaps(self, other: Self) -> bool:
        """Return False only if no string is accepted by both."""
        return True

    def some_string(self) -> str | None:
        """Return a string that is accepted; None if none is known."""
        return None


@declare(
    "matches",
    code=8,
    words="matches",
    expected="a regular expression in quotes",
    examples=("a", "^a", "b$", "^$", "[a-c]+", "(?i)^AB", "^a.*b$", "", "^ab$", "(?i)k"),
)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matches(TextPredicate):
    """A string in which RE2 finds `pattern` somewhere.

    Anchor it with ^ and $ to bind the whole string.
    """

    attribute: str
    pattern: str

    def __post_init__(self) -> None:
        regular_expression(self.pattern)

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.pattern

    def accepts(self) -> Accepts:
        is_found = finder(self.pattern)
        return lambda value: type(value) is str and is_found(value)


Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


@declare(
    "in network",
    code=9,
    words="in cidr",
    expected="a network such as '10.0.0.0/8'",
    examples=(
        *("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "0.0.0.0/0"),
        *("::/0", "2001:db8::/32"),
    ),
)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InNetwork(TextPredicate):
    """A string that is an IPv4 or IPv6 address within the network."""

    attribute: str
    network: Network

    @classmethod
    def from_text(cls, attribute: str, text: str) -> Self:
        """Read CIDR notation; bits beyond the mask are ignored."""
        try:
            return cls(attribute, ipaddress.ip_network(text, strict=False))
        except ValueError:
            raise FilterError(
                f"{shown(text)} is not a network", expected="CIDR notation such as '10.0.0.0/8'"
            ) from None

    def key(self) -> tuple[object, ...]:
        return self.attribute, str(self.network)

    def accepts(self) -> Accepts:
        network = self.network

        def is_member(value: Value) -> bool:
            if type(value) is not str:
                return False
            try:
                return ipaddress.ip_address(value) in network
            except ValueError:
                return False

        return is_member

    def covers(self, other: Self) -> bool:
        outer, inner = self.network, other.network
        return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]

    def overlaps(self, other: Self) -> bool:
        left, right = self.network, other.network
        return left.version == right.version and left.overlaps(right)

    def some_string(self) -> str:
        return str(self.network.network_address)


in_network: Final = InNetwork.from_text
