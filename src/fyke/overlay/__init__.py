"""Who is connected to whom: names and graphs, no behaviour."""
