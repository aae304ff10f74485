"""Sub-2-Sub: subscribers that serve each other, without brokers (S2S).

Inside:

    geometry/               filters as boxes: who may want an event, who certainly does
    settings, registry      the numbers that the paper leaves open; the profiles that a process has
                            seen
    messages                what travels, and its size by formula
    contacts, cyclon, vicinity
                            whom a peer has heard of; random links; links to the closest
    member, ring, history   a subscription, its ring links, the events it has seen of late
    site, gossiping         what the parts of a peer share; one exchange per layer and cycle
    dissemination, publishing, search, repair
                            events along the rings; publishers that look for a first peer; gaps
    peer                    the node
"""
