"""Shared by all tests: Hypothesis profiles, who runs where, the folder of conformance cases."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

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


_SESSIONS = {
    "one session of Spark": re.compile(
        r"tests/(spark/(placements|statistics)/|experiments/test_on_spark)"
    ),
    "another session": re.compile(r"tests/spark/(?!elsewhere/|.*::test_the_driver_killed)"),
}
"""Who kills a driver has one of its own."""


def _session(nodeid: str) -> str | None:
    """Which tests share a Spark session."""
    return next((name for name, shared in _SESSIONS.items() if shared.match(nodeid)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest pieces of work that cannot be shared out come first."""
    order = [*_SESSIONS, None]
    items.sort(key=lambda item: order.index(_session(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that share a session run in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class BySession(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _session(nodeid) or nodeid

    return BySession(config, log)


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of cases that others wrote; `FYKE_CONFORMANCE` names another place."""
    folder = Path(os.environ.get("FYKE_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
    if not folder.is_dir():
        pytest.skip(f"no conformance cases: {folder} is absent (FYKE_CONFORMANCE names the folder)")
    return folder
