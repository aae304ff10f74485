"""Matching: the subscriptions that accept an event. Matcher, engines, snapshots, batches.

Inside:

    matcher                 for users: the one class with all that they call
    filter_reader, subscription_set, change_log
                            filters as users give them; catalog and engine, which change together
    searcher, batch         from an event or a batch to ids, while subscriptions change
    inspection, near_misses
                            events that are matched again or watched; why an event was refused
    catalog, id_table, slot_table, byte_store
                            ids and filters by slot, a few dozen bytes each
    asked, lines            the paths that subscriptions read; JSON lines in blocks
    linting                 the filters that the compiled engine has to try on every event
    arrays, snapshot        arrays by name; in a folder that is whole or refused, mapped into memory
    statistics, value_counts, predicate_counts
                            counts of a sample of events; the values that attributes have, and
                            the predicates that hold, in how many events
    engines/                the contract of a search, the scan, and the papers' structures
    compiled/               the default engine
"""
