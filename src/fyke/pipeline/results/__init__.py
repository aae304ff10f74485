"""Results of a run, which appear whole or not at all.

Inside:

    folder                  results, in place of the old ones in one step
    refusals                why rows were refused, the commonest first; when they are too many
    notifying               what subscribers get of the matches
    counting, outcome       statistics of the journal; what a run came to
    plots, report           the plots and the page of a run
"""
