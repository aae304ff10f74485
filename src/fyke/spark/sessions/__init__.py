"""Sessions that just start, and what is known of the machines behind them.

Inside:

    starting                `session`: what has to be right before the first JVM starts
    java, settings, connect
                            which Java; what Spark is told, by where it runs; a Connect server on a
                            free port
    workers, doctor, sizes  are workers fit, what does each have, how many cores are there
    reasons                 the sentence in what Spark says
"""
