"""Input of commands: files, lines, events as people have them, subscriptions.

Inside:

    inputs, lines           files by name, `-`, folders; JSON lines with their numbers
    event_files, read_ahead
                            events as people have them, compressed ones too; read beside matching
    subscriptions, standing
                            subscriptions a line each, or wherever they are
    rule_set, declared      all that commands on a set of subscriptions read; schemas
"""
