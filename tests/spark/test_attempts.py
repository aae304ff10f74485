"""What tasks leave in a host's cache: nothing, once they are dead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fyke.spark.shipping import attempts
from fyke.spark.shipping.attempts import attempting, sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no locks to tell by")
FILLING = """
import sys
from pathlib import Path
from fyke.spark.shipping.attempts import attempting
with attempting(Path(sys.argv[1])) as attempt:
    (Path(sys.argv[1]) / f"{attempt}-a.zip").write_text("half")
    (Path(sys.argv[1]) / f"{attempt}-a" / "data").mkdir(parents=True)
    print(attempt, flush=True)
    input()
"""


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_task_that_was_killed(tmp_path: Path) -> None:
    """While it lives nobody takes its files away; then the next one does, and only these."""
    task = subprocess.Popen(
        [sys.executable, "-c", FILLING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert task.stdout is not None
    attempt = task.stdout.readline().strip()
    (tmp_path / "whole").mkdir()
    theirs = [f"{attempt}-a", f"{attempt}-a.zip", f"{attempt}.lock"]
    with attempting(tmp_path):
        pass
    assert names(tmp_path) == [*theirs, "whole"]
    task.kill()
    task.wait(60)
    assert names(tmp_path) == [*theirs, "whole"]
    with attempting(tmp_path) as ours:
        assert names(tmp_path) == [f"{ours}.lock", "whole"]
    assert names(tmp_path) == ["whole"]


def test_two_tasks_of_a_host(tmp_path: Path) -> None:
    with attempting(tmp_path) as one, attempting(tmp_path) as other:
        (tmp_path / f"{one}-a").touch()
        sweep(tmp_path)
        assert names(tmp_path) == sorted([f"{one}-a", f"{one}.lock", f"{other}.lock"])
    assert names(tmp_path) == []


def test_swept_in_the_moment_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else locks the new file before its maker does, and takes it for a dead one's."""
    takes, swept = attempts._takes, list[Path]()

    def late(handle: int) -> bool:
        if not swept:
            swept.extend(tmp_path.glob("*.lock"))
            attempts._remove(swept[0])
        return takes(handle)

    monkeypatch.setattr(attempts, "_takes", late)
    with attempting(tmp_path) as attempt:
        assert names(tmp_path) == [f"{attempt}.lock"]
        assert swept[0].name != f"{attempt}.lock"


def test_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is removed that might be worked on."""
    monkeypatch.setattr(attempts, "_takes", lambda _: False)
    with attempting(tmp_path) as one, attempting(tmp_path):
        assert f"{one}.lock" in names(tmp_path)
    assert names(tmp_path) == []
