"""The kernels in all modes: random histories as plain Python and bounds-checked; their cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HISTORY = """
import random
import sys

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fyke.matching.compiled import engine
from fyke.matching.compiled.kernels import kernel
from fyke.matching.compiled.search import search
from fyke.matching.engines.registry import ENGINES
from fyke.testing.generators import events, filters, predicates
from fyke.testing.matcher import check_matcher

mode, examples = sys.argv[1], int(sys.argv[2])
assert kernel.MODE == mode
options = getattr(search.find, "targetoptions", None)
assert (options is None) is (mode == "plain")
assert options is None or bool(options.get("boundscheck")) is (mode == "checked")
engine.UNBOXED_MAX = 0
ENGINES["compiled"] = lambda filter_of: engine.CompiledEngine(filter_of, tree_from=3)
close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=6)
verdicts = 0


@settings(
    max_examples=examples, deadline=None, database=None, derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    taken=st.lists(close, min_size=3, max_size=12),
    seen=st.lists(events(), min_size=1, max_size=8),
    seed=st.integers(0, 1000),
)
def histories(taken, seen, seed):
    global verdicts
    engine.MEMTABLE_SIZE_MAX = seed % 3 * 4
    verdicts += check_matcher("compiled", taken, seen, seed=seed, steps=25)


histories()
assert verdicts > 100, verdicts
if mode != "plain":
    assert search.find.nopython_signatures
print("agreed")
"""

TINY = """
import numpy as np
from fyke.matching.compiled.kernels.kernel import kernel

@kernel
def double(words):
    return words[0] * 2

assert double(np.array([21])) == 42
print(sum(double.stats.cache_hits.values()), "found")
"""


def ran(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize(
    ("mode", "examples"), [("plain", 5), pytest.param("checked", 25, marks=pytest.mark.long)]
)
def test_histories_in_other_modes(mode: str, examples: int) -> None:
    """Plain: the same source means the same. Checked: no kernel reads outside its arrays."""
    found = ran(HISTORY, mode, str(examples), FYKE_KERNELS=mode)
    assert (found.returncode, found.stdout) == (0, "agreed\n"), found.stderr[-3000:]


@pytest.mark.long
def test_patterns_as_plain_python() -> None:
    """With the tests that change constants, which compiled kernels would not notice."""
    file = Path(__file__).parents[1] / "patterns" / "test_pattern_set.py"
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(file)],
        env={**os.environ, "FYKE_KERNELS": "plain"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-3000:]


CALLS = """
import ast
import sys
from pathlib import Path

from fyke.matching.compiled.kernels import warming

called = set()


def note(frame, what, _):
    if what == "call":
        called.add((frame.f_code.co_filename, frame.f_code.co_name))


sys.setprofile(note)
list(warming.steps())
sys.setprofile(None)
for path in Path(warming.__file__).parent.rglob("*.py"):
    for node in ast.walk(ast.parse(path.read_text())):
        for decorator in getattr(node, "decorator_list", ()):
            is_kernel = isinstance(decorator, ast.Name) and decorator.id == "kernel"
            if is_kernel and (str(path), node.name) not in called:
                print(path.name, node.name)
"""


def test_warming_uses_all_kernels() -> None:
    found = ran(CALLS, FYKE_KERNELS="plain")
    assert (found.returncode, found.stdout) == (0, ""), found.stderr


TYPES = """
import gc
import sys
from pathlib import Path

import pyarrow as pa
from numba.core.dispatcher import Dispatcher

from fyke import Matcher
from fyke.matching.compiled.kernels import warming


def types():
    return sorted(
        f"{each.py_func.__name__}{types}"
        for each in gc.get_objects()
        if isinstance(each, Dispatcher)
        for types in each.signatures
    )


