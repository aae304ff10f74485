"""Filters, what is wanted: predicates, trees, the native language, the algebra.

Inside:

    filter                  the tree, `matches`, the normal form that trees always keep
    declaration             how a class of predicates is written, said once
    predicate, text_predicate, comparison
                            the leaves and the meaning of each operator
    subscription            a filter with an identity
    residual                a dialect's exact check as data
    language/, codec        text and JSON ↔ trees
    packed/                 filters as few bytes
    resolution              what a filter means under a schema: the order of enumerations, text that
                            is a time
    texts/                  string patterns, expressions, keywords
    algebra/                covers, overlaps, merged, weakened
    covering_index/         which filters of a set cover which, without trying all pairs
    reads                   the attributes that a verdict may depend on
    analysis, remarks       lint; filters that probably mean something else, and what was meant
    explanation, drawing    why (not), and that as lines of text
    dialects/               the other languages

Read them in this order.
"""
