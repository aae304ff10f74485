"""Connections: names and graphs, no behaviour.

Inside:

    topology                brokers, links, ways and trees
    generators              lines, stars, trees, hierarchies, random ones
    papers                  the networks that papers measured on
    named                   all of these by name
    overlay_file            an overlay as a person writes it down
    layout                  where to draw brokers
"""
