"""Compiling: kernels are compiled in the background, and engines are told when they are there.

    warm()          compile now, or wait for the process that does, and load all into this process
    compile_all()   the same without loading what lies in the cache already
    attend(engine)  returns at once; `engine.move()` is called when the kernels are loaded

Idea. Compiling takes half a minute once on a machine, and it would freeze an event loop. So
`attend` leaves it to a process of lowest priority, which writes to the cache (`kernel_cache`), and
to a thread that waits for it, loads what it wrote, and calls the engines that attend. Each kernel
is kept as soon as it is compiled: a process that ends early has not worked in vain.

    cache     nobody            another process compiles     complete
    attend    starts a process  waits for that one           loads, in the thread
    warm      compiles here     waits for that one           loads

Without a folder to write to, the process hands the kernels over through a pipe.
Stalls. The thread shares the interpreter with an event loop. What it runs is Python, which takes
turns; only a full collection of garbage stops all threads, for as long as there are objects (70 ms
for numba and pandas alone), and importing them calls for three. So these wait until the engines
have moved (`full_collections_later`); young objects are collected as ever.
Invariant. There is no process of ours without its parent: it ends when the pipe to it is closed,
however the parent ended. A forked process has no thread of ours; it starts its own when needed.
Where compiling fails, one line says so and engines stay as they are.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Final, Protocol

from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import (
    alone,
    is_complete,
    kernel_cache,
    set_complete,
)

NICE: Final = 19
POLL_S: Final = 0.2
"""Time between two looks whether another process has finished compiling."""
EXIT_S: Final = 10.0
"""Time that the end of the interpreter waits for a step of loading."""

LATER: Final = 1_000_000
"""Collections of the middle generation before a full one, while these wait."""

_log: Final = logging.getLogger("fyke")


class Attending(Protocol):
    """An engine that waits for kernels."""

    def move(self) -> None:
        """Change to the kernels, which are loaded now. Called in a thread of its own."""
        ...


# --- in this process -----------------------------------------------------------------------------

_loading: Final = threading.RLock()
stepping: Final = threading.RLock()
"""Held for each step of work in the background, so that a fork happens between two of them."""


def is_loaded() -> bool:
    """Return True if a kernel can be called without waiting."""
    return MODE != "fast" or _here.is_loaded


def is_compiled() -> bool:
    """Return True if the kernels are in the cache or loaded."""
    return is_loaded() or is_complete(MODE)


def warm() -> None:
    """Compile the kernels that the compiled engine needs, unless it was done, and load them.

    Takes about half a minute the first time on a machine. Without it that happens in the
    background; call it where an image is built, or before a clock starts.
    """
    with _loading:
        if not is_loaded():
            compile_all()
            _load()


def compile_all() -> None:
    """Compile what is not in the cache."""
    if is_compiled():
        return
    with _loading:
        _here.background.stop()  # it has lowest priority, we are waited for
        with alone(MODE):
            if not is_complete(MODE):
                say("compiling the matching kernels, once on this machine...")
                _load()
                set_complete(MODE)


def say(what: str) -> None:
    """Print a line for a user who waits."""
    print(f"fyke: {what}", file=sys.stderr)


def _load(background: _Background | None = None) -> None:
    """Call every kernel: what is in the cache is loaded, the rest compiled."""
    from fyke.matching.compiled.kernels.warming import steps

    for _ in steps():
        if background is not None and background.is_stopping:
            return
    _here.is_loaded = True


@contextlib.contextmanager
def full_collections_later() -> Iterator[None]:
    """Put off full collections of garbage, unless other code sets the collector meanwhile."""
    before = gc.get_threshold()
    _here.collects = before if before[2] != LATER else _here.collects
    gc.set_threshold(*before[:2], LATER)
    try:
        yield
    finally:
        _collect_as_before()


def _collect_as_before() -> None:
    before, _here.collects = _here.collects, None
    if before is not None and gc.get_threshold() == (*before[:2], LATER):
        gc.set_threshold(*before)


# --- in the background ---------------------------------------------------------------------------


class _Background:
    """The thread and the process of one process, once something attends."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        """Set when no engine will be moved any more."""
        self.is_stopping = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._engines: list[weakref.ref[Attending]] = []

    def attend(self, engine: Attending) -> None:
        with self._lock:
            if self.is_over.is_set():
                return
            self._engines.append(weakref.ref(engine))
            if self._thread is None:
                name = "fyke-kernels"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the process; the thread finds that out."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()

    def end(self) -> None:
        """Leave nothing running when the interpreter ends."""
        self.is_stopping = True
        self.stop()
        if self._thread is not None:
            self._thread.join(EXIT_S)

    def leave(self) -> None:
        """Close the pipe to a process that another one has started."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _run(self) -> None:
        try:
            self._bring()
            while (engine := self._next()) is not None:
                if not is_loaded() or self.is_stopping:
                    return
                with full_collections_later():
                    engine.move()
                del engine
        except Exception:
            _log.exception("the matching kernels cannot be used; matching goes on without them")
        finally:
            self.is_over.set()

    def _next(self) -> Attending | None:
        with self._lock:
            while self._engines:
                engine = self._engines.pop()()
                if engine is not None:
                    return engine
            self.is_over.set()
            return None

    def _bring(self) -> None:
        """Have the kernels compiled and load them."""
        while not is_compiled() and not self.is_stopping:
            with alone(MODE, waits=False) as is_free:
                pass
            if not is_free:
                self.is_over.wait(POLL_S)
            elif not self._compile_beside():
                return
        with stepping, _loading:
            if not is_loaded():
                with full_collections_later():
                    _load(self)

    def _compile_beside(self) -> bool:
        """Run the process. Return True if it did its work, or another one does it."""
        with self._lock:
            if self.is_stopping:
                return False
            self._process = process = _start_process()
        with process:
            assert process.stdout is not None
            handed_over = process.stdout.read()
            process.wait()
        with _loading:  # a thread that took over holds it
            if is_compiled() or self.is_stopping:
                return True
            if process.returncode == 0 and kernel_cache(MODE) is None:
                from fyke.matching.compiled.kernels.numba_cache import received

                received(handed_over)
                with full_collections_later():
                    _load(self)
                return True
        _log.warning(
            "compiling the matching kernels failed (exit status %s); matching goes on without "
            "them, and slower. 'fyke warm' compiles them and says what is wrong",
            process.returncode,
        )
        return False


