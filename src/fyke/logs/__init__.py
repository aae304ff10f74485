"""Append logs: what was published, in order, kept."""
