"""How the inner loops are run: compiled, compiled with bounds checks, or as plain Python.

A kernel is a small function over arrays, decorated with `@kernel`. The variable FYKE_KERNELS says
what becomes of it when its module is imported:

    fast      compiled by numba without the interpreter's lock, kept in numba's cache (the default)
    checked   compiled with bounds checks, for tests
    plain     left as it is: the readable twin, for tests

Compilation takes half a minute, once per machine; it is done for all kernels together (`warming`),
and one line on the error stream says so.

The cache. numba looks only at the file of a function to see whether its compiled form is stale, not
at the kernels that were compiled into it. So the compiled forms lie in a folder of their own for
each state of this package's sources, below NUMBA_CACHE_DIR or the user's folder for caches. Where
it cannot be written, kernels are compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from fyke.errors import FykeError, shown

MODES: Final = ("fast", "checked", "plain")
MODE: Final = os.environ.get("FYKE_KERNELS", "fast")
_COMPLETE: Final = "complete"
"""A file of this name says that all kernels are in the cache."""

if MODE not in MODES:
    raise FykeError(f"FYKE_KERNELS is {shown(MODE)}; expected one of {', '.join(MODES)}")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """The function as FYKE_KERNELS wants it."""
    return _compiled(function, {})


def inlined(function: _Function) -> _Function:
    """A kernel's own helper: compiled into every caller."""
    return _compiled(function, {"forceinline": True})


def _compiled(function: _Function, options: dict[str, object]) -> _Function:
    if MODE == "plain":
        return function
    import numba

    njit: Any = numba.njit
    config: Any = numba.config
    options = {"nogil": True, "error_model": "numpy", **options}
    if MODE == "checked":
        options = {"nogil": True, "boundscheck": True}
    elsewhere, config.CACHE_DIR = config.CACHE_DIR, _cache_folder()
    compiled: _Function
    try:
        compiled = njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # no place for a cache
        compiled = njit(**options)(function)
    finally:
        config.CACHE_DIR = elsewhere
    return compiled


@cache
def _cache_folder() -> str:
    root = os.environ.get("NUMBA_CACHE_DIR") or _user_cache() / "fyke"
    return str(Path(root) / f"{MODE}-kernels-{_sources()}")


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _sources() -> str:
    """A name for the state of this package's sources."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def is_warm() -> bool:
    """Whether the compiled forms of these sources lie in the cache, or none are needed."""
    return MODE != "fast" or (Path(_cache_folder()) / _COMPLETE).exists()


@contextmanager
def warming_up() -> Iterator[None]:
    """Around calls of all kernels, which compiles them; says so in one line."""
    print("fyke: compiling the matching kernels, once on this machine...", file=sys.stderr)
    yield
    with suppress(OSError):
        (Path(_cache_folder()) / _COMPLETE).touch()
