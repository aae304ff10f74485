"""Reasons: the sentence in what Spark says when something went wrong.

Spark wraps what a worker raised in a trace of Python's and one of Java's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from fyke.errors import FykeError

_QUERY: Final = "=== Streaming Query ==="
"""The text that Spark puts between the cause and a description of the query."""
_OURS: Final = re.compile(r"fyke\.errors\.\w+: (.+)")
_PYTHONS: Final = re.compile(
    r"^\s*(?!java|org|scala|py4j)(?:\w+\.)*(\w*(?:Error|Exception): .+)", re.MULTILINE
)
_OTHER_PYTHON: Final = re.compile(
    r"Python in worker has different version: (\S+) than that in driver: ([\d.]+)"
)
_NO_PYTHON: Final = re.compile(r'Cannot run program "([^"]+)"')


def reason(text: str) -> str:
    """Return our own sentence in a text, or what else Python raised, or its first lines."""
    if other := _OTHER_PYTHON.search(text):
        return (
            f"workers have Python {other[1]}, the driver has {other[2]}; let PYSPARK_PYTHON name "
            f"a Python {other[2]} there"
        )
    for pattern in (_OURS, _PYTHONS):
        raised = pattern.findall(text)
        if raised:
            return str(raised[-1])
    if absent := _NO_PYTHON.search(text):
        return f"workers have no {absent[1]}; let PYSPARK_PYTHON name the Python to run there"
    cause, _, _ = text.partition(_QUERY)
    lines = [line.strip() for line in (cause.strip() or text).splitlines() if line.strip()]
    return " ".join(lines[:3]) or "Spark does not say why"


@contextmanager
def in_a_sentence(what: str) -> Iterator[None]:
    """Raise what a job fails with as one sentence that begins with `what`."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise FykeError(f"{what}: {reason(str(error))}") from error
