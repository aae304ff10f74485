"""The contract between algorithms and what runs them: values in, effects out.

Inside:

    message                 what travels over links
    inputs                  what a node is told
    effect                  what a node wants done
    node                    the contract
    codec                   messages as bytes, with kinds and a version
"""
