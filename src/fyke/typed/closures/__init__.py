"""Closures: read what a Python function asks of an event, without running it.

Inside:

    truth                   when a comparison in Python can be true, and when false, as two filters
    captured                what a closure knows besides its argument, and noticing that it changed
    reading                 the syntax tree, walked with values that stand for all events at once
    deriving                from a closure to the filter that covers it
"""
