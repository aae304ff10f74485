"""Shipping between a driver and workers that share no disk with it.

Inside:

    shipping, archives      snapshots as artifacts, sent once and opened once
    attempts                what tasks put together in a host's cache, and what dead ones left
    kernels, package        compiled kernels; Fyke itself
    delivering, refusals    what workers compile reaches a folder of the driver's, whole; what they
                            refused
"""
