"""Other Pythons on this machine."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"python3\.(\d+)")


def another_python() -> Path | None:
    """A Python 3 of another version than the one that runs, if there is one."""
    folders = [Path(each) for each in os.environ["PATH"].split(os.pathsep)]
    folders += Path.home().glob(".pyenv/versions/*/bin")
    for folder in folders:
        for file in sorted(folder.glob("python3.*")):
            found = _NAME.fullmatch(file.name)
            # a script, as pyenv has them, would run whatever is set
            if found and int(found[1]) != sys.version_info[1] and _is_program(file):
                return file
    return None


def _is_program(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"
