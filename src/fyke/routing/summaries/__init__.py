"""Subscriptions in short: brokers send summaries, events search for brokers that want them.

Inside:

    summaries               the strategy: a summary to one neighbour a period, events that search
    parameters              how an overlay of summaries works
    contributions           what brokers have told each other
    neighbourhood           who is linked to whom
    name_set                names of brokers in few bytes
"""
