"""Algebra of filters: covers, overlaps, merge, weaken, and the like.

Inside:

    intervals, span_tree    spans between cuts; which of many contain a value
    value_set, domain       sets of values: what inclusion is decided on
    normal_form             simplify, negation normal form, boxes, folding under a schema
    covering, subsumption   covers, overlaps, equivalent; which of a set another one covers
    merging, weakening      replacing filters by covering ones
    necessary               what an index can use of a tree
    witness                 an event that a filter accepts
"""
