"""Programs with Spark sessions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`program(file, *arguments, NAME=value)` runs a Python file in an empty folder.

    A variable that is None is taken away.
    """
    folder = tmp_path / "program"
    folder.mkdir()

    def run(
        file: Path, *arguments: str, **variables: str | None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **variables}
        return subprocess.run(
            [sys.executable, str(file), *arguments],
            cwd=folder,
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
