"""Search: codes -> clusters -> boxes -> slots.

Inside:

    search                  a segment held against coded events, a tile of them at a time
    probe                   from codes to clusters
    traversal, pairs, run_scan, tree_walk
                            from clusters to owners: a block of events against a run, a box tree
    gathering, results      the slots that were found, event by event
    exact_check             candidates that boxes leave open, decided by programs and filters
    workspace               the arrays that the kernels of a search write to
"""
