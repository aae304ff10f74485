"""Arrow arrays read as cells, by the value rules. The only package that knows Arrow's types.

Inside:

    cells, parts            what stands in each row; a tree of cells as flat columns
    scalars, numbers, decimals, texts
                            cells of one kind
    moments, text_moments   timestamps and dates; text that is read as timestamps
"""
