"""The laws as checks, and what tests draw from.

Inside:

    covering, matcher, workload, pruning
                            the one law; engines against the scan; rows by number; plans
    strategy, stories/      strategies against flooding; what clients and faults do, as data
    generators, related, ordered
                            nasty values and filters; filters that are related; schemas with orders
    ordering                the oracle of what a filter means under a schema
    texts                   JSON texts as they come, damaged ones too
    corpus                  cases as data
"""
