"""What the covering index is made of, from filters up.

Inside:

    footprint               what one way of satisfying a filter leaves at each attribute
    needs                   what a filter asks of every event, as places in an index
    box                     filters of one plain predicate per attribute, compared at once
    shape                   all of these for a filter
    crowds                  who is at a place
    columns, weak_code      intervals in columns; cuts as few bytes that keep their order
    claims                  filters by all that they ask for at once
    waiting                 filters at what they need
    standing                filters at their footprints
    filter_index            distinct filters by slot: who may cover whom
"""
