"""Filters as boxes of whole numbers: what may want an event, and what certainly does.

Inside:

    axis, space             values as codes in order; events as points
    boxes                   the exact algebra: intersect, subtract, distance, regions,
                            `select_peers`
    shape                   a filter as boxes around it and boxes within it
    kernels, table          the same, fast: shapes of all known peers in columns
"""
