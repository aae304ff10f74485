"""Closures: reading what a Python function asks of an event, without running it."""
