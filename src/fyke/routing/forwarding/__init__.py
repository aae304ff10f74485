"""Subscriptions travel to where events are filtered: the sixteen algorithms of DAS.

Inside:

    variant, filtering      the four choices of DAS; the strategy that they make
    row, packed_row         a subscription as a broker knows it; the same in few bytes
    table, offer            all rows of a broker; the rows that one neighbour is told
    covering_set, merging   filters that no other covers; several filters told as one
    doubt                   the neighbours whose wishes a broker does not know yet
    reach                   which broker is the rendezvous of which type, and behind which neighbour
    relief                  pruning what is filtered for neighbours, when memory is short
"""
