"""Boxes: a filter as few boxes that cover it, and what boxes leave open.

Inside:

    boxing, program         a filter as boxes; as jump code, for candidates in doubt
    box_table, access       boxes as columns, filed under their rarest symbol
    box_tree                many boxes over the same axes as a 16-ary tree
    nearness                the subscriptions that an event nearly fits
"""
