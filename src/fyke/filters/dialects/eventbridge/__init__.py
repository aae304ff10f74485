"""Amazon EventBridge event patterns, and the SNS filter policies of the same family.

Idea. A pattern mirrors the event: objects lead to fields, and a field's array lists what its value
may be. Fields are joined by and, the values of an array by or, `$or` joins whole objects. A pattern
is read into branches without `$or` (`pattern`), a branch is a map from dotted paths to fields
(`field`), and paths are what events are flattened to. So nearly everything is a predicate.
Example. {"detail": {"state": ["on", {"prefix": "run"}]}} becomes
detail.state = 'on' or detail.state starts with 'run'.
Invariant. The predicates alone cover the pattern. A residual is added only for what flat attributes
cannot tell: whether values sat in one element of an array, and `anything-but` of a string pattern
on lists (`compiler`). A residual's text is again a pattern, and `interpreter` its exact meaning.
Cost. Reading and compiling are linear in the pattern times its `$or` combinations, at most 1000.
Source. The EventBridge user guide and the behaviour of aws/event-ruler;
`docs/dialects/eventbridge.md` says where we differ.

Inside:

    source, pattern, field, operators
                            JSON to branches, fields and conditions
    compiler                a pattern as predicates and residuals
    interpreter             the exact meaning, on the nested event
    complexity              how hard the wildcards of a field are to follow
"""

from __future__ import annotations

from typing import Final

from fyke.filters.dialects.eventbridge.compiler import compile_pattern
from fyke.filters.dialects.eventbridge.interpreter import PatternCheck
from fyke.filters.dialects.eventbridge.pattern import read_pattern
from fyke.filters.filter import Filter
from fyke.limits import Limits

_CHECK_LIMITS: Final = Limits(text_length_max=2**31, nodes_max=2**20, list_size_max=2**31)
"""Of a text that a parser has already bounded, perhaps by limits wider than the default."""


def parse(source: object, limits: Limits) -> Filter:
    """Read the filter of a pattern; the source is JSON text or the parsed object."""
    return compile_pattern(read_pattern(source, limits))


def check(text: str) -> PatternCheck:
    """Return the interpreter of a residual's text."""
    return PatternCheck(read_pattern(text, _CHECK_LIMITS))
