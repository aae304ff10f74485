"""What the covering index is made of, from filters up.

| module | idea |
|---|---|
| `footprint.py` | what one way of satisfying a filter leaves at each attribute |
| `needs.py` | what a filter asks of every event, as places in an index |
| `box.py` | filters of one plain predicate per attribute, compared at once |
| `shape.py` | all of these for a filter |
| `crowds.py`, `ladder.py` | who is at a place; who stands between two cuts |
| `waiting.py` | filters at what they need |
| `standing.py` | filters at their footprints |
"""
