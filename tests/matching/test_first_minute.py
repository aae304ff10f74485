"""The first minute of a process on a new machine: who compiles, who waits, what is left behind.

The kernels are those that the tests have compiled already, in a folder that does not say that it is
complete: the process that compiles has little to do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import fyke
from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import kernel_cache

BEGINNING = """
import logging, os, sys, time
import fyke
from fyke.matching.compiled.kernels import compiling

logging.basicConfig(format="%(message)s")
matcher = fyke.Matcher()
matcher.add_many((f"s{n}", f"a = {n % 10}") for n in range(1_000))
expected = [f"s{n}" for n in range(1, 1_000, 10)]
engine = lambda: type(matcher.engine).__name__


def until(happened, seconds=120):
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        assert matcher.match({"a": 1}) == expected
        time.sleep(0.01)
    return happened()


def process():
    return compiling._here.background._process
"""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Variables of a process that finds all kernels, but not that these are all."""
    ours = kernel_cache(MODE)
    assert ours is not None
    theirs = tmp_path / "cache" / ours.name
    shutil.copytree(ours, theirs)
    (theirs / "complete").unlink()
    return {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}


def ran(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGINNING + script],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def succeeds(script: str, **variables: str) -> str:
    """What the script says on the error stream."""
    found = ran(script, **variables)
    assert (found.returncode, found.stdout) == (0, "good\n"), found.stderr[-3_000:]
    return found.stderr


def path_with(folder: Path) -> str:
    """What PYTHONPATH is, with a folder in front."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def is_alive(number: int) -> bool:
    """Return True if there is such a process, other than one that nobody has asked after."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.long
def test_a_matcher_moves_over_by_itself(variables: dict[str, str]) -> None:
    said = succeeds(
        """
assert engine() == "InterimEngine" and "numba" not in sys.modules
assert matcher.match({"a": 1}) == expected
assert until(lambda: process() is not None)
assert os.getpriority(os.PRIO_PROCESS, process().pid) == 19 or process().poll() is not None or (
    until(lambda: os.getpriority(os.PRIO_PROCESS, process().pid) == 19, 20)
)
assert until(lambda: engine() == "CompiledEngine")
assert matcher.match({"a": 1}) == expected
assert process().returncode == 0 and compiling.is_loaded()
assert type(fyke.Matcher().engine).__name__ == "CompiledEngine"
print("good")
""",
        **variables,
    )
    assert said == ""


def test_few_subscriptions_import_no_numba() -> None:
    script = """
import sys, fyke
matcher = fyke.Matcher()
matcher.add_many((f"s{n}", f"a = {n % 3}") for n in range(30))
assert len(matcher.match({"a": 1})) == 10
assert matcher.match_batch([{"a": 1}] * 20).num_rows == 200
print([name for name in sys.modules if name.startswith(("numba", "llvmlite"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("signal", [9, 15])
def test_a_process_that_is_killed_leaves_a_matcher_that_works(
    variables: dict[str, str], signal: int
) -> None:
    said = succeeds(
        f"""
assert until(lambda: process() is not None)
os.kill(process().pid, {signal})
assert until(compiling.is_over)
assert engine() == "InterimEngine"
matcher.add("late", "a = 1")
expected.append("late")
assert matcher.match({{"a": 1}}) == expected
other = fyke.Matcher()
other.add_many((f"s{{n}}", "a = 1") for n in range(100))
assert len(other.match({{"a": 1}})) == 100
assert other.match_batch([{{"a": 1}}] * 500).num_rows == 50_000
fyke.warm()
print("good")
""",
        **variables,
    )
    failures = [line for line in said.splitlines() if "goes on without" in line]
    assert len(failures) == 1 and f"exit status -{signal}" in failures[0]


def test_a_process_that_crashes_is_told_of_once(tmp_path: Path, variables: dict[str, str]) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import os, sys\nif 'main()' in ' '.join(sys.orig_argv): os._exit(3)\n"
    )
    said = succeeds(
        'assert until(compiling.is_over)\nassert engine() == "InterimEngine"\nprint("good")',
        **variables,
        PYTHONPATH=path_with(folder),
    )
    assert said.count("exit status 3") == 1


@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_no_process_is_left(variables: dict[str, str], end: str) -> None:
    started = ran(
        f"""
assert until(lambda: process() is not None)
print(process().pid, flush=True)
{end}
""",
        **variables,
    )
    number = int(started.stdout)
    deadline = time.monotonic() + 20
    while is_alive(number) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(number)


@pytest.mark.long
def test_a_forked_process_moves_by_itself(variables: dict[str, str]) -> None:
    succeeds(
        """
assert until(lambda: process() is not None)
child = os.fork()
if child == 0:
    moved = until(lambda: engine() == "CompiledEngine")
    os._exit(0 if moved and matcher.match({"a": 1}) == expected else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert until(lambda: engine() == "CompiledEngine")
print("good")
""",
        **variables,
    )


@pytest.mark.long
def test_warm_takes_over_what_the_background_began(variables: dict[str, str]) -> None:
    said = succeeds(
        """
assert until(lambda: process() is not None)
fyke.warm()
assert compiling.is_loaded() and process().poll() is not None
assert until(lambda: engine() == "CompiledEngine")
print("good")
""",
        **variables,
    )
    assert "without" not in said


@pytest.mark.long
def test_without_a_folder_kernels_come_through_a_pipe(variables: dict[str, str]) -> None:
    """One small kernel stands for all of them."""
    succeeds(
        """
import numpy as np
from fyke.matching.compiled.kernels import kernel, numba_cache
from tests.matching.doubling import double

kernel.kernel_cache = lambda mode: None
first = kernel.kernel(double)
assert first(np.array([21])) == 42
sent = numba_cache.handed_over()
numba_cache._memory.clear()
numba_cache.received(sent)
second = kernel.kernel(double)
assert second(np.array([21])) == 42
assert (sum(first.stats.cache_hits.values()), sum(second.stats.cache_hits.values())) == (0, 1)
print("good")
""",
        **variables,
        PYTHONPATH=path_with(Path(__file__).parents[2]),
    )


def test_a_zip_finds_the_same_kernels(tmp_path: Path) -> None:
    package = Path(fyke.__file__).parent
    with zipfile.ZipFile(tmp_path / "fyke.zip", "w") as archive:
        for path in package.rglob("*"):
            if path.suffix in (".py", ".typed"):
                archive.write(path, f"fyke/{path.relative_to(package)}")
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path / "fyke.zip")!r})
import fyke
from fyke.matching.compiled.kernels import compiling
from fyke.matching.compiled.search import search
assert ".zip" in fyke.__file__
assert compiling.is_compiled()
matcher = fyke.Matcher()
matcher.add_many((f"s{{n}}", f"a = {{n % 10}}") for n in range(5_000))
assert len(matcher.match({{"a": 1}})) == 500
print(sum(search.find.stats.cache_hits.values()), sum(search.find.stats.cache_misses.values()))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
        check=False,
    )
    assert done.stdout == "1 0\n", done.stderr
