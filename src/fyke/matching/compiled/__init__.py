"""The compiled engine: boxes of codes in immutable segments, searched by kernels.

The rooms stand in the order of a subscription's way in and an event's way through.

Inside:

    coding/                 values and events as 32-bit codes, one by one and in columns
    patterns/               which of many string patterns accept a text
    boxes/                  a filter as few boxes that cover it, filed under their rarest symbol;
                            as a program, where boxes leave a doubt
    segment/                boxes as offset-only arrays: the memtable, segments, compaction, files
    search/                 codes -> clusters -> boxes -> slots
    engine                  segments that come, merge in the background and go
    rebuild                 the index made anew from the filters, while the old one serves
    memory                  memory that a large build leaves behind
    kernels/                kernels: their modes, their compilation, the folder that keeps them

A kernel is one source for three modes (`FYKE_KERNELS`): compiled on addresses with vector
instructions, compiled on arrays with bounds checks, and plain Python.
"""
