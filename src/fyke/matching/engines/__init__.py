"""Engines: the contract of a search, its definition, and the structures of the papers.

Inside:

    contract, scan, registry
                            the duties of an engine; the definition of a match; engines by name
    deferred, interim       what answers until the kernels of `compiled` are there, and how a
                            matcher moves over
    predicate_index, association
                            from a value to the satisfied predicates, to the users of these
    counting, boolean       conjunctions by counting; trees of candidates only
    places, profile, profile_set, interval_array
                            one total order of values; filters as profiles over it
    interval, tree          intersecting per attribute; descending level by level
    indices, dynamic_array, interval_parameters
                            numbers that are given out; the bit lists of the interval engine; its
                            parameters
"""