def _start_process() -> subprocess.Popen[bytes]:
    """Return the process that compiles; it ends with its work or with this process."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
        creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),
    )


def main() -> None:
    """Compile all, as a process of lowest priority."""
    from fyke.matching.compiled.kernels.numba_cache import handed_over

    if hasattr(os, "nice"):
        os.nice(NICE)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with alone(MODE):
        _load()
        set_complete(MODE)
    if kernel_cache(MODE) is None:
        sys.stdout.buffer.write(handed_over())
        sys.stdout.buffer.flush()
    os._exit(0)  # the other thread still reads


def _end_with_parent() -> None:
    with contextlib.suppress(OSError):
        os.read(0, 1)
    os._exit(1)


# --- one for each process ------------------------------------------------------------------------


class _Here:
    """The state of this process."""

    is_loaded = False
    background = _Background()
    collects: tuple[int, int, int] | None = None
    """The thresholds of the collector before full collections were put off."""


_here: Final = _Here()


def attend(engine: Attending) -> None:
    """Have `engine.move` called when the kernels are there, unless they cannot be had."""
    _here.background.attend(engine)


def is_over() -> bool:
    """Return True if no engine that attends will be moved any more."""
    return _here.background.is_over.is_set()


def background() -> object:
    """Return the object that engines attend to: a forked process has one of its own."""
    return _here.background


def _end() -> None:
    _here.background.end()


def _hold_steps() -> None:
    stepping.acquire()
    _loading.acquire()


def _go_on() -> None:
    _loading.release()
    stepping.release()


def _begin_anew() -> None:
    """Begin anew in a forked process: it has no thread, and the pipe is the parent's alone."""
    _here.background.leave()
    _here.background = _Background()
    _collect_as_before()
    _go_on()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_steps, after_in_parent=_go_on, after_in_child=_begin_anew)
