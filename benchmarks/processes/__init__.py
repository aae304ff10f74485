"""Programs that are measured in a process of their own; each prints a line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def run(name: str, *arguments: object, **environment: str) -> dict[str, Any]:
    """What the program of a name prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.processes.{name}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
