"""The command line: one file per command, each loaded only when it is called.

Inside:

    main, options           the command `fyke`; options that several commands share
    match, explain, lint, prune, summarise, warm, completion
                            commands on rules and events
    simulate, peers, comparison, reproduce, demo
                            commands on overlays and papers
    pipeline, stages, spark
                            commands that start Spark
    inputs, lines, event_files, read_ahead
                            what is read: files, JSON lines, events as people have them
    subscriptions, standing, declared, rule_set
                            subscriptions a line each, or wherever they are; schemas; all that
                            commands on a set of subscriptions read
    output, picture, listing, tree, reasons
                            what is written: for machines and for people
    problems, progress      what is told on stderr
"""
