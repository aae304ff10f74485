"""The pipeline, the project's main job: ingest, compile, match, notify, count, report.

    fyke pipeline init pipeline.toml     writes a sample, commented line by line
    fyke pipeline run pipeline.toml      runs it; without a file, the sample

Needs `pip install fyke[pipeline]`: Spark, and matplotlib for the report.

Inside:

    configuration, sample.toml
                            `pipeline.toml` as plain values, every mistake named
    checking                what can be known before Spark starts
    running, stages, watching
                            the stages, one after the other; who is told how far they are
    sources/                where events and subscriptions come from
    compiling               a version of the subscriptions
    live/                   a stream that runs until it is stopped
    results/                what a run leaves behind: notifications, statistics, plots and a page
"""
