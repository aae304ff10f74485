"""Forms: what codes stand for, in events and in the text of filters; sentences are made of them.

Whole()                 7           7
Fixed(2)                805         8.05
Names(("NYSE", "LUX"))  1           'LUX', in text without the quotes
Flag()                  1           true
Moment(start)           50_000      start and 50 ms

Sentence("symbol = '{symbol}' and price < {limit}", symbol=symbols, limit=Fixed(2))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from string import Formatter

import pyarrow as pa
import pyarrow.compute as pc

from fyke.workloads.draw import Codes


class Form(ABC):
    """A way to read codes; compared by identity."""

    __slots__ = ()

    @abstractmethod
    def column(self, codes: Codes) -> pa.Array:
        """Return the values in events."""

    def words(self, codes: Codes) -> pa.Array:
        """Return the texts in filters."""
        return self.column(codes).cast(pa.string())


class Whole(Form):
    """The code itself."""

    __slots__ = ()

    def column(self, codes: Codes) -> pa.Array:
        return pa.array(codes)


class Fixed(Form):
    """Numbers with some decimals."""

    __slots__ = ("decimals", "scale")

    def __init__(self, decimals: int) -> None:
        self.decimals = decimals
        self.scale: int = 10**decimals

    def column(self, codes: Codes) -> pa.Array:
        return pa.array(codes / self.scale)

    def words(self, codes: Codes) -> pa.Array:
        whole, rest = divmod(abs(codes), self.scale)
        sign = pa.array(["", "-"]).take(pa.array((codes < 0).astype("int8")))
        decimals = pc.utf8_lpad(pa.array(rest).cast(pa.string()), self.decimals, "0")
        return pc.binary_join_element_wise(
            sign, pa.array(whole).cast(pa.string()), ".", decimals, ""
        )


class Names(Form):
    """Strings by their place in a list; none of them holds a quote."""

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        self.names = pa.array(names, pa.string())

    def column(self, codes: Codes) -> pa.Array:
        return self.names.take(codes)


class Flag(Form):
    """False and true, coded 0 and 1."""

    __slots__ = ()

    def column(self, codes: Codes) -> pa.Array:
        return pa.array(codes == 1)


class Moment(Form):
    """Microseconds after a start; not for the text of filters."""

    __slots__ = ("start",)

    def __init__(self, start: datetime) -> None:
        self.start = pa.scalar(start, pa.timestamp("us", "UTC"))

    def column(self, codes: Codes) -> pa.Array:
        return pa.array(codes + self.start.value).cast(self.start.type)


class Sentence:
    """A text whose holes have forms; there is at least one."""

    __slots__ = ("_forms", "_text")

    def __init__(self, text: str, **forms: Form) -> None:
        self._text = text
        self._forms = forms

    def column(self, codes: Mapping[str, Codes]) -> pa.Array:
        """Return the texts that codes make of it."""
        words = {name: form.words(codes[name]) for name, form in self._forms.items()}
        pieces: list[str | pa.Array] = []
        for literal, name, _, _ in Formatter().parse(self._text):
            pieces.append(literal)
            if name is not None:
                pieces.append(words[name])
        return pc.binary_join_element_wise(*pieces, "")
