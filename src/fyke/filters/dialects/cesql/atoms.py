"""The operands of AND, OR, XOR and NOT as filters: what makes them true, what makes them false.

Idea. A comparison of one attribute with literals is true of a set of values that casts have made
odd, but that can be written down. `a = 5` holds of 5, '5', '+5', '005' (and `a = 1` of true):

    a = 5       a in (5, '5', '+5')  or  a ends with '05' and a matches '^[+]?0+5$'
    a = 'x'     a = 'x'
    a > 5       (a between 6 and 2147483647  or  a between '+' and ':')  and  residual 'a > 5'

Law. `true` is exactly the set of events on which the operand is true without an error, `false`
likewise; on all others it is an error. The indexable part of both covers them, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Final

from fyke.events.value import Scalar
from fyke.filters.dialects.cesql.interpreter import REQUIRED, evaluator
from fyke.filters.dialects.cesql.like import pattern_glob
from fyke.filters.dialects.cesql.meaning import (
    ALWAYS_WRONG,
    Meaning,
    checked,
    residual,
    sure,
    type_of,
    unsure,
)
from fyke.filters.dialects.cesql.syntax import (
    Call,
    Comparison,
    ExistsTest,
    Expression,
    IsIn,
    LikeTest,
    Literal,
    LogicNot,
    Variable,
    names,
)
from fyke.filters.dialects.cesql.text_forms import (
    may_be_number_or_timestamp,
    numbers_and_timestamps,
    present,
    text_fits,
    text_is,
    values_of,
)
from fyke.filters.dialects.cesql.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    Primitive,
    Type,
    to_boolean,
    to_integer,
    to_string,
)
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import In, Range
from fyke.filters.text_predicate import Matches, ends_with, like
from fyke.filters.texts.glob import Glob


def operand(expression: Expression) -> Meaning:
    """Return the meaning of an operand of AND, OR or XOR, which is cast to Boolean.

    The operand is neither a Logic nor a Not itself.
    """
    if not names(expression):
        return _constant(expression)
    match expression:
        case Variable():
            return _equals_boolean(expression, True)
        case ExistsTest(name):
            there = TRUE if name in REQUIRED else present(name)
            return Meaning(there, negation(there), frozenset())
        case LikeTest(Variable() as attribute, pattern):
            return _like(attribute, pattern, expression)
        case IsIn(Variable() as attribute, items):
            literals = _literals(items)
            if literals is not None:
                return _one_of(attribute, literals, expression)
        case Comparison():
            return _compare(expression)
    if type_of(expression) is not bool:
        expression = Call("BOOL", (expression,))
    return checked(expression)


def negated(expression: Expression) -> Meaning:
    """Return the meaning of NOT's operand, which is not cast from Integer."""
    kind = type_of(expression)
    if kind is int:
        return ALWAYS_WRONG
    if isinstance(expression, Variable) and names(expression):
        name = expression.name
        false = In(name, (False, *_spellings("false")))
        return Meaning(
            In(name, (True, *_spellings("true"))), false & residual(LogicNot(expression))
        )
    return operand(expression)


def _constant(expression: Expression) -> Meaning:
    value, error = evaluator(expression)({})
    truth = None if error is not None else to_boolean(value)
    if truth is None:
        return ALWAYS_WRONG
    return Meaning(TRUE, FALSE, frozenset()) if truth else Meaning(FALSE, TRUE, frozenset())


def _literals(expressions: Iterable[Expression]) -> list[Primitive] | None:
    values = []
    for expression in expressions:
        if not isinstance(expression, Literal):
            return None
        values.append(expression.value)
    return values


# --- strings and sets -----------------------------------------------------------------------------


def _like(attribute: Variable, pattern: str, expression: Expression) -> Meaning:
    return sure(
        attribute.name, text_fits(attribute.name, pattern_glob(pattern), residual(expression))
    )


def _one_of(attribute: Variable, literals: list[Primitive], expression: Expression) -> Meaning:
    """Cast the literals of `a IN (...)` to the attribute's type, until one is equal or fails."""
    values: list[Scalar] = [
        value
        for literal in literals
        for value in values_of(to_string(literal))
        if type(value) is not bool and not _is_integer_value(value)
    ]
    integers = _castable(to_integer(literal) for literal in literals)
    booleans = _castable(to_boolean(literal) for literal in literals)
    true = In(attribute.name, (*values, *integers, *booleans))
    if len(integers) == len(booleans) == len(literals):
        return sure(attribute.name, true)
    return unsure(attribute.name, true, expression)


def _is_integer_value(value: Scalar) -> bool:
    return type(value) is int and INTEGER_MIN <= value <= INTEGER_MAX


def _castable(values: Iterable[int | None]) -> list[int]:
    """Return the casts before the first that fails."""
    made = []
    for value in values:
        if value is None:
            break
        made.append(value)
    return made


