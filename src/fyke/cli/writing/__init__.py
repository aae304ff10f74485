"""Output of commands: for machines, for people, and on stderr.

Inside:

    output                  lines of JSON, rows of text
    picture, listing, tree  overlays, tables and explanations to look at
    comparison              strategies side by side
    reasons, problems       why something was refused; sentences on stderr
    progress                how far long work is
"""
