"""Filters as boxes of whole numbers: what may want an event, and what certainly does.

| module | idea |
|---|---|
| `axis.py`, `space.py` | values as codes in order; events as points |
| `boxes.py` | the exact algebra: intersect, subtract, distance, regions, `select_peers` |
| `shape.py` | a filter as boxes around it and boxes within it |
| `kernels.py`, `table.py` | the same, fast: shapes of all known peers in columns |
"""
