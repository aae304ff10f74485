"""Predicates on strings: patterns, regular expressions, networks of addresses."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TypeAlias

from fyke.errors import FilterError, shown
from fyke.events.value import Value
from fyke.filters import glob as globs
from fyke.filters.glob import Glob
from fyke.filters.predicate import Accepts, Predicate, ValuePredicate, equals
from fyke.filters.regular_expression import finder, regular_expression


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


def like(attribute: str, pattern: Glob, ignore_case: bool = False) -> Predicate:
    """A pattern as its simplest predicate: without wildcards it is an equality."""
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matches(ValuePredicate):
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InNetwork(ValuePredicate):
    """A string that is an IPv4 or IPv6 address within the network."""

    attribute: str
    network: Network

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


def in_network(attribute: str, network: str) -> InNetwork:
    """Reads CIDR notation; bits beyond the mask are ignored."""
    try:
        return InNetwork(attribute, ipaddress.ip_network(network, strict=False))
    except ValueError:
        raise FilterError(
            f"{shown(network)} is not a network", expected="CIDR notation such as '10.0.0.0/8'"
        ) from None
