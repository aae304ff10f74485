"""Every folder of the package says what is inside, and every tag of a paper is explained."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import fyke

PACKAGE = Path(fyke.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.glob("*/**/__init__.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def listed(room: Path) -> list[str]:
    """Return the modules that the docstring of a folder lists below `Inside:`.

    They open an indented line, separated by commas; `closures/` is a folder, `column_*` several.
    """
    text = ast.get_docstring(tree(room / "__init__.py"), clean=False) or ""
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


RIDDLE = re.compile(r"(What|Who|Whom|Those|Whether|So many|How|Where|The set of)\b")
COMMANDS = PACKAGE / "cli"
"""Docstrings of commands are what `--help` prints; they say what a user gets."""


def docstrings(path: Path) -> list[str]:
    """Return every docstring of a module: its own, of classes and functions, below constants."""
    bodies = (getattr(node, "body", None) for node in ast.walk(tree(path)))
    lines = [line for body in bodies if isinstance(body, list) for line in body]
    constants = [line.value for line in lines if isinstance(line, ast.Expr)]
    texts = [each.value for each in constants if isinstance(each, ast.Constant)]
    return [text for text in texts if isinstance(text, str)]


def plain_modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != COMMANDS)


def test_no_docstring_opens_with_a_riddle() -> None:
    opened = {
        (str(path.relative_to(PACKAGE)), text.splitlines()[0])
        for path in plain_modules()
        for text in docstrings(path)
        if RIDDLE.match(text)
    }
    assert opened == set()
    assert RIDDLE.match("Whether it is there.") and not RIDDLE.match("Wherever it is.")


ACYCLIC = ("filters", "logs", "matching", "spark", "workloads")
"""Folders without import cycles, imports inside of functions included."""


@cache
def imported(path: Path) -> frozenset[Path]:
    """Return the modules of the package that a module imports, except for types alone."""
    nodes = list(ast.walk(tree(path)))
    guards = [node for node in nodes if isinstance(node, ast.If)]
    for_types = {
        id(line)
        for guard in guards
        if ast.unparse(guard.test) == "TYPE_CHECKING"
        for line in guard.body
    }
    found: set[Path] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in for_types:
            parts = {module_file(f"{node.module}.{each.name}") for each in node.names}
            found |= {module_file(node.module) if part is None else part for part in parts} - {None}
    return frozenset(found - {path, PACKAGE / "__init__.py"})


def module_file(name: str) -> Path | None:
    base = PACKAGE.parent / name.replace(".", "/")
    files = (base.with_suffix(".py"), base / "__init__.py")
    return next((file for file in files if file.exists()), None)


@pytest.mark.parametrize("folder", ACYCLIC)
def test_no_import_cycles_not_even_lazy_ones(folder: str) -> None:
    inside = {path: imported(path) for path in (PACKAGE / folder).rglob("*.py")}
    left = {path: reached & inside.keys() - {path} for path, reached in inside.items()}
    while free := [path for path, reached in left.items() if not reached & left.keys()]:
        for path in free:
            del left[path]
    assert sorted(str(path.relative_to(PACKAGE)) for path in left) == []


SINGLE = {path.stem for path in PACKAGE.glob("*.py")} - {"assembly", "hub"}
"""Modules of the package that are no part of the map's arrows: errors, limits and their like."""


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def test_the_map_says_what_a_folder_imports() -> None:
    text = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| ((?:`[\w/.]+`(?:, )?)+) \| .* \| ((?:`\w+`(?:, )?)*) ?\|$", text, re.M)
    said = {
        name.removesuffix(".py"): {each.strip("`") for each in may.split(", ")}
        for names, may in rows
        for name in re.findall(r"`(\w+)(?:/|\.py)`", names)
    }
    assert len(said) > 15
    found: dict[str, set[str]] = {name: set() for name in said}
    for path in PACKAGE.rglob("*.py"):
        name = part_of(path)
        if name in said:
            found[name] |= set(map(part_of, imported(path))) - SINGLE - {name}
    silent = {name: parts - said[name] for name, parts in found.items() if parts - said[name]}
    assert silent == {}
    together = {"hub": found["hub"] | found["hub_stream"], "hub_stream": said["hub_stream"]}
    idle = {name: said[name] - parts - {""} for name, parts in (found | together).items()}
    assert {name: parts for name, parts in idle.items() if parts} == {}
