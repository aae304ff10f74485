"""The compiled engine, in the order of a subscription's way in and an event's way through.

Inside:

    codes                   values as 32-bit integers that keep their order; odd codes leave a doubt
    vocabulary, dictionary  axes (an attribute seen in one way) and symbols; as data
    boxing, program         a filter as few boxes that cover it; as jump code, for candidates in
                            doubt
    intake, box_table, access
                            boxes as columns, filed under their rarest symbol
    expectation, statistics
                            how rare a symbol is: given, guessed, learned
    layout, box_tree, segment
                            clusters, runs and 16-ary box trees as offset-only arrays
    coding, column_*, symbol_tables, code_lists
                            events as codes, one by one and in columns
    patterns/               which of many string patterns accept a text: tries, windows,
                            Aho-Corasick as arrays
    probe, traversal, gathering, search, room, results
                            codes → clusters → boxes → slots
    pairs, run_scan, tree_walk
                            the stages of the traversal: a block of events against a run, against a
                            box tree
    young                   those that came lately, each compared with sixteen events at a time
    doubts, exactly, nearness
                            what boxes leave open, decided by programs and by the filters
                            themselves; what an event nearly fits
    engine, homes, merging, memory
                            segments that come, merge in the background and go
    renewal                 all of it made anew from the filters, while the old index serves
    keeping, validation     an index as arrays, and back: whether what comes from a file can be
                            walked by kernels
    kernel, lanes, intrinsics
                            how kernels run: fast, checked, or as plain Python
    compiling, warming, kernel_cache, numba_cache
                            who compiles them and when; all of them, called once; where they are
                            kept

A kernel is one source for three modes (`FYKE_KERNELS`): compiled on addresses with vector
instructions, compiled on arrays with bounds checks, and plain Python.
"""
