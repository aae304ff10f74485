"""Closures: read what a Python function asks of an event, without running it.

Inside:

    truth                   when a comparison in Python can be true, and when false, as two filters
    captured                what a closure knows besides its argument, and noticing that it changed
    values, frame           what expressions stand for, for all events at once; variables, effects
    attributes, comparing, calling, expressions
                            expressions, by their kinds
    patterns, statements    what a `case` binds; statements on paths
    reading, deriving       a function as a filter; the filter, and what was not understood
"""
