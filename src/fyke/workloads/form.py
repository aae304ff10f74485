"""Forms: what a code stands for, in an event and in the text of a filter; one row or many.

Whole()                 7           7
Fixed(2)                805         8.05
Names(("NYSE", "LUX"))  1           'LUX', in text without the quotes
Flag()                  1           true
Moment(start)           50_000      start and 50 ms
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from fyke.events.value import Scalar

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class Form(ABC):
    """A way to read codes; compared by identity."""

    __slots__ = ()

    @abstractmethod
    def value(self, code: int) -> Scalar:
        """What stands in an event."""

    @abstractmethod
    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        """`value` for many rows."""

    def word(self, code: int) -> str:
        """What stands in the text of a filter."""
        return str(self.value(code))

    def words(self, codes: NDArray[np.int64]) -> pa.Array:
        """`word` for many rows."""
        import pyarrow as pa

        return self.column(codes).cast(pa.string())


class Whole(Form):
    """The code itself."""

    __slots__ = ()

    def value(self, code: int) -> int:
        return code

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        return pa.array(codes)


class Fixed(Form):
    """Numbers with some decimals."""

    __slots__ = ("decimals", "scale")

    def __init__(self, decimals: int) -> None:
        self.decimals = decimals
        self.scale: int = 10**decimals

    def value(self, code: int) -> float:
        return code / self.scale

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        return pa.array(codes / self.scale)

    def word(self, code: int) -> str:
        whole, rest = divmod(abs(code), self.scale)
        return f"{'-' if code < 0 else ''}{whole}.{rest:0{self.decimals}d}"

    def words(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

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
        self.names = tuple(names)

    def value(self, code: int) -> str:
        return self.names[code]

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        return _array(self).take(codes)


class Flag(Form):
    """False and true, coded 0 and 1."""

    __slots__ = ()

    def value(self, code: int) -> bool:
        return code == 1

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        return pa.array(codes == 1)

    def word(self, code: int) -> str:
        return "true" if code == 1 else "false"


class Moment(Form):
    """Microseconds after a start; not for the text of filters."""

    __slots__ = ("start",)

    def __init__(self, start: datetime) -> None:
        self.start = start

    def value(self, code: int) -> datetime:
        return self.start + timedelta(microseconds=code)

    def column(self, codes: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        start = pa.scalar(self.start, pa.timestamp("us", "UTC"))
        return pa.array(codes + start.value).cast(start.type)


@lru_cache(maxsize=64)
def _array(names: Names) -> pa.Array:
    import pyarrow as pa

    return pa.array(names.names, pa.string())
