"""Drawn examples: they follow from the seed and the name of the test, and from nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DRAWING = """
import json, os
import pytest
from hypothesis import given, settings, strategies as st

def note(name, drawn):
    with open(os.environ["DRAWN"], "a") as file:
        file.write(json.dumps([name, drawn]) + "\\n")

@given(st.integers(), st.text())
def test_law(number, text):
    note("law", [number, text])

@pytest.mark.parametrize("case", "ab")
@settings(max_examples=10)
@given(number=st.integers())
def test_cases(case, number):
    note(case, number)

def test_stories(seeds):
    assert list(seeds(5)) == list(seeds(5))
    for seed in seeds(5):
        note("seeds", seed)
"""
CONSTANTS = "NUMBERS = [" + ", ".join(str(7**power) for power in range(5, 23)) + "]\n"


def drawn(folder: Path, **variables: str) -> dict[str, list[object]]:
    """What the tests of a file draw in a process of its own, by name."""
    found = folder / "drawn.ndjson"
    found.unlink(missing_ok=True)
    unset = {name: os.environ[name] for name in os.environ if not name.startswith("FYKE_")}
    files = sorted(map(str, folder.glob("*.py")))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "tests.conftest", "-m", "property",
         "-c", "pyproject.toml", *files],
        cwd=ROOT,
        env={**unset, **variables, "DRAWN": str(found)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (seed := variables.get("FYKE_SEED", "")) in done.stdout
    assert bool(seed) == ("FYKE_SEED" in done.stdout)
    by_name: dict[str, list[object]] = {}
    for line in found.read_text().splitlines():
        name, example = json.loads(line)
        by_name.setdefault(name, []).append(example)
    return by_name


def test_examples_follow_from_the_seed(tmp_path: Path) -> None:
    (tmp_path / "test_drawing.py").write_text(DRAWING)
    always = drawn(tmp_path, PYTHONHASHSEED="1")
    counts = {name: len(examples) for name, examples in always.items()}
    assert counts == {"law": 100, "a": 10, "b": 10, "seeds": 5}
    assert always["a"] != always["b"] and len(set(always["seeds"])) == 5

    (tmp_path / "loaded.py").write_text(CONSTANTS)
    (tmp_path / "test_another.py").write_text(
        f"import sys\nsys.path.append({str(tmp_path)!r})\nimport loaded\n"
        "from hypothesis import given, strategies as st\n"
        "@given(st.integers())\ndef test_another(number): assert loaded.NUMBERS\n"
    )
    assert drawn(tmp_path, PYTHONHASHSEED="2") == always

    fresh = drawn(tmp_path, FYKE_SEED="12345", FYKE_EXAMPLES="1.5")
    assert {name: len(examples) for name, examples in fresh.items()} == {
        **{"law": 300, "a": 10, "b": 10, "seeds": 8}
    }
    assert all(fresh[name][: counts[name]] != always[name] for name in always)
