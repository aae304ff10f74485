"""Routing, where it goes: strategies of one shape, without input or output.

Inside:

    strategy                the contract of a strategy
    event_forwarding, flooding
                            the definition: every broker gets every event; the same behind one
                            neighbour
    interests               all filters of a broker in one matcher
    forwarding/             subscriptions travel, events follow them: the algorithms of DAS
    adaptive/               strategies that follow each other
    stages/                 a tree of stages, filters that get weaker towards its root
    summaries/              summaries to one neighbour a period, events that search
    siena_model             how far subscriptions spread, as a probability
"""
