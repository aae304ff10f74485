"""The papers' figures and claims, made again.

| module | idea |
|---|---|
| `table.py` | rows of numbers, and questions to them |
| `experiment.py` | what there is to reproduce of a paper: studies, figures, claims |
| `harness.py` | one Spark sweep, and what it leaves in a folder |
| `origin.py`, `outcome.py` | where and when numbers were made; what a reproduction came to |
| `plots.py`, `report.py`, `report.html` | figures with one look; the page |
| `das/` | the paper on distributed filter algorithms (DAS) |
"""
