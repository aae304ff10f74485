"""Numba cache: where numba keeps compiled kernels, and for which types it compiles.

Cache. numba names a compiled form by the path and the age of its source file. Ours lie in a folder
for one state of the sources (`kernel_cache`) and are named by module and function alone, so that
another environment, or a zip, with the same sources finds them. Where there is no folder they are
kept in memory, and one process can hand them over to another (`handed_over`, `received`).
Literals. numba compiles a helper once more for every constant that it is called with. Helpers are
inlined, so that LLVM sees the constant anyway: one form for all integers is enough.
"""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path
from typing import Any, Final

from numba.core import caching as _caching
from numba.core import types as _types

numba_caching: Any = _caching
types: Any = _types


_memory: Final[dict[str, dict[Any, bytes]]] = {}
"""By name and type, the compiled forms that have no place in a folder."""


def keep(dispatcher: Any, folder: Path | None) -> None:
    """Keep the compiled forms of a function in a folder, or else in memory."""
    dispatcher._cache = _Cache(dispatcher.py_func, folder)


def handed_over() -> bytes:
    """Return what is kept in memory, for a process that runs the same sources."""
    return pickle.dumps(_memory)


def received(kept: bytes) -> None:
    """Take what our own process handed over through its pipe."""
    for name, forms in pickle.loads(kept).items():
        _memory.setdefault(name, {}).update(forms)


def without_literals(dispatcher: Any) -> Any:
    """Let other kernels call this one with constants as with any value of their type."""
    find = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return find(tuple(map(types.unliteral, args)), kws)

    dispatcher.get_call_template = get_call_template
    return dispatcher


def for_kernels_only(dispatcher: Any) -> None:
    """Let Python run the source: it cannot call a form that was compiled for kernels."""
    dispatcher._insert = lambda *_, **__: None
    dispatcher._compile_for_args = lambda *_, **__: dispatcher.py_func


class _Locator(numba_caching._CacheLocator):  # type: ignore[misc]
    """A folder that is known; the state of the sources is in its name."""

    def __init__(self, function: Any, folder: Path | None) -> None:
        self._py_file = function.__code__.co_filename
        self._module = function.__module__
        self._folder = folder

    def ensure_cache_path(self) -> None:
        if self._folder is not None:
            super().ensure_cache_path()

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._module)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> None:
        """Return None; this is never called, since `_Forms` makes its locator itself."""


class _Forms(numba_caching.CompileResultCacheImpl):  # type: ignore[misc]
    """The compiled forms of one function, as bytes under a name."""

    def __init__(self, function: Any, folder: Path | None) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function, folder)
        self._filename_base = self.get_filename_base(function.__qualname__, "")


class _Memory:
    """Compiled forms in memory, in place of the files of one function."""

    def __init__(self, name: str) -> None:
        self._forms = _memory.setdefault(name, {})

    def load(self, key: Any) -> Any:
        kept = self._forms.get(key)
        return None if kept is None else pickle.loads(kept)

    def save(self, key: Any, data: Any) -> None:
        self._forms[key] = numba_caching.dumps(data)


class _Cache(numba_caching.FunctionCache):  # type: ignore[misc]
    def __init__(self, function: Any, folder: Path | None) -> None:
        self._impl_class = lambda each: _Forms(each, folder)
        super().__init__(function)
        if folder is None:
            self._cache_file = _Memory(self._impl.filename_base)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled form; one that is gone or cannot be read is compiled again."""
        try:
            return super().load_overload(sig, target_context)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled form; a folder that is gone or full keeps nothing."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
