"""Nodes under a virtual clock: the same seed, the same trace.

Inside:

    simulation              one queue of what happens next
    network                 latency, bandwidth, lost frames
    links, disk             which links are up; what is safe on a disk
    faults                  cuts and crashes by the clock, from a file
    scenario                a workload played to an overlay
    cycles                  peers in cycles, as the paper on gossip counts
"""
