"""Every folder of the package says what is inside, and every tag of a paper is explained."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import fyke

PACKAGE = Path(fyke.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.glob("*/**/__init__.py"))


def listed(room: Path) -> list[str]:
    """Return the modules that the docstring of a folder lists below `Inside:`.

    They open an indented line, separated by commas; `closures/` is a folder, `column_*` several.
    """
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text()), clean=False) or ""
    lines = re.findall(r"^ {4}(\S.*?)(?: {2,}|$)", text.partition("Inside:\n")[2], re.M)
    return [name.strip() for line in lines for name in line.split(",")]


def modules(room: Path) -> list[str]:
    here = [path.stem for path in room.glob("*.py") if path.stem != "__init__"]
    return here + [f"{path.parent.name}/" for path in room.glob("*/__init__.py")]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_a_folder_lists_its_modules(room: Path) -> None:
    there, named = modules(room), listed(room)
    assert [name for name in there if not any(fnmatch(name, each) for each in named)] == []
    files = [*there, *(path.name for path in room.iterdir())]
    assert [each for each in named if not any(fnmatch(name, each) for name in files)] == []


def test_the_map_lists_every_folder() -> None:
    text = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text()
    assert [name for name in modules(PACKAGE) if name[-1] == "/" and f"`{name}`" not in text] == []


def test_every_tag_of_a_paper_is_explained() -> None:
    tag = re.compile(r"\b(?:SUM|MSF|DAS|S2S|PRU)-[FQ]?\d+[a-z]?")
    cited = {each for path in PACKAGE.rglob("*.py") for each in tag.findall(path.read_text())}
    explained = set(tag.findall((PACKAGE.parent.parent / "docs" / "papers.md").read_text()))
    assert cited - explained == set()
