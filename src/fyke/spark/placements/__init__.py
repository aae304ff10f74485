"""Placements: where events meet subscriptions. All find the same rows.

    replicate     every task has all subscriptions; events stay where they are
    split         a task has one shard of the subscriptions; every event visits all shards
    rendezvous    both are dealt out by the values of one attribute and meet at their bucket
    multistage    all subscriptions, weakened, sift the events; what is left is spread out again
                  and checked exactly

A placement lives in two steps. *Laying out* (`layout`) files the subscriptions of a pin into parts,
each a matcher's snapshot, as a Spark job; it happens once. *Placing* (a module per placement) sends
events to tasks that open the parts they need.

Source. Subscription forwarding, event forwarding, rendezvous and multistage filtering are the
papers' names for networks of brokers; Spark's tasks stand for the brokers.

Inside:

    replicate, split, rendezvous, multistage, pruned, carried
                            the placements; `pruned` is a multistage whose first stage fits a
                            worker, `carried` a split whose shards come as rows
    layout, keeping, preparing
                            subscriptions in parts; as a part of a version; made once and remembered
    planning, choice        which placement, and why; what users may ask for
    profiles, memory        what it is chosen by: subscriptions, and the room of a worker
    placing, buckets        what all placements share; which values meet where
"""
