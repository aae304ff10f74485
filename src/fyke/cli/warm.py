"""`fyke warm`: compile the kernels of the matching engine now, and say where they lie."""

from __future__ import annotations

import time

from cyclopts import App

app = App(
    name="warm",
    help_epilogue="""\
Examples
  fyke warm
  NUMBA_CACHE_DIR=/opt/kernels fyke warm      for an image: set the variable where it runs, too

Compiled kernels are found again by every environment with the same versions on the same kind of
processor.
""",
)


@app.default
def warm() -> int:
    """Compile the kernels of the matching engine now, where an image is built.

    Without it the first matcher with many subscriptions has them compiled in the background, and
    answers more slowly until they are there.
    """
    from fyke.matching.compiled.kernels.compiling import warm as compile_now
    from fyke.matching.compiled.kernels.kernel import MODE
    from fyke.matching.compiled.kernels.kernel_cache import kernel_cache

    started = time.monotonic()
    compile_now()
    print(f"the matching kernels are ready ({time.monotonic() - started:.1f} s)")
    folder = kernel_cache(MODE)
    if folder is None:
        print("no folder can be written: they are compiled again for every process")
        return 1
    print(f"they lie in {folder}")
    return 0
