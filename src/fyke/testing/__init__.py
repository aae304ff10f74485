"""The laws as checks, and what tests draw from.

Inside:

    covering, matcher, workload, pruning
                            the one law; engines against the scan; rows by number; plans
    strategy, story, play, tables, cost, footprint
                            strategies against flooding: stories, faults, tables, messages, leaks
    generators, related, ordered
                            nasty values and filters; filters that are related; schemas with orders
    places                  places in a tree of stages, found from the root
    ordering                the oracle of what a filter means under a schema
    reaching                properties that prove that they reach what they assert
    texts                   JSON texts as they come, damaged ones too
    corpus                  cases as data
"""
