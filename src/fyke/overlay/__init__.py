"""Who is connected to whom: names and graphs, no behaviour.

| module | idea |
|---|---|
| `topology.py` | brokers, links, ways and trees |
| `generators.py` | lines, stars, trees, hierarchies, random ones |
| `papers.py` | the networks that papers measured on |
| `named.py` | all of these by name |
| `overlay_file.py` | an overlay as a person writes it down |
| `layout.py` | where to draw brokers |
"""
