"""Traces: one record per effect, and the numbers that follow from them.

Inside:

    trace                   the records, as JSON lines
    trace_file              a trace on its way to a file
    summary                 numbers, each a formula over a trace
    metrics, usefulness     all of them in one pass
    picture                 the overlay with its traffic
    rings                   ring links of peers, and what is complete
"""
