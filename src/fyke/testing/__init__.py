"""The laws as checks, and what tests draw from.

Inside:

    covering, matcher, workload, pruning
                            the one law; engines against the scan; rows by number; plans
    strategy, story         strategies against flooding; what clients and faults do, as data
    overlays, model, play   an overlay for a story; its clients and faults; both, step by step
    deliveries, cost, settled
                            the laws: what clients get, messages, tables that fit
    tables, footprint       tables by filters; how much a node holds
    generators, related, ordered
                            nasty values and filters; filters that are related; schemas with orders
    places                  places in a tree of stages, found from the root
    ordering                the oracle of what a filter means under a schema
    reaching                properties that prove that they reach what they assert
    texts                   JSON texts as they come, damaged ones too
    corpus                  cases as data
"""
