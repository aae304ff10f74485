"""Kernels: the inner loops, compiled, compiled with bounds checks, or as plain Python.

A kernel is a small function over arrays, decorated with `@kernel`. The variable FYKE_KERNELS says
what becomes of it when its module is imported:

    fast      compiled by numba without the interpreter's lock, kept in numba's cache (the default)
    checked   compiled with bounds checks, for tests
    plain     left as it is: the readable twin, for tests

Compilation takes half a minute, once per machine (`compiling`). The compiled forms lie in a folder
(`kernel_cache`); where there is no place for one they are compiled anew for every process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

from fyke.errors import FykeError, shown
from fyke.matching.compiled.kernels.kernel_cache import kernel_cache

MODES: Final = ("fast", "checked", "plain")
MODE: Final = os.environ.get("FYKE_KERNELS", "fast")

if MODE not in MODES:
    raise FykeError(f"FYKE_KERNELS is {shown(MODE)}; expected one of {', '.join(MODES)}")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Return the function as FYKE_KERNELS wants it."""
    return _compiled(function)


def inlined(function: _Function) -> _Function:
    """Make a kernel's own helper: compiled into every caller, and not by itself."""
    return _compiled(function, is_inlined=True)


def _compiled(function: _Function, *, is_inlined: bool = False) -> _Function:
    if MODE == "plain":
        return function
    import numba

    from fyke.matching.compiled.kernels.numba_cache import for_kernels_only, keep, without_literals

    njit: Any = numba.njit
    options: dict[str, object] = {"nogil": True, "no_cfunc_wrapper": True}
    if is_inlined:
        options |= {"no_cpython_wrapper": True}
    if MODE == "checked":
        options |= {"boundscheck": True}
    else:
        options |= {"error_model": "numpy", "forceinline": is_inlined}
    compiled = without_literals(njit(**options)(function))
    if is_inlined:
        for_kernels_only(compiled)
    else:
        keep(compiled, kernel_cache(MODE))
    made: _Function = compiled
    return made
