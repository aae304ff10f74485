"""What was seen: one record per effect, and what numbers follow from them.

| module | idea |
|---|---|
| `trace.py` | the records, as JSON lines |
| `trace_file.py` | a trace on its way to a file |
| `summary.py` | numbers, each a formula over a trace |
| `metrics.py`, `usefulness.py` | all of them in one pass |
| `picture.py` | the overlay with its traffic |
"""
