"""Subscription summaries: small structures that never say no to an event that somebody wants.

Inside:

    constraints             a filter as a few boxes of constraints, one per attribute
    line, rows              the rows of one attribute: spans between cuts, patterns, flags
    groups, table           rows, cells, boxes and their members as arrays; merging
    joining                 fewer and wider rows: the paper's coarse mode
    budget                  fewer and wider rows, until the bytes fit
    search                  from an event to the boxes that may accept it
    encoding                a table as bytes, canonical and checked
    identifiers             ids of three parts, any widths
    register, changes       owners, versions, ids; what is still to be worked into the rows
    summary, merging        what users know; one summary of the contributions of many
    description             a summary as text
    plain                   the paper's lists, as they are printed: the oracle
"""
