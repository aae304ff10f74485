"""Most tests here look at segments: nothing is young in them but where a test says so."""

from __future__ import annotations

import pytest

from fyke.matching.compiled import engine as compiled


@pytest.fixture(autouse=True)
def memtable_size_max(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MEMTABLE_SIZE_MAX", 0)
