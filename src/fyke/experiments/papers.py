"""The papers by name; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from fyke.errors import FykeError, shown
from fyke.experiments.experiment import Paper

PAPERS: Final = ("das", "multistage", "pruning", "sub2sub", "summaries")


def paper(name: str) -> Paper:
    if name not in PAPERS:
        raise FykeError(f"unknown paper {shown(name)}; expected {', '.join(PAPERS)}")
    found: Paper = import_module(f"fyke.experiments.{name}").PAPER
    return found
