"""Temporary folders that live as long as the process: who knows when a DataFrame is looked at."""

from __future__ import annotations

import atexit
import tempfile


def temporary_folder(place: str | None = None) -> str:
    """Make a folder, in the one for temporary files or in `place`."""
    folder = tempfile.TemporaryDirectory(
        prefix="fyke-subscriptions-", dir=place, ignore_cleanup_errors=True
    )
    atexit.register(folder.cleanup)
    return folder.name
