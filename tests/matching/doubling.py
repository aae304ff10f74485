"""A function for a kernel, in a module that processes can import."""

from __future__ import annotations

from typing import Any


def double(words: Any) -> Any:
    return words[0] * 2
