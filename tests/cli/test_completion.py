"""`fyke completion`: a real shell completes with what it prints."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def completed(script: str, *words: str) -> list[str]:
    """Return what bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    ask = f"""
        source {script}
        COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMP_LINE="{" ".join(words)}"
        COMP_POINT=${{#COMP_LINE}}
        _fyke; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    return [each.strip() for each in done.stdout.split()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="this is about bash")
def test_bash_completes_commands_options_and_values(fyke, write):
    run = fyke("completion", "bash")
    assert (run.code, run.err) == (0, "")
    script = write("fyke.bash", run.out)
    assert completed(script, "fyke", "ma") == ["match"]
    assert completed(script, "fyke", "match", "--logs") == ["--logsource"]
    assert "eventbridge" in completed(script, "fyke", "match", "--dialect", "event")


def test_the_shell_is_that_of_the_environment(fyke, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "complete -c fyke" in fyke("completion").out
    monkeypatch.setenv("SHELL", "/bin/ksh")
    run = fyke("completion")
    assert (run.code, run.err) == (2, "fyke: name the shell: bash, zsh, fish\n")
    assert fyke("completion", "ksh").code == 2
