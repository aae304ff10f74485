"""Strategies that follow each other, as traffic changes.

Inside:

    adaptive                the strategy: one epoch after the other, without a lost event
    epoch                   how far the brokers of an epoch are
    weighing                what either strategy would cost
"""
