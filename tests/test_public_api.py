"""The names that users type, and what importing them must not load."""

from __future__ import annotations

import subprocess
import sys

import fyke

PUBLIC = [
    *(
        "Event",
        "EventError",
        "Filter",
        "FilterError",
        "FilterWarning",
        "FykeError",
        "Hub",
        "Limits",
        "Matcher",
    ),
    *(
        "Schema",
        "SchemaError",
        "Statistics",
        "Subscription",
        "Summary",
        "covers",
        "equivalent",
        "explain",
        "lint",
    ),
    *("PredicateStatistics", "merge", "overlaps", "parse", "prune", "simplify", "warm", "weaken"),
    *("derived", "event", "fields", "schema_of"),
]
HEAVY = ["pyspark", "starlette", "uvicorn", "nicegui", "numba", "numpy", "pyarrow", "hypothesis"]


def test_public_names() -> None:
    assert sorted(fyke.__all__) == sorted(PUBLIC)
    assert all(hasattr(fyke, name) for name in PUBLIC)


def test_import_is_light() -> None:
    code = f"import sys, fyke; print([name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"
