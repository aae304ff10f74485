"""Segments: boxes as arrays, from the memtable to files.

Inside:

    memtable_writer, memtable
                            subscriptions that came lately: boxed, compared with every event
    layout, segment         clusters, runs and box trees as offset-only arrays
    segment_of_slot         the segment of each slot
    compaction              some segments as one, without what was removed
    storage, validation     an index as arrays, and back: can kernels walk what comes from a file
"""
