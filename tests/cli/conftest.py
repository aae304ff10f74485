"""Runs of `fyke`: in this process, or as the real command."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fyke.cli.main import main


@dataclass(frozen=True)
class Run:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def documents(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def fyke(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Run]:
    """`fyke(*arguments, stdin=bytes)` inside an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], str]:
    """`write(name, content)`: text, bytes, or documents as JSON lines; gives the name."""

    def write(name: str, content: object) -> str:
        if isinstance(content, Sequence) and not isinstance(content, str | bytes):
            content = "".join(json.dumps(each) + "\n" for each in content)
        data = content.encode() if isinstance(content, str) else content
        assert isinstance(data, bytes)
        (tmp_path / name).write_bytes(data)
        return name

    return write


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """The real command in a process of its own, all three streams piped and buffered as usual."""
    inherited = {name: each for name, each in os.environ.items() if name != "PYTHONUNBUFFERED"}

    def start(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "fyke", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**inherited, **environment},
        )

    return start
