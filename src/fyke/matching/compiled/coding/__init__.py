"""Coding: values and events as 32-bit codes, one by one and in columns.

Inside:

    codes                   values as 32-bit integers that keep their order; odd codes leave a doubt
    axes, vocabulary, dictionary
                            axes (an attribute seen in one way) and symbols; as data
    frequencies             how rare a symbol is: by a sample, guessed, observed
    event_coding            one event as codes
    column_coding, column_codes, column_symbols, column_texts
                            a batch of events as codes, column by column
    symbol_tables, code_lists
                            from values to symbols without Python values; several codes on an axis
"""
