"""How the inner loops are run: compiled, compiled with bounds checks, or as plain Python.

A kernel is a small function over arrays, decorated with `@kernel`. The variable FYKE_KERNELS says
what becomes of it when its module is imported:

    fast      compiled by numba without the interpreter's lock, kept in numba's cache (the default)
    checked   compiled with bounds checks, for tests
    plain     left as it is: the readable twin, for tests

Compilation takes half a minute, once per machine; it is done for all kernels together (`warming`),
and one line on the error stream says so.

The compiled forms lie in a folder (`kernel_cache`). Where there is no place for one, kernels are
compiled anew in every process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from fyke.errors import FykeError, shown
from fyke.matching.compiled.kernel_cache import is_complete, kernel_cache, set_complete

MODES: Final = ("fast", "checked", "plain")
MODE: Final = os.environ.get("FYKE_KERNELS", "fast")

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
    folder = kernel_cache(MODE)
    elsewhere, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    compiled: _Function
    try:
        compiled = njit(cache=folder is not None, **options)(function)
    except (RuntimeError, OSError):  # the folder is gone, or refused by numba
        compiled = njit(**options)(function)
    finally:
        config.CACHE_DIR = elsewhere
    return compiled


def is_warm() -> bool:
    """Whether the compiled forms of these sources lie in the cache, or none are needed."""
    return MODE != "fast" or is_complete(MODE)


@contextmanager
def warming_up() -> Iterator[None]:
    """Around calls of all kernels, which compiles them; says so in one line."""
    print("fyke: compiling the matching kernels, once on this machine...", file=sys.stderr)
    yield
    set_complete(MODE)
