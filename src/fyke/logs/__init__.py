"""Append logs: keep what was published, in order.

Inside:

    log                     the contract: append, read from offset to offset, end
    frames, segment         records as bytes that show whether they are whole; files of them, and
                            their tail
    disk, partitions        a log in a folder, with group commit; several side by side
"""
