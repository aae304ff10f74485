"""The pipeline, the project's main job: ingest, compile, match, notify, count, report.

    fyke pipeline init pipeline.toml     writes a sample, commented line by line
    fyke pipeline run pipeline.toml      runs it; without a file, the sample

Needs `pip install fyke[pipeline]`: Spark, and matplotlib for the report.
"""
