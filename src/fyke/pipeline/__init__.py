"""The pipeline, the project's main job: ingest, compile, match, notify, count, report.

    fyke pipeline init pipeline.toml     writes a sample, commented line by line
    fyke pipeline run pipeline.toml      runs it; without a file, the sample

Needs `pip install fyke[pipeline]`: Spark, and matplotlib for the report.

Inside:

    configuration, origins, columns_text, sample.toml
                            `pipeline.toml` as plain values, every mistake named
    checking, paths         what can be known before Spark starts: are the files there, do they have
                            the columns
    running, stages, folder, watching
                            the stages; what they leave behind, in place of the old in one step; who
                            is told how far they are
    sources, streams        events and subscriptions as DataFrames: generated, from files, from what
                            flows
    compiling, journal, notifying
                            a version of the subscriptions; what `spark.match`'s tasks write of
                            matches, in the way that its planner chooses; what subscribers get of it
    refusals                why rows were refused, the commonest first; when they are too many
    live, micro_batch, stopping
                            a stream that runs until it is stopped; what happens with a batch, in an
                            order that a crash cannot spoil
    standing, renewal       the subscriptions of a stream, version after version, as their files
                            change
    batch_counts, rates     what came of each batch; totals, and rates now and over time
    counting, outcome       statistics of the journal; what a run came to
    plots, report
                            the plots and the page of a run
"""
