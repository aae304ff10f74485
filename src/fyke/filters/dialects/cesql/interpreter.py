"""Expressions evaluated: the meaning of CESQL, to which everything that is compiled is held.

Idea. Each node becomes a function from the event's attributes to a value and an error. An error
ends the evaluation of every operator above it, which then gives the zero of its type beside that
error; the operator at which the error arises says what it gives itself.

    missing = 2         False, missingAttribute         5 / 0           0, math
    missing * 5         0, missingAttribute             NOT 10          True, cast (see below)

AND and OR look at their right side only where the left leaves it open: `FALSE AND 1 / 0 = 1` is
no error.

Beyond the standard, which knows no lists. An operand of AND, OR, XOR or NOT, or the whole
expression, that reads one attribute, which holds a list: true if it is true of some element, else
an error if some element gives one, else false. Elsewhere a list is a cast error. A list without
anything but null in it is missing.

Where the texts disagree. The standard casts integers to Boolean, the conformance kit makes `NOT
10` a cast error; we do as both say: `10 AND TRUE` is true, `NOT 10` fails. Arithmetic beyond 32
bits, of which the standard says nothing, is a math error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from fyke.events.value import Value
from fyke.filters.dialects.cesql import functions
from fyke.filters.dialects.cesql.like import pattern_glob
from fyke.filters.dialects.cesql.syntax import (
    NOT_AN_ATTRIBUTE,
    Arithmetic,
    Call,
    Comparison,
    ExistsTest,
    Expression,
    IsIn,
    LikeTest,
    Literal,
    Logic,
    LogicNot,
    Negate,
    Variable,
    names,
)
from fyke.filters.dialects.cesql.values import (
    ZERO,
    Error,
    Outcome,
    Type,
    cast,
    is_integer,
    primitive,
    to_boolean,
    to_integer,
    to_string,
)
from fyke.filters.texts import glob as globs

Attributes: TypeAlias = Mapping[str, Value]
Evaluate: TypeAlias = Callable[[Attributes], Outcome]

REQUIRED: Final = frozenset({"id", "source", "specversion", "type"})
"""The attributes that every CloudEvent has; CESQL lets EXISTS rely on it."""


def evaluator(expression: Expression) -> Evaluate:
    """Return the function that evaluates the expression."""
    if isinstance(expression, (Logic, LogicNot)):
        return _node(expression)
    return _elementwise(expression, _node(expression))


# --- logic ----------------------------------------------------------------------------------------


def _operand(expression: Expression) -> Evaluate:
    """Evaluate an operand of AND, OR or XOR, cast to Boolean."""
    if isinstance(expression, (Logic, LogicNot)):
        return _node(expression)
    evaluate = _node(expression)

    def truth(attributes: Attributes) -> Outcome:
        value, error = evaluate(attributes)
        if error is not None:
            return False, error
        made = to_boolean(value)
        return (False, Error.CAST) if made is None else (made, None)

    return _elementwise(expression, truth)


def _elementwise(expression: Expression, evaluate: Evaluate) -> Evaluate:
    read = names(expression)
    if len(read) != 1:
        return evaluate
    (name,) = read

    def some_element(attributes: Attributes) -> Outcome:
        elements = attributes.get(name)
        if type(elements) is not tuple:
            return evaluate(attributes)
        outcome: Outcome | None = None
        for element in elements:
            if element is None:
                continue
            value, error = evaluate({name: element})
            if value is True and error is None:
                return True, None
            if error is not None and (outcome is None or outcome[1] is None):
                outcome = value, error
            elif outcome is None:
                outcome = False, None
        return evaluate({}) if outcome is None else outcome

    return some_element


def _logic(node: Logic) -> Evaluate:
    operands = tuple(map(_operand, node.operands))
    if node.operator == "XOR":
        return _xor(operands)
    decisive = node.operator == "OR"

    def left_to_right(attributes: Attributes) -> Outcome:
        for evaluate in operands:
            value, error = evaluate(attributes)
            if error is not None:
                return False, error
            if value is decisive:
                break
        return value, None

    return left_to_right


def _xor(operands: tuple[Evaluate, ...]) -> Evaluate:
    def parity(attributes: Attributes) -> Outcome:
        odd = False
        for evaluate in operands:
            value, error = evaluate(attributes)
            if error is not None:
                return False, error
            odd ^= value is True
        return odd, None

    return parity


def _not(node: LogicNot) -> Evaluate:
    inner = _strict(_node(node.operand))
    if not isinstance(node.operand, (Logic, LogicNot)):
        inner = _elementwise(node.operand, inner)

    def inverse(attributes: Attributes) -> Outcome:
        value, error = inner(attributes)
        return not value, error

    return inverse


def _strict(evaluate: Evaluate) -> Evaluate:
    """Evaluate NOT's operand, which is not cast from Integer.

    An error from below stands beside True, so that NOT gives False.
    """

    def truth(attributes: Attributes) -> Outcome:
        value, error = evaluate(attributes)
        if error is not None:
            return True, error
        made = None if type(value) is int else to_boolean(value)
        return (False, Error.CAST) if made is None else (made, None)

    return truth


# --- operands -------------------------------------------------------------------------------------


def _literal(node: Literal) -> Evaluate:
    outcome = node.value, None
    return lambda attributes: outcome


def _attribute(node: Variable) -> Evaluate:
    name = node.name
    missing = False, Error.MISSING_ATTRIBUTE
    if name == NOT_AN_ATTRIBUTE:
        return lambda attributes: missing

    def read(attributes: Attributes) -> Outcome:
        value = attributes.get(name)
        if type(value) is str:
            return value, None
        if type(value) is tuple:
            return (False, Error.CAST) if _is_there(value) else missing
        return missing if value is None else (primitive(value), None)  # type: ignore[arg-type]

    return read


def _exists(node: ExistsTest) -> Evaluate:
    name = node.name
    if name == NOT_AN_ATTRIBUTE or name in REQUIRED:
        outcome = name in REQUIRED, None
        return lambda attributes: outcome
    return lambda attributes: (_is_there(attributes.get(name)), None)


def _is_there(value: Value) -> bool:
    if type(value) is tuple:
        return any(element is not None for element in value)
    return value is not None


# --- operators ------------------------------------------------------------------------------------


def _negate(node: Negate) -> Evaluate:
    return _arithmetic(Arithmetic("-", Literal(0), node.operand))


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_ARITHMETIC: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": lambda left, right: left - right * _divide(left, right),
}
_ORDER: Final[dict[str, Callable[[int, int], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _arithmetic(node: Arithmetic) -> Evaluate:
    left, right, compute = _node(node.left), _node(node.right), _ARITHMETIC[node.operator]
    divides = node.operator in "/%"

    def run(attributes: Attributes) -> Outcome:
        x, y, error = _both(left(attributes), right(attributes))
        if error is not None:
            return 0, error
        if divides and y == 0:
            return 0, Error.MATH
        result = compute(x, y)
        return (result, None) if is_integer(result) else (0, Error.MATH)

    return run


def _both(left: Outcome, right: Outcome) -> tuple[int, int, Error | None]:
    """Return two operands cast to Integer."""
    error = left[1] or right[1]
    if error is not None:
        return 0, 0, error
    x, y = to_integer(left[0]), to_integer(right[0])
    if x is None or y is None:
        return 0, 0, Error.CAST
    return x, y, None


def _compare(node: Comparison) -> Evaluate:
    left, right = _node(node.left), _node(node.right)
    if node.operator != "=":
        return _order(left, right, _ORDER[node.operator])

    def same(attributes: Attributes) -> Outcome:
        x, left_error = left(attributes)
        y, right_error = right(attributes)
        error = left_error or right_error
        if error is not None:
            return False, error
        made = cast(x, type(y))
        return (False, Error.CAST) if made is None else (made == y, None)

    return same


def _order(left: Evaluate, right: Evaluate, holds: Callable[[int, int], bool]) -> Evaluate:
    def run(attributes: Attributes) -> Outcome:
        x, y, error = _both(left(attributes), right(attributes))
        return (False, error) if error is not None else (holds(x, y), None)

    return run


def _like(node: LikeTest) -> Evaluate:
    evaluate, fits = _node(node.operand), globs.matcher(pattern_glob(node.pattern))

    def run(attributes: Attributes) -> Outcome:
        value, error = evaluate(attributes)
        return (False, error) if error is not None else (fits(to_string(value)), None)

    return run


def _is_in(node: IsIn) -> Evaluate:
    left, items = _node(node.operand), tuple(map(_node, node.items))

    def run(attributes: Attributes) -> Outcome:
        wanted, error = left(attributes)
        if error is not None:
            return False, error
        for item in items:
            value, error = item(attributes)
            if error is not None:
                return False, error
            made = cast(value, type(wanted))
            if made is None:
                return False, Error.CAST
            if made == wanted:
                return True, None
        return False, None

    return run


def _call(node: Call) -> Evaluate:
    function = functions.find(node.name, len(node.arguments))
    if function is None:
        return lambda attributes: (False, Error.MISSING_FUNCTION)
    zero = ZERO[function.returns]
    arguments = tuple(map(_node, node.arguments))
    types: tuple[Type | None, ...] = function.types(len(arguments))
    run = function.run

    def invoke(attributes: Attributes) -> Outcome:
        values = []
        for evaluate, target in zip(arguments, types, strict=True):
            value, error = evaluate(attributes)
            if error is not None:
                return zero, error
            made = value if target is None else cast(value, target)
            if made is None:
                return zero, Error.CAST
            values.append(made)
        return run(*values)

    return invoke


_NODES: Final[dict[type[Expression], Callable[..., Evaluate]]] = {
    Literal: _literal,
    Variable: _attribute,
    ExistsTest: _exists,
    LogicNot: _not,
    Negate: _negate,
    LikeTest: _like,
    IsIn: _is_in,
    Arithmetic: _arithmetic,
    Comparison: _compare,
    Logic: _logic,
    Call: _call,
}


def _node(expression: Expression) -> Evaluate:
    return _NODES[type(expression)](expression)
