"""CESQL text to tree: one regular expression for the tokens, precedence climbing for the operators.

From tightest to loosest: calls; NOT and minus; LIKE, EXISTS, IN; * / %; + -; comparisons; AND,
OR, XOR. Operators of one level are read from the left, so `a OR b AND c` is `(a OR b) AND c` and
`NOT a = 'x'` is `(NOT a) = 'x'`: that is the standard, whatever SQL does. Keywords and names are
read in any case; names mean lower case.

Where an operand is expected, a sign that touches its digits belongs to the literal. Strings keep
their backslashes, except in front of their own quote.

Cost. Linear in the text; `Limits` bound length, depth and nodes.
Source. CloudEvents SQL 1.0, sections 2 and 3.6.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NoReturn

from fyke.errors import EventError, FilterError, shown
from fyke.events.value import admit
from fyke.filters.dialects.cesql.syntax import (
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
)
from fyke.filters.dialects.cesql.tokens import LOGIC, Token, content, tokens_of
from fyke.filters.dialects.cesql.values import is_integer
from fyke.limits import Limits

DEPTH_MAX: Final = 100
"""No expression is deeper, whatever the limits say: recursion over expressions is always safe."""

_NAME = re.compile(r"[A-Za-z0-9]+")
_FUNCTION = re.compile(r"[A-Za-z][A-Za-z_]*")
_COMPARISONS: Final = frozenset({"=", "!=", "<>", "<", "<=", ">", ">="})

_LOGIC_POWER, _COMPARE_POWER, _SUM_POWER, _PRODUCT_POWER = range(1, 5)
_POWERS: Final[dict[str, int]] = {
    **dict.fromkeys(LOGIC, _LOGIC_POWER),
    **dict.fromkeys(_COMPARISONS, _COMPARE_POWER),
    **dict.fromkeys("+-", _SUM_POWER),
    **dict.fromkeys("*/%", _PRODUCT_POWER),
}


def parse_text(
    text: str, limits: Limits, known_functions: Collection[str] | None = None
) -> Expression:
    """Read one expression; FilterError says where the text goes wrong and what was expected there.

    Functions outside of `known_functions` are refused; without that set, any name is accepted.
    """
    if len(text) > limits.text_length_max:
        raise FilterError(
            f"the expression is {len(text)} characters long; the limit is {limits.text_length_max}"
        )
    try:
        admit(text)
    except EventError as error:
        raise FilterError(f"the expression cannot be read: {error.problem}") from None
    try:
        return _Parser(text, limits, known_functions).whole()
    except RecursionError:
        raise FilterError("the expression is nested too deep for this stack") from None


class _Parser:
    def __init__(self, text: str, limits: Limits, known_functions: Collection[str] | None) -> None:
        self.text = text
        self.limits = limits
        self.known_functions = known_functions
        self.depth_max = limits.depth_max
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0
        self.nodes = 0

    # --- reading tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def is_symbol(self, symbol: str) -> bool:
        return self.token.text == symbol and self.token.kind == "symbol"

    def is_reserved(self, *words: str) -> bool:
        return self.token.kind == "reserved" and self.token.text in words

    def skip_symbol(self, symbol: str) -> bool:
        found = self.is_symbol(symbol)
        self.at += found
        return found

    def need_symbol(self, symbol: str, expected: str | None = None) -> None:
        if not self.skip_symbol(symbol):
            self.fail(expected or symbol)

    def fail(self, expected: str) -> NoReturn:
        token = self.token
        found = "the expression ends here" if token.kind == "end" else f"found {shown(token.text)}"
        raise FilterError(found, text=self.text, position=token.start, expected=expected)

    def refuse(self, problem: str, token: Token) -> NoReturn:
        raise FilterError(problem, text=self.text, position=token.start)

    # --- limits

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > self.depth_max:
            self.refuse(f"the expression is nested deeper than {self.depth_max} levels", self.token)

    def bound(self, node: Expression) -> Expression:
        self.nodes += 1
        if self.nodes > self.limits.nodes_max:
            self.refuse(
                f"the expression has more than {self.limits.nodes_max} operators and operands",
                self.tokens[self.at - 1],
            )
        if node.depth > self.depth_max:
            self.refuse(
                f"the expression is nested deeper than {self.depth_max} levels",
                self.tokens[self.at - 1],
            )
        return node

    # --- operators

    def whole(self) -> Expression:
        expression = self.expression()
        if self.token.kind != "end":
            self.fail("an operator or the end of the expression")
        return expression

    def expression(self, power_min: int = _LOGIC_POWER) -> Expression:
        """Read operators that bind at least as tightly as `power_min`."""
        left = self.unary()
        while True:
            token = self.token
            if token.kind == "reserved" and token.text not in LOGIC:
                left = self.suffix(left)
                continue
            power = _POWERS.get(token.text, 0) if token.kind in ("symbol", "reserved") else 0
            if power < power_min:
                return left
            left = self.logic(left) if power == _LOGIC_POWER else self.binary(left, power)

    def logic(self, left: Expression) -> Expression:
        """Read a run of one operator. The left operand joins it if it is such a run itself."""
        operator = self.token.text
        same = isinstance(left, Logic) and left.operator == operator
        operands = list(left.children) if same else [left]
        while self.is_reserved(operator):
            self.at += 1
            operands.append(self.expression(_COMPARE_POWER))
        return self.bound(Logic(operator, tuple(operands)))

    def binary(self, left: Expression, power: int) -> Expression:
        operator = self.next().text
        right = self.expression(power + 1)
        if power > _COMPARE_POWER:
            return self.bound(Arithmetic(operator, left, right))
        if operator in ("!=", "<>"):
            return self.bound(LogicNot(Comparison("=", left, right)))
        return self.bound(Comparison(operator, left, right))

    def suffix(self, left: Expression) -> Expression:
        negated = self.is_reserved("NOT")
        self.at += negated
        if self.is_reserved("LIKE"):
            self.at += 1
            node = self.bound(LikeTest(left, self.pattern()))
        elif self.is_reserved("IN"):
            self.at += 1
            node = self.bound(IsIn(left, self.items()))
        else:
            self.fail("LIKE or IN" if negated else "an operator or the end of the expression")
        return self.bound(LogicNot(node)) if negated else node

    def pattern(self) -> str:
        if self.token.kind != "string":
            self.fail("a pattern in quotes")
        return content(self.next().text)

    def items(self) -> tuple[Expression, ...]:
        self.need_symbol("(", "a set such as (1, 2)")
        return self.expressions("a value")

    def expressions(self, expected: str) -> tuple[Expression, ...]:
        """Read expressions with commas between them, and the closing parenthesis."""
        self.deeper()
        if self.is_symbol(")"):
            self.fail(expected)
        expressions = [self.expression()]
        while self.skip_symbol(","):
            expressions.append(self.expression())
            if len(expressions) > self.limits.list_size_max:
                self.refuse(f"more than {self.limits.list_size_max} values", self.token)
        self.need_symbol(")", "an operator, a comma or )")
        self.depth -= 1
        return tuple(expressions)

    # --- operands

    def unary(self) -> Expression:
        prefixes: list[type[LogicNot] | type[Negate]] = []
        while self.is_reserved("NOT") or (self.is_symbol("-") and not self.is_signed_literal()):
            prefixes.append(LogicNot if self.next().kind == "reserved" else Negate)
        operand = self.primary(self.token)
        for prefix in reversed(prefixes):
            operand = self.bound(prefix(operand))
        return operand

    def is_signed_literal(self) -> bool:
        """Return True if a sign comes next and touches digits."""
        sign, digits = self.token, self.tokens[self.at + 1]
        touches = digits.kind == "word" and digits.start == sign.end and digits.text.isdigit()
        return touches and sign.kind == "symbol" and sign.text in "+-"

    def primary(self, token: Token) -> Expression:
        if token.kind == "string":
            self.at += 1
            return self.bound(Literal(content(token.text)))
        if self.is_reserved("TRUE", "FALSE"):
            self.at += 1
            return self.bound(Literal(token.text == "TRUE"))
        if self.is_reserved("EXISTS"):
            self.at += 1
            return self.bound(ExistsTest(self.name()))
        if self.skip_symbol("("):
            self.deeper()
            inner = self.expression()
            self.need_symbol(")", "an operator or )")
            self.depth -= 1
            return inner
        if token.kind == "symbol" and self.is_signed_literal():
            self.at += 2
            return self.integer(token, token.text + self.tokens[self.at - 1].text)
        if token.kind != "word":
            self.fail("an attribute, a literal, a function or (")
        if token.text.isdigit():
            self.at += 1
            return self.integer(token, token.text)
        if self.tokens[self.at + 1].text == "(":
            return self.call(token)
        return self.bound(Variable(self.name()))

    def integer(self, token: Token, text: str) -> Expression:
        digits = text.lstrip("+-0") or "0"
        number = int(digits) if len(digits) <= 10 else 2**63
        number = -number if text[0] == "-" else number
        if not is_integer(number):
            self.refuse("the integer does not fit in 32 bits", token)
        return self.bound(Literal(number))

    def call(self, token: Token) -> Expression:
        if not _FUNCTION.fullmatch(token.text):
            self.refuse(f"{shown(token.text)} cannot name a function", token)
        known = self.known_functions
        if known is not None and token.text.upper() not in known:
            self.fail_unknown(token, known)
        self.at += 2
        arguments = () if self.skip_symbol(")") else self.expressions("an argument or )")
        return self.bound(Call(token.text.upper(), arguments))

    def fail_unknown(self, token: Token, known: Collection[str]) -> NoReturn:
        raise FilterError(
            f"CESQL has no function {shown(token.text.upper())}",
            text=self.text,
            position=token.start,
            expected=f"one of {', '.join(known)}",
        )

    def name(self) -> str:
        token = self.token
        if token.kind != "word" or not _NAME.fullmatch(token.text):
            self.fail("the name of an attribute (letters and digits)")
        self.at += 1
        return token.text.lower()
