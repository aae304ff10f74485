"""Compiles all kernels: `warm`."""

from __future__ import annotations

import fyke

fyke.warm()
print("{}")
