"""Filters, what is wanted: predicates, trees, the native language, the algebra.

Inside:

    filter                  the tree, `matches`, the normal form that trees always keep
    declaration             how a class of predicates is written, said once
    predicate, text_predicate, comparison
                            the leaves and the meaning of each operator
    glob                    string patterns: matching and covering
    residual                a dialect's exact check as data
    notation, tokens, parser, codec
                            text, JSON and bytes ↔ trees
    normal_form             simplify, negation normal form, boxes, folding under a schema
    resolution              what a filter means under a schema: the order of enumerations, text that
                            is a time
    intervals, span_tree    spans between cuts; which of many contain a value
    value_set, domain       sets of values: what inclusion is decided on
    covering                covers, overlaps, equivalent
    merging, weakening      replacing filters by covering ones
    necessary, analysis, explanation
                            what an index can use; lint; why (not)
    drawing                 an explanation as lines of text
    reads                   the attributes that a verdict may depend on
    remarks                 filters that probably mean something else, and what was meant
    subscription, subsumption, witness
                            a filter with an identity; which of a set another one covers; an event
                            that a filter accepts
    packed/                 filters as few bytes
    covering_index/         which filters of a set cover which, without trying all pairs
    regular_expression, required_text
                            RE2; the text that every match of an expression holds
    wording                 all values of an event as one text, for keywords
    dialects/               the other languages

Read them in this order.
"""