made = Matcher()
made.add_many((str(n), f"a = 'v{n % 7}' and b > {n} and not c = 1") for n in range(900))
made.save(Path(sys.argv[1]))
del made
list(warming.steps())
before = types()
opened = Matcher.open(Path(sys.argv[1]))
opened.match_batch(pa.table({"a": ["v1", "x"], "b": [5, 6], "c": [1.5, 2.5]}))
for each in sorted(set(types()) - set(before)):
    print(each)
"""


def test_an_opened_snapshot_needs_no_other_kernels(tmp_path: Path) -> None:
    """What warming has loaded is enough: workers share it."""
    script = tmp_path / "opening.py"
    script.write_text(TYPES)
    found = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "snapshot")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (found.returncode, found.stdout.strip()) == (0, ""), found.stderr


def test_a_mode_that_does_not_exist() -> None:
    found = ran("import fyke.matching.compiled.kernels.kernel", FYKE_KERNELS="quick")
    assert found.returncode == 1
    assert (
        "FykeError: FYKE_KERNELS is 'quick'; expected one of fast, checked, plain" in found.stderr
    )


def test_kernels_work_without_their_folder(tmp_path: Path) -> None:
    """They go to the folder for temporary files, where the next process finds them, or nowhere."""
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    script = tmp_path / "tiny.py"
    script.write_text(TINY)
    code = f"import runpy; runpy.run_path({str(script)!r})"
    kept = {"TMPDIR": str(tmp_path), "FYKE_KERNELS": "fast"}
    for variables, hits in (
        ({"XDG_CACHE_HOME": str(nowhere / "cache"), "NUMBA_CACHE_DIR": ""}, 0),
        ({"NUMBA_CACHE_DIR": str(nowhere / "cache")}, 1),
        ({"NUMBA_CACHE_DIR": "/proc/nonexistent"}, 1),
    ):
        found = ran(code, **{**kept, **variables})
        assert (found.returncode, found.stdout) == (0, f"{hits} found\n"), found.stderr[-3000:]
    (folder,) = tmp_path.glob("fyke-*")
    for _ in range(2):
        folder.chmod(0o777)  # somebody else might have put code there
        found = ran(code, **kept, NUMBA_CACHE_DIR=str(nowhere / "cache"))
        assert (found.returncode, found.stdout) == (0, "0 found\n"), found.stderr[-3000:]


def test_kernels_of_a_read_only_image_are_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fyke import folders
    from fyke.matching.compiled.kernels import kernel_cache

    image = tmp_path / "image"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(image))
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    find = kernel_cache.kernel_cache.__wrapped__
    there = find("fast")
    assert there is not None and there.parent == image
    (there / "kernel.nbc").write_bytes(b"code")
    (there / "complete").touch()
    can_be_written = folders._can_be_written
    monkeypatch.setattr(
        folders, "_can_be_written", lambda each: image not in each.parents and can_be_written(each)
    )  # root may write to folders that are read-only
    here = find("fast")
    assert here is not None and image not in here.parents
    assert (here / "kernel.nbc").read_bytes() == b"code"
    assert (here / "complete").exists()


def test_the_cache_is_of_one_state_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fyke.matching.compiled.kernels import kernel_cache

    package, elsewhere = tmp_path / "package", tmp_path / "elsewhere"
    (package / "inner").mkdir(parents=True)
    (package / "kernel.py").write_text("one")
    (package / "inner" / "other.py").write_text("two")
    first = kernel_cache._state(package)
    assert kernel_cache._state(package) == first
    shutil.copytree(package, elsewhere)
    assert kernel_cache._state(elsewhere) == first
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for name in ("kernel.py", "inner/other.py"):
            archive.write(package / name, f"package/{name}")
    assert kernel_cache._state(zipfile.Path(tmp_path / "package.zip", "package/")) == first
    (package / "inner" / "other.py").write_text("three")
    assert kernel_cache._state(package) != first
    (package / "inner" / "other.py").write_text("two")
    assert kernel_cache._state(package) == first
    for told in ("_processor", "version"):
        with monkeypatch.context() as changed:
            changed.setattr(kernel_cache, told, lambda *_: "another")
            assert kernel_cache._state(package) != first
