"""Filters, what is wanted: predicates, trees, the native language, the algebra.

Inside:

    filter                  the tree, `matches`, the normal form that trees always keep
    predicate, text_predicate, comparison
                            the leaves and the meaning of each operator
    glob                    string patterns: matching and covering
    residual                a dialect's exact check as data
    tokens, parser, printer, codec
                            text, JSON and bytes ↔ trees
    normal_form             simplify, negation normal form, boxes, folding under a schema
    resolution              what a filter means under a schema: the order of enumerations, text that
                            is a time
    intervals, value_set, domain
                            sets of values: what inclusion is decided on
    covering                covers, overlaps, equivalent
    merging, weakening      replacing filters by covering ones
    necessary, analysis, explanation
                            what an index can use; lint; why (not)
    reads                   the attributes that a verdict may depend on
    remarks                 filters that probably mean something else, and what was meant
    subscription, subsumption
                            a filter with an identity; which of a set another one covers
    regular_expression, required_text
                            RE2; the text that every match of an expression holds
    wording                 all values of an event as one text, for keywords
    dialects/               the other languages

Read them in this order.
"""
