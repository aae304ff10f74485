"""Matching, who wants this event: the Matcher, its engines, snapshots, batches.

Inside:

    matcher, batch, changes
                            what users know: ids, explanations, statistics, batches; threads
    catalog, id_table, slot_table, byte_store
                            ids and filters by slot, a few dozen bytes each
    asked, lines            which paths subscriptions read; JSON lines in blocks
    arrays, snapshot        arrays by name; in a folder that is whole or refused, mapped into memory
    statistics, census, tally
                            what a sample of events says about all; counts of predicates and of
                            values
    engine, scan            the contract of a search, and its definition
    compiled/               the default engine, below
    deferred, interim       what answers until its kernels are compiled, and how a matcher moves
                            over
    predicate_index, span_tree, association
                            from a value to the satisfied predicates, to who uses them
    counting, boolean       conjunctions by counting; trees of candidates only
    places, profile, profile_set, interval_array
                            one total order of values; filters as profiles over it
    interval, tree          intersecting per attribute; descending level by level
    indices, dynamic_array, interval_parameters
                            numbers that are given out; the bit lists of the interval engine; its
                            parameters
    packed/                 filters as few bytes
"""
