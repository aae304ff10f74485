"""The command line: one file per command, each loaded only when it is called.

Inside:

    main, options           the command `fyke`; options that several commands share
    match, explain, lint, prune, summarise, warm
                            commands on rules and events
    simulate, peers, comparison, reproduce, demo
                            commands on overlays and papers
    pipeline, stages, spark
                            commands that start Spark
    inputs, lines, subscriptions, declared
                            what is read: files, JSON lines, subscriptions, schemas
    output, listing, tree, reasons, problems, progress
                            what is written: for machines, for people, on stderr
"""
