"""Sub-2-Sub: subscribers that serve each other, without brokers (S2S).

Inside:

    geometry/               filters as boxes: who may want an event, who certainly does
    settings, registry      the numbers that the paper leaves open; the profiles that a process has
                            seen
    messages                what travels, and its size by formula
    contacts, cyclon        whom a peer has heard of; random links by shuffling
    member, history         a subscription in its rings; the events it has seen of late
    publishing              a publisher looks for any one peer that wants its event
    peer                    the node
"""
