"""Shared by all tests: Hypothesis profiles and the folder of conformance cases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "long", settings.get_profile("default"), max_examples=5000, derandomize=False
)
settings.load_profile(os.environ.get("FYKE_HYPOTHESIS", "default"))


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of cases that others wrote; `FYKE_CONFORMANCE` names another place."""
    folder = Path(os.environ.get("FYKE_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
    if not folder.is_dir():
        pytest.skip(f"no conformance cases: {folder} is absent (FYKE_CONFORMANCE names the folder)")
    return folder
