"""Shared by all tests: seeds and examples, who runs where, the folder of conformance cases."""

from __future__ import annotations

import math
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, seed, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

import fyke
from tests.synced import Synced

ROOT = Path(__file__).parent.parent

# Each session of Spark has a Java of its own, which lives for seconds. Without its second
# compiler it takes half the processor's time.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

SEED = os.environ.get("FYKE_SEED", "")
"""What all random examples of a run follow from; without one, those that `make test` always has."""
EXAMPLES = float(os.environ.get("FYKE_EXAMPLES", "1"))
"""So many times as many examples; fewer times for a property that says that it is dear."""
_EXAMPLES: Final = 200 if SEED else 100
"""Of a property that says nothing. `make test` always has the same ones, and needs fewer."""
_PLAIN: Final = 200
"""A property that asks for fewer is dear."""

settings.register_profile(
    "fyke",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=_EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fyke")
# Hypothesis also draws constants that it reads in the modules that happen to be loaded; then the
# examples of a test would depend on which tests run beside it.
HypothesisProvider._local_constants = Constants()  # type: ignore[assignment]


@pytest.fixture(autouse=True, scope="session")
def warm() -> None:
    """Kernels are loaded: every matcher of a test has the compiled engine from the beginning.

    Tests of what happens before that run processes of their own (`matching/test_first_minute.py`),
    or make a `DeferredEngine`.
    """
    fyke.warm()


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> Callable[[int], Iterator[int]]:
    """`seeds(60)`: numbers to draw examples from, always the same ones unless FYKE_SEED is set.

    A test that uses it is a property: `make test-long` runs it with other and with more seeds.
    """

    def drawn(count: int) -> Iterator[int]:
        draw = random.Random(f"{SEED} {request.node.nodeid}")
        return (draw.getrandbits(32) for _ in range(math.ceil(count * EXAMPLES)))

    return drawn


def _property_of(item: pytest.Item) -> Any:
    """The function that Hypothesis runs; None if it does not."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    test = getattr(test, "counted", test)
    return test if is_hypothesis_test(test) else None


def _mark_properties(items: list[pytest.Item]) -> None:
    scaled = set()
    for item in items:
        test = _property_of(item)
        if test is not None or "seeds" in getattr(item, "fixturenames", ()):
            item.add_marker("property")
            item.add_marker(pytest.mark.timeout(600 * max(1, EXAMPLES)))
        if test is not None and test not in scaled:  # the cases of a parameter share it
            scaled.add(test)
            said = test._hypothesis_internal_use_settings
            factor = max(1, EXAMPLES * min(1, said.max_examples / _PLAIN))
            count = math.ceil(said.max_examples * factor)
            test._hypothesis_internal_use_settings = settings(said, max_examples=count)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The examples of a test follow from the seed and its name alone."""
    if (test := _property_of(item)) is not None:
        seed(f"{SEED} {item.nodeid}")(test)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if SEED:
        terminalreporter.line(f"the seed was {SEED}; FYKE_SEED={SEED} draws the same examples")


_SESSIONS = {
    "one session of Spark": re.compile(
        r"tests/(spark/(placements|statistics)/|experiments/test_on_spark)"
    ),
    "another session": re.compile(r"tests/spark/(?!elsewhere/|.*::test_the_driver_killed)"),
}
"""Who kills a driver has one of its own."""


_LONG = re.compile(r"tests/(spark/elsewhere/|pipeline/|test_documents)")
"""Each starts Spark: one of them left for the end would leave the other process idle."""


def _session(nodeid: str) -> str | None:
    """Which tests share a Spark session."""
    return next((name for name, shared in _SESSIONS.items() if shared.match(nodeid)), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks properties; the longest pieces of work that cannot be shared out come first."""
    _mark_properties(items)
    order = [*_SESSIONS, None]
    items.sort(key=lambda item: (order.index(_session(item.nodeid)), not _LONG.match(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that share a session run in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class BySession(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _session(nodeid) or nodeid

    return BySession(config, log)


@pytest.fixture
def synced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synced]:
    """A folder, `synced.folder`, and what a power cut would leave of it at any moment."""
    with Synced(tmp_path_factory.mktemp("disk"), tmp_path_factory.mktemp("left")).watching() as it:
        yield it


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of cases that others wrote; `FYKE_CONFORMANCE` names another place."""
    folder = Path(os.environ.get("FYKE_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
    if not folder.is_dir():
        pytest.skip(f"no conformance cases: {folder} is absent (FYKE_CONFORMANCE names the folder)")
    return folder
