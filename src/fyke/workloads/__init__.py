"""Workloads: seeded generators of events and subscriptions.

Inside:

    workload, named         what every workload gives: rows by number, tables, a description; the
                            workloads by name
    draw                    random numbers by address (seed, row, column), for many rows at once
    form, drawn             what drawn codes stand for, in events and in text; a workload as a plan
                            of these
    stock, auction, bibliography, sensors, boxes
                            the papers' workloads
    attribute, predicates, conjunctive
                            words and numbers as codes, filters over them: W1 to W4
    composition, strings    strings of pieces, and patterns of the same pieces: W5
    trees                   W4
    library, stock_and_auction
                            the books behind the auctions; both markets at once
"""
