"""String patterns: those of many that accept a text.

Inside:

    pattern_set, layers, block
                            patterns that come and go, over immutable blocks
    encoding, building, block_layout, block_arrays
                            a pattern as bytes with a key; the arrays of a block, offsets only
    trie, aho_corasick, windows
                            keys at the start of a text, anywhere in it, and long ones
    marks, placement, lookup
                            quick refusal; does the whole pattern fit; the patterns of a block that
                            accept a text
    text_cache              answers by text, bounded
    block_storage, checking
                            blocks as a few arrays in a file; can kernels follow their offsets
"""
