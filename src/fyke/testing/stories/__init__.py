"""Strategies against flooding: what clients and faults do, as data, and what must hold.

Inside:

    story                   what clients and faults do
    overlays, model, play   an overlay for a story; its clients and faults; both, step by step
    deliveries, cost, settled
                            the laws: what clients get, messages, tables that fit
    tables, footprint       tables by filters; how much a node holds
    places                  places in a tree of stages, found from the root
    reaching                properties that prove that they reach what they assert
"""
