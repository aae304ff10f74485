"""Routing, where it goes: strategies of one shape, without input or output.

Inside:

    strategy, event_forwarding, flooding
                            the contract of a strategy, and its definition; an event for every
                            broker behind a neighbour
    interests, doubt        all filters of a broker in one matcher; of which neighbours it does not
                            know yet what they want
    variant, filtering      the four choices of DAS; the sixteen algorithms that they make
    row, packing, packed_row
                            a subscription as a broker knows it; filters and rows in few bytes
    table, offer            all rows of a broker; what one neighbour is told
    relief                  pruning what is filtered for neighbours, when memory is short
    reach                   which broker is the rendezvous of which type, and behind which neighbour
    adaptive, epoch, weighing
                            strategies that follow each other; how far an epoch is; what either
                            would cost
    stages, multistage      which attributes each stage of a tree filters on; filters that get
                            weaker towards the root
    joining, walking, placing
                            where a subscription fits; the walk to its place; homes and places
    leases, once            what is not renewed ends; an event is handed over once
    summaries, neighbourhood, contributions
                            summaries to one neighbour a period, events that search; who is linked
                            to whom; what brokers have told each other
    siena_model             how far subscriptions spread, as a probability
    covering_set, covering_index, covering/
                            filters that no other covers; who covers whom, without trying all
    merging                 several filters told as one
"""
