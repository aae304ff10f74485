"""A broker is a node made of a strategy and local delivery.

Inside:

    broker                  one input after the other
    doorway                 what clients may bring in; all that can be refused is refused there
    delivery                the subscriptions of the broker's own clients, and the exact check of
                            every event
    declarations            the schema that all brokers of an overlay agree on
"""
