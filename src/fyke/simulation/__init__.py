"""Nodes under a virtual clock: the same seed, the same trace."""
