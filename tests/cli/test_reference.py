"""docs/cli.md shows what the command really prints: its console blocks are run.

`$ cat FILE` shows a file, and so makes it. A line `...` stands for whatever follows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
STEPS = [
    step.split("\n", 1) for block in BLOCKS for step in re.split(r"^\$ ", block, flags=re.M)[1:]
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the examples are for bash")
def test_examples_print_what_the_page_shows(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "fyke").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fyke "$@"\n')
    (folder / "fyke").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    assert len(STEPS) > 10
    for typed, shown in STEPS:
        if typed.startswith("cat "):
            (tmp_path / typed.removeprefix("cat ")).write_text(shown, "utf-8")
            continue
        done = subprocess.run(
            ["bash", "-c", typed],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        printed = done.stdout.decode()
        if shown.endswith("...\n"):
            assert printed.startswith(shown.removesuffix("...\n"))
        else:
            assert printed == shown, typed
