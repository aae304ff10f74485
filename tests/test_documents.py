"""The documents' code runs, and what they quote is what the files say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^(?:<!-- (?P<source>\S+) -->\n)?```python\n(?P<code>.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(document: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(document.read_text("utf-8")))


SPARK = ROOT / "docs" / "spark.md"
"""A minute alone."""


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(document, marks=[pytest.mark.long] if document == SPARK else [])
        for document in DOCUMENTS
        if blocks(document)
    ],
    ids=lambda document: str(document.relative_to(ROOT)),
)
def test_code_runs(document: Path, tmp_path: Path) -> None:
    """All blocks of a document run from top to bottom as one program, whose source is there."""
    program = tmp_path / "document.py"
    program.write_text("\n".join(block["code"] for block in blocks(document)), "utf-8")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT))
)
def test_quotes_are_the_files_and_links_lead_somewhere(document: Path) -> None:
    for block in blocks(document):
        if block["source"]:
            assert block["code"].strip() in (ROOT / block["source"]).read_text("utf-8")
    for target in LINK.findall(document.read_text("utf-8")):
        assert (document.parent / target).exists(), target


def test_the_shell_example_of_the_readme(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"\$ cat (\S+)\n(.*?)\$ (echo .*?)\n(\{.*?\})\n```", text, re.S)
    assert shown is not None
    (tmp_path / shown[1]).write_text(shown[2], "utf-8")
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", shown[3]],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == shown[4]


EXAMPLES = {
    "filters.py": ["True", "False", "True", "detail.state starts with 'run'", "True"],
    "typed.py": [
        "Share(symbol='Foo', price=9.0, volume=300)",
        "type is Stock and price < 10 and symbol = 'Foo'",
    ],
    "quench.py": ["True", "True", "True"],
}


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples_print_what_they_promise(name: str) -> None:
    path = ROOT / "examples" / name
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == EXAMPLES[name]
