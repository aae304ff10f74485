"""One function for many parameters and seeds, as a job.

Inside:

    sweeping, sweep_table   runs dealt out to workers; what they returned, as columns
"""
