"""Programs that are measured in a process of their own; each prints a line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def run(
    name: str, *arguments: object, prefix: Sequence[str] = (), **environment: str
) -> dict[str, Any]:
    """What the program of a name prints; `prefix` is a command that runs it."""
    done = subprocess.run(
        [*prefix, sys.executable, "-m", f"benchmarks.processes.{name}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
