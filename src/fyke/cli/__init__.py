"""The command line: one file per command, each loaded only when it is called.

Inside:

    main, options           the command `fyke`; options that several commands share
    match, explain, lint, prune, summarise, warm, completion
                            commands on rules and events
    simulate, peers, reproduce, demo
                            commands on overlays and papers
    pipeline, stages, spark
                            commands that start Spark
    reading/, writing/      what is read: files, events, subscriptions; what is written, for people
                            and for machines
"""
