"""A text cut into tokens, and a place among them: what hand-written parsers read from.

A language gives one regular expression whose named groups are its kinds of tokens; the group `bad`
takes any other character and is refused where it stands. Reading never goes back: linear time.
Positions are needed by errors only, so they are found again when one is raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NoReturn, TypeVar

from fyke.errors import EventError, FilterError, shortened, shown
from fyke.events.number import read_number
from fyke.events.value import Scalar, admit
from fyke.limits import Limits

_DIGITS_MAX: Final = 1000

_Made = TypeVar("_Made")


class Tokens:
    """The tokens of one text, read from the left: kinds and words side by side.

    A word in `reserved` has that kind and stands in lower case.
    """

    spellings: ClassVar[Mapping[str, str]] = {}
    """Words of other languages, with those of this one: errors offer them."""

    __slots__ = ("_pattern", "at", "kinds", "limits", "text", "words")

    def __init__(
        self,
        text: str,
        pattern: re.Pattern[str],
        limits: Limits,
        reserved: frozenset[str] = frozenset(),
    ) -> None:
        if len(text) > limits.text_length_max:
            raise FilterError(
                f"the text is {len(text)} characters long; the limit is {limits.text_length_max}"
            )
        try:
            admit(text)
        except EventError as error:
            raise FilterError(f"the text cannot be read: {error.problem}") from None
        self.text = text
        self.limits = limits
        self.at = 0
        self._pattern = pattern
        kinds: list[str] = []
        words: list[str] = []
        for found in pattern.finditer(text, 0, _end(text)):
            kind, word = found.lastgroup, found[found.lastindex]  # type: ignore[index]
            if kind == "word" and (lowered := word.lower()) in reserved:
                kind, word = "reserved", lowered
            elif kind == "bad":
                self._refuse(word, found.start(kind))
            kinds.append(kind)  # type: ignore[arg-type]
            words.append(word)
        self.kinds = [*kinds, "end"]
        self.words = [*words, ""]

    def position_of(self, at: int) -> int:
        """Return the position in the text at which a token starts."""
        if at >= len(self.kinds) - 1:
            return len(self.text)
        for number, each in enumerate(self._pattern.finditer(self.text, 0, _end(self.text))):
            if number == at:
                return each.start(each.lastgroup or 0)
        raise IndexError(at)

    def _refuse(self, char: str, position: int) -> NoReturn:
        """Refuse the text at once.

        To look for the end of an open quote often would take quadratic time.
        """
        expected = None
        if char in "'\"":
            problem, expected = f"the quote {char} is never closed", f"a closing {char}"
        elif char.isdigit() or char == ".":
            problem, expected = "this number cannot be read", "a number such as 42, -1.5 or 1e3"
        else:
            problem = f"the character {shown(char)} means nothing here"
        meant = self._meant(position)
        raise FilterError(
            problem, text=self.text, position=position, expected=expected, meant=meant
        )

    def _meant(self, position: int) -> str | None:
        """Return the word that was probably meant at a position, or one character before."""
        found = [
            (len(each), right)
            for each, right in self.spellings.items()
            for start in {position, max(position - 1, 0)}
            if self.text[start : start + len(each)].lower() == each
        ]
        return max(found)[1] if found else None

    # --- the next token

    @property
    def kind(self) -> str:
        """The kind of the next token; `end` after the last."""
        return self.kinds[self.at]

    @property
    def word(self) -> str:
        return self.words[self.at]

    @property
    def position(self) -> int:
        return self.position_of(self.at)

    @property
    def following(self) -> tuple[str, str]:
        """Kind and word of the token after the next."""
        at = min(self.at + 1, len(self.kinds) - 1)
        return self.kinds[at], self.words[at]

    def take(self) -> str:
        word = self.words[self.at]
        self.at += 1
        return word

    def skip(self, symbol: str) -> bool:
        """Take the next token if it is this symbol. Return True if it was."""
        if self.words[self.at] == symbol and self.kinds[self.at] == "symbol":
            self.at += 1
            return True
        return False

    def need(self, symbol: str, expected: str | None = None) -> None:
        if not self.skip(symbol):
            self.fail(expected or symbol)

    # --- refusing

    def fail(self, expected: str, at: int | None = None, meant: str | None = None) -> NoReturn:
        """Refuse a token: the next one if no other is named."""
        at = self.at if at is None else at
        found = (
            "the text ends here"
            if self.kinds[at] == "end"
            else f"found {shortened(self.words[at])}"
        )
        position = self.position_of(at)
        meant = meant or self._meant(position)
        raise FilterError(found, text=self.text, position=position, expected=expected, meant=meant)

    def refuse(self, problem: str, at: int | None = None, expected: str | None = None) -> NoReturn:
        """Raise FilterError for a problem at a token."""
        position = self.position_of(self.at if at is None else at)
        raise FilterError(problem, text=self.text, position=position, expected=expected) from None

    def build(self, make: Callable[[], _Made], at: int) -> _Made:
        """Run a constructor. If it complains, the error names the position of a token."""
        try:
            return make()
        except FilterError as error:
            self.refuse(error.problem, at, error.expected)
        except EventError as error:
            self.refuse(error.problem, at)
        except (ValueError, OverflowError) as error:
            self.refuse(str(error), at)

    # --- literals

    def number(self) -> Scalar:
        """Take a number. It is the decimal that is written, in canonical form."""
        word = self.take()
        if len(word) > _DIGITS_MAX:
            self.refuse("the number is too long", self.at - 1)
        return self.build(lambda: read_number(word), self.at - 1)


def _end(text: str) -> int:
    """Return the end of the last token. A search for the blanks behind it would be quadratic."""
    return len(text.rstrip())