# --- comparisons ----------------------------------------------------------------------------------

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def _compare(expression: Comparison) -> Meaning:
    wanted = int if expression.operator != "=" else type_of(expression.right)
    left = _uncast(expression.left, wanted)
    right = _uncast(expression.right, int) if expression.operator != "=" else expression.right
    match left, right:
        case Variable(), Literal(value):
            if expression.operator == "=":
                return _equals(left, value)
            return _order(left, expression.operator, value, expression)
        case Literal(value), Variable():
            if expression.operator == "=":
                return _one_of(right, [value], expression)
            return _order(right, _MIRRORED[expression.operator], value, expression)
        case Call("LOWER", (Variable(name),)), Literal(str(text)) if text.isascii():
            return _lowered(name, text, expression)
    return checked(expression)


def _uncast(expression: Expression, wanted: Type | None) -> Expression:
    """Drop a cast that the operator makes anyway: `INT(a) < 5` is `a < 5`."""
    match expression:
        case Call("INT" | "BOOL" | "STRING", (inner,)) if type_of(expression) is wanted:
            return inner
    return expression


def _equals(attribute: Variable, value: Primitive) -> Meaning:
    if isinstance(value, str):
        return sure(attribute.name, text_is(attribute.name, value))
    if isinstance(value, bool):
        return _equals_boolean(attribute, value)
    return _equals_integer(attribute, value)


def _equals_integer(attribute: Variable, number: int) -> Meaning:
    name, digits = attribute.name, str(abs(number))
    signs = ["-"] if number < 0 else ["", "+"] if number else ["", "+", "-"]
    values: list[Scalar] = [number, *(sign + digits for sign in signs)]
    if number in (0, 1):
        values.append(bool(number))
    sign = "-" if number < 0 else "[+]?" if number else "[+-]?"
    padded = conjunction([ends_with(name, "0" + digits), Matches(name, f"^{sign}0+{digits}$")])
    true = disjunction([In(name, tuple(values)), padded])
    return unsure(name, true, Comparison("=", attribute, Literal(number)))


def _equals_boolean(attribute: Variable, truth: bool) -> Meaning:
    """Accept strings in any case, Booleans, and integers: zero is false, the others are true."""
    name = attribute.name
    is_true = Comparison("=", attribute, Literal(True))
    integers = disjunction([Range(name, INTEGER_MIN, -1), Range(name, 1, INTEGER_MAX)])
    true = disjunction([In(name, (True, *_spellings("true"))), integers & residual(is_true)])
    false = In(name, (False, 0, *_spellings("false")))
    if truth:
        return Meaning(true, false & residual(LogicNot(is_true)))
    return Meaning(false, true & residual(LogicNot(Comparison("=", attribute, Literal(False)))))


def _spellings(word: str) -> list[str]:
    """Return the word in every mixture of cases."""
    return ["".join(letters) for letters in product(*((char, char.upper()) for char in word))]


def _order(attribute: Variable, operator: str, value: Primitive, expression: Expression) -> Meaning:
    bound = to_integer(value)
    if bound is None:
        return ALWAYS_WRONG
    return Meaning(
        _between(attribute.name, *_interval(operator, bound), residual(expression)),
        _between(
            attribute.name, *_interval(_OPPOSITE[operator], bound), residual(LogicNot(expression))
        ),
    )


_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _interval(operator: str, bound: int) -> tuple[int, int]:
    match operator:
        case "<":
            return INTEGER_MIN, bound - 1
        case "<=":
            return INTEGER_MIN, bound
        case ">":
            return bound + 1, INTEGER_MAX
    return bound, INTEGER_MAX


def _between(attribute: str, low: int, high: int, exactly: Filter) -> Filter:
    """Accept integers of the interval, and strings that may be cast to one.

    Such a string lies from the first sign or digit on.
    """
    if low > high:
        return FALSE
    parts: list[Filter] = [
        Range(attribute, low, high),
        Range(attribute, "+", ":", high_open=True),
    ]
    booleans = tuple(value for value in (False, True) if low <= value <= high)
    if booleans:
        parts.append(In(attribute, booleans))
    return disjunction(parts) & exactly


def _lowered(name: str, text: str, expression: Expression) -> Meaning:
    """Return the meaning of LOWER(a) = 'text': case folding finds such strings, perhaps more."""
    if text != text.lower():
        return sure(name, FALSE)
    parts: list[Filter] = [like(name, Glob((text,)), ignore_case=True)]
    parts += [In(name, (value,)) for value in (False, True) if to_string(value) == text]
    if may_be_number_or_timestamp(text.upper()) or may_be_number_or_timestamp(text):
        parts += numbers_and_timestamps(name)
    return sure(name, conjunction([disjunction(parts), residual(expression)]))
