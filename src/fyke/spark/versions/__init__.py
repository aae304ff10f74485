"""Subscriptions as versions in a place: compiled, found, opened, pinned.

Inside:

    compiling               `compile`: a DataFrame of subscriptions to a new version
    versions                which versions a place has, and how one appears whole
    snapshots               how workers open them
    pinning                 the snapshots of subscriptions as users give them
    pins                    which version a batch sees, decided once
    places, temporary       places by URI; folders that live as long as the process
"""
