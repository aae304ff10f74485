"""Engines by name, as `Matcher(engine=...)` takes them.

    engine = maker("interval:buckets=64")(filter_of)

A module of an engine is imported when the engine is wanted, and numpy with it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.filters.filter import Filter
from fyke.matching.engines.contract import Engine
from fyke.matching.engines.scan import ScanEngine

FilterOf: TypeAlias = Callable[[int], Filter]
"""The filter of a slot, for an engine that does not keep filters itself."""
Maker: TypeAlias = Callable[[FilterOf], Engine]


def _imported(module: str, name: str, **chosen: object) -> Maker:
    """Make an engine whose module is imported when the engine is wanted."""

    def make(filter_of: FilterOf) -> Engine:
        engine: Engine = getattr(import_module(f"fyke.matching.engines.{module}"), name)(**chosen)
        return engine

    return make


def _make_compiled(filter_of: FilterOf) -> Engine:
    """Return the compiled engine itself where its kernels are loaded."""
    from fyke.matching.compiled.kernels.compiling import is_loaded

    if is_loaded():
        from fyke.matching.compiled.engine import CompiledEngine

        return CompiledEngine(filter_of)
    from fyke.matching.engines.deferred import DeferredEngine

    return DeferredEngine(filter_of)


ENGINES: Final[dict[str, Maker]] = {
    "compiled": _make_compiled,
    "scan": lambda filter_of: ScanEngine(),
    "counting": _imported("counting", "CountingEngine"),
    "boolean": _imported("boolean", "BooleanEngine"),
    "interval": _imported("interval", "IntervalEngine"),
    "tree": _imported("tree", "TreeEngine"),
}
"""The engines by name."""
_CONFIGURED: Final = {"interval": "IntervalEngine", "tree": "TreeEngine"}
"""The engines that take parameters, which `interval_parameters` explains."""


def maker(engine: str) -> Maker:
    """Return the maker of an engine, given its name, and behind a colon its parameters."""
    name, colon, rest = engine.partition(":")
    if name not in ENGINES:
        raise FykeError(f"unknown engine {shown(name)}; expected one of {', '.join(ENGINES)}")
    if not colon:
        return ENGINES[name]
    if name not in _CONFIGURED:
        raise FykeError(f"the engine {name} takes no parameters, {shown(rest)} are given")
    from fyke.matching.engines.interval_parameters import Parameters

    return _imported(name, _CONFIGURED[name], parameters=Parameters.read(rest))


def warm() -> None:
    """Compile the kernels of the compiled engine now, unless it was done, and load them.

    Takes about half a minute the first time on a machine. Without it they are compiled in the
    background, and matchers answer more slowly until then. For images, and before a clock starts.
    """
    from fyke.matching.compiled.kernels import compiling

    compiling.warm()
