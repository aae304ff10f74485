"""What the covering index is made of, from filters up.

Inside:

    footprint               what one way of satisfying a filter leaves at each attribute
    needs                   what a filter asks of every event, as places in an index
    box                     filters of one plain predicate per attribute, compared at once
    shape                   all of these for a filter
    crowds, ladder          who is at a place; who stands between two cuts
    waiting                 filters at what they need
    standing                filters at their footprints
"""
