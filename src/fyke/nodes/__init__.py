"""The contract between algorithms and what runs them: values in, effects out.

Inside:

    message                 what travels over links
    inputs                  what a node is told
    effect                  what a node wants done
    node                    the contract
    alarm                   a time at which a part of a node wants to be woken
    codec                   messages as bytes, with kinds and a version
"""
