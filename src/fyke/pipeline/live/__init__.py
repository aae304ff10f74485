"""A pipeline that follows a stream until it is stopped.

Inside:

    live, stopping          the stream, from its start to its end
    micro_batch             what happens with a batch, in an order that a crash cannot spoil
    journal                 what `spark.match`'s tasks write of matches
    standing, renewal       the subscriptions, version after version, as their files change
    batch_counts, rates     what came of each batch; totals, and rates now and over time
"""
