"""Covering index: the filters of a set that cover one, or are covered, without trying all pairs.

Inside:

    footprint               the values that one way of satisfying a filter leaves at each attribute
    needs                   the values that a filter asks of every event, as places in an index
    box                     filters of one plain predicate per attribute, compared at once
    multimap                members by key
    columns, weak_code      intervals in columns; cuts as few bytes that keep their order
    claims                  filters by all values that they ask for
    need_index              filters by the values that they need
    footprint_index         filters by their footprints
    filter_index            distinct filters by slot: which may cover which
    covering_index          filters by id
"""
