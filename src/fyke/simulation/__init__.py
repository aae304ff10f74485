"""Nodes under a virtual clock: the same seed, the same trace.

| module | idea |
|---|---|
| `simulation.py` | one queue of what happens next |
| `network.py` | latency, bandwidth, lost frames |
| `links.py` | which links are up |
| `faults.py` | cuts and crashes by the clock, from a file |
| `scenario.py` | a workload played to an overlay |
"""
