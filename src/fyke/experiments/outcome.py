"""Reproduction: what a reproduction came to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fyke.experiments.experiment import (
    Claim,
    Figure,
    Finding,
    Paper,
    Parameters,
    Results,
    verdict,
)
from fyke.experiments.origin import Origin
from fyke.experiments.table import Row


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a study."""

    study: str
    parameters: Parameters
    seed: int
    rows: tuple[Row, ...]
    seconds: float
    error: str | None

    def described(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.parameters.items())


@dataclass(frozen=True, slots=True)
class Judged:
    claim: Claim
    finding: Finding

    def document(self) -> dict[str, Any]:
        """Return it as it stands in claims.json."""
        return {
            "id": self.claim.id,
            "claim": self.claim.text,
            "paper": self.claim.paper,
            "ours": self.finding.ours,
            "verdict": self.finding.verdict,
            "why": self.finding.why,
            "by": {name: verdict(holds) for name, holds in self.finding.by.items()},
            "rule": self.claim.rule,
            "circular": self.claim.circular,
        }


@dataclass(frozen=True, slots=True)
class Reproduction:
    paper: Paper
    scale: str
    origin: Origin
    figures: tuple[Figure, ...]
    claims: tuple[Judged, ...]
    runs: tuple[Run, ...]
    results: Results
    seconds: float

    @property
    def failures(self) -> list[Run]:
        return [run for run in self.runs if run.error is not None]

    def claims_text(self) -> str:
        documents = [judged.document() for judged in self.claims]
        return json.dumps(documents, ensure_ascii=False, indent=2) + "\n"
