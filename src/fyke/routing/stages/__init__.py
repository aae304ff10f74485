"""Multi-stage filtering: a tree of stages, filters that get weaker towards its root.

Inside:

    attributes              which attributes of a class each stage filters on
    generality              which of them stay longest
    multistage              the strategy: subscriptions stay where clients are
    leases                  what is not renewed ends by itself
    tallies                 whether homes and places agree, in one number for the whole tree
    messages                what homes and places say to each other
    joining, walking        where a subscription fits; the walk to its place
    hosting                 the strategy of a place: it holds what others attach to it
    placing                 the same and that of a home: subscriptions move to their places
    once                    an event is handed over once
"""
