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


_SHARING = re.compile(
    r"tests/(spark/(?!elsewhere/|.*::test_the_driver_killed)|experiments/test_on_spark)"
)


def _shares_spark(nodeid: str) -> bool:
    """Who kills a driver has one of its own."""
    return _SHARING.match(nodeid) is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest piece of work that cannot be shared out comes first."""
    items.sort(key=lambda item: not _shares_spark(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several processes, one runs all tests that share a Spark session."""
    from xdist.scheduler import LoadScopeScheduling

    class OneSession(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if _shares_spark(nodeid) else nodeid

    return OneSession(config, log)


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of cases that others wrote; `FYKE_CONFORMANCE` names another place."""
    folder = Path(os.environ.get("FYKE_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
    if not folder.is_dir():
        pytest.skip(f"no conformance cases: {folder} is absent (FYKE_CONFORMANCE names the folder)")
    return folder
