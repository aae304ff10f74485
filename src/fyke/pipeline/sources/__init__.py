"""Sources: the events and subscriptions of a run.

Inside:

    origins, paths          what a configuration says of them; are the files there, and their
                            columns
    columns_text            columns of a table as the text of events
    sources, streams        as DataFrames: generated, from files, from what flows
"""
