"""Streams of events: micro-batches in an order that a crash cannot spoil.

Inside:

    streaming               `match_stream`
    step                    what happens with one micro-batch, whoever runs it
    batch_counts            what came of each batch
    kafka                   rows to a topic, of which only what it lacks is sent
    paced_source            workloads as streams, so many a second
    pace                    how many events a worker matches at once: by the matches of the last
"""
