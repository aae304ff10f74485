"""The files that Spark reads under a path: a file, a folder or a pattern such as `in/{a,b}*.csv`.

What lies elsewhere, at an address, cannot be seen from here.
"""

from __future__ import annotations

import glob
import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_PATTERN: Final = frozenset("*?[{")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


def local(path: str) -> str | None:
    """Return the path on this machine; None for an address elsewhere."""
    if "://" not in path:
        return path
    address = urlsplit(path)
    return unquote(address.path) if address.scheme == "file" and not address.netloc else None


def places(path: str) -> list[str]:
    """Return the files and folders that a path names, one or by a pattern."""
    if os.path.lexists(path):
        return [path]
    return sorted({place for each in _alternatives(path) for place in glob.glob(each)})


def files(path: str) -> list[str]:
    """Return all files in them; Spark leaves out hidden ones."""
    found: list[str] = []
    for place in places(path) or [path]:
        found += [place] if os.path.isfile(place) else _within(place)
    return sorted(found)


def fixed_part(path: str) -> Path:
    """Return the path before the first part that is a pattern."""
    found = Path(path)
    while any(_PATTERN & set(part) for part in found.parts):
        found = found.parent
    return found


def meant(path: str) -> str | None:
    """Return what a path that leads nowhere probably meant: a name that is there."""
    there = fixed_part(path)
    wrong = there
    while not there.is_dir():
        wrong, there = there, there.parent
    try:
        near = get_close_matches(wrong.name, os.listdir(there), 1)
    except OSError:
        return None
    return str(there / near[0]) if near and wrong != there else None


def _alternatives(path: str) -> list[str]:
    """Return patterns without braces, which Python does not know."""
    found = _BRACES.search(path)
    if found is None:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    return [each for part in found[1].split(",") for each in _alternatives(before + part + after)]


def _within(folder: str) -> list[str]:
    return [
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if not name.startswith((".", "_"))
    ]
