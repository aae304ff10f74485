"""Sentence: text with holes, filled with codes; one text or a column of them.

Sentence("symbol = '{symbol}' and price < {limit}", symbol=symbols, limit=Fixed(2))
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import TYPE_CHECKING

from fyke.workloads.form import Form

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class Sentence:
    """A text whose holes have forms; there is at least one."""

    __slots__ = ("_forms", "_text")

    def __init__(self, text: str, **forms: Form) -> None:
        self._text = text
        self._forms = forms

    def text(self, codes: Mapping[str, int]) -> str:
        return self._text.format_map(
            {name: form.word(codes[name]) for name, form in self._forms.items()}
        )

    def column(self, codes: Mapping[str, NDArray[np.int64]]) -> pa.Array:
        """`text` for many rows."""
        import pyarrow.compute as pc

        words = {name: form.words(codes[name]) for name, form in self._forms.items()}
        pieces: list[str | pa.Array] = []
        for literal, name, _, _ in Formatter().parse(self._text):
            pieces.append(literal)
            if name is not None:
                pieces.append(words[name])
        return pc.binary_join_element_wise(*pieces, "")
