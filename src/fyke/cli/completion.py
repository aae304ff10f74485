"""`fyke completion`: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import App, Parameter

from fyke.cli.writing.problems import Unusable

_SHELLS: Final = ("bash", "zsh", "fish")

app = App(
    name="completion",
    help_epilogue="""\
Examples
  fyke completion bash > ~/.local/share/bash-completion/completions/fyke
  fyke completion zsh > ~/.zfunc/_fyke          with fpath+=~/.zfunc in ~/.zshrc
  fyke completion fish > ~/.config/fish/completions/fyke.fish

The shell reads the file when it starts. Write it again after an update of Fyke.
""",
)


@app.default
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"] | None, Parameter(name="SHELL")] = None, /
) -> int:
    """Print what a shell needs to complete the command line.

    Parameters
    ----------
    shell
        The shell; without it, the one that SHELL names.
    """
    from fyke.cli.main import application

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise Unusable(f"name the shell: {', '.join(_SHELLS)}")
    print(application().generate_completion(shell=name))  # type: ignore[arg-type]
    return 0
