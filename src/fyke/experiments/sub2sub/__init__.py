"""S2S: Voulgaris, Rivière, Kermarrec, van Steen: Sub-2-Sub, self-organizing content-based publish
and subscribe for dynamic and large scale collaborative networks.

Inside:

    overlay                 figures 6 to 8: rings that form, events that travel
    joining                 figure 9: who joins an overlay that is there
    converging              both in one run for each setting
    churn                   beyond the paper: peers that come and go, fail together, lose messages
    unstated                what the paper does not state, swept
    claims                  the paper's sentences, judged
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import Axis, Figure, Panel, Paper, Study
from fyke.experiments.sub2sub import churn, converging, overlay, unstated
from fyke.experiments.sub2sub.claims import CLAIMS
from fyke.experiments.table import Wanted

_CYCLE: Final = Axis("cycle", "cycle")
_PAIRS: Final[tuple[tuple[dict[str, Wanted], str], ...]] = tuple(
    ({"kind": "cycle", "attributes": n, "interest": law}, f"{n} attributes, {law}")
    for n, law in overlay.SETTINGS
)

PAPER: Final = Paper(
    name="sub2sub",
    title="Sub-2-Sub: Self-Organizing Content-Based Publish and Subscribe",
    summary="Peers gossip, find others that want the same, and form a ring for every set of "
    "subscribers; events travel along the rings, and nobody gets what it does not want.",
    studies=(
        Study("overlay", converging.run, overlay.grid, converging.cost),
        Study("churn", churn.run, churn.grid, lambda p: 2.0 * p["peers"]),
        Study("views", unstated.run_views, unstated.grid_of_views, lambda p: p["peers"]),
        Study("laws", unstated.run_laws, unstated.grid_of_laws),
    ),
    figures=(
        Figure("6", "Construction of the rings", "The share of ring links in place, and of rings "
               "that are complete, after each cycle. Links come fast; the last ring takes long.",
               "overlay",
               tuple(Panel(f"{title}: {label}", _CYCLE, Axis(column, "%"), ("peers",), where)
                     for where, title in _PAIRS
                     for column, label in (("links", "ring links"), ("rings", "complete rings"))),
               {"kind": "cycle"}),
        Figure("6b", "Other numbers of attributes", "The same by the number of attributes, with "
               "interests after a power law. Fewer attributes make longer rings, which take "
               "longer.", "overlay",
               tuple(Panel(label, _CYCLE, Axis(column, "%"), ("attributes",))
                     for column, label in (("links", "ring links"), ("rings", "complete rings"))),
               {"kind": "cycle", "interest": "power_law"}),
        Figure("7", "Event dissemination", "Disseminations that are complete, and the hit ratio of "
               "the others. Shortcuts make them complete before all rings are.", "overlay",
               (Panel("complete disseminations", _CYCLE, Axis("complete", "%"), ("peers",)),
                Panel("hit ratio of the others", _CYCLE, Axis("partial_hit", "%"), ("peers",))),
               {"kind": "spread"}),
        Figure("8a", "Ring lengths", "How many events have a ring of which length. With five "
               "attributes rings are short.", "overlay",
               tuple(Panel(title, Axis("length", "ring length"), Axis("events", "events"),
                           ("peers",), {**where, "kind": "length"}) for where, title in _PAIRS),
               {"kind": "length"}),
        Figure("8b", "Hops to complete dissemination", "The hops that an event takes, by the "
               "length of its ring. With a shortcut they grow like the logarithm.", "overlay",
               (Panel("one shortcut", Axis("length", "ring length"), Axis("hops", "hops"),
                      ("shortcuts",), is_joined=False),), {"kind": "hops", "shortcuts": 1}),
        Figure("8c", "Hops along the ring only", "The same without shortcuts: half a ring.",
               "overlay",
               (Panel("no shortcut", Axis("length", "ring length"), Axis("hops", "hops"),
                      ("shortcuts",), is_joined=False),), {"kind": "hops", "shortcuts": 0}),
        Figure("9", "Single joins", "Cycles until a publisher finds somebody, and until a "
               "subscriber that came back has all its ring links, both ways.", "overlay",
               (Panel("joins", Axis("cycles", "cycles"), Axis("share", "% of joins"),
                      ("who", "answers")),), {"kind": "join"}),
        Figure("load", "Load", "Left, the share of all sends that the least busy peers have: even "
               "load is the diagonal. Right, sends by the size of a peer's box: who wants more "
               "passes on more.", "overlay",
               (Panel("sends of the least busy", Axis("least", "% of the peers"),
                      Axis("sends", "% of the sends"), ("peers",), {"kind": "lorenz"}),
                Panel("sends by size of box", Axis("tenth", "tenths of the peers, by box"),
                      Axis("sends", "sends / mean"), ("peers",), {"kind": "width"})),
               {"kind": ("lorenz", "width", "load", "widest")}),
        Figure("views", "Sizes of views", "One size at a time is half or twice the usual one: "
               "complete rings by cycle, and what a peer sends in a cycle. Larger views help in "
               "the first cycles only, and cost their size; other seeds show what chance does.",
               "views",
               (Panel("complete rings", _CYCLE, Axis("rings", "%"), ("variant",)),
                Panel("sent by a peer in a cycle", _CYCLE, Axis("kilobytes", "kB"),
                      ("variant",)))),
        Figure("laws", "Laws of widths and interests", "The longest ring and the median, by the "
               "exponents that the paper leaves open. It has 2 to 246 with three attributes, 2 to "
               "3 with five.", "laws",
               tuple(Panel(f"{n} attributes: {label}", Axis("centre", "exponent of the centres"),
                           Axis(column, "peers"), ("width",), {"attributes": n})
                     for n in (3, 5) for column, label in (("longest", "longest ring"),
                                                           ("median", "median")))),
        Figure("churn", "Peers that come and go", "What peers missed of the events that "
               "they want, where a share of all peers is replaced in every cycle. Newcomers miss "
               "some; those that stay do not, with repair.", "churn",
               (Panel("all live peers", _CYCLE, Axis("missed", "missed, %"), ("share", "mode")),
                Panel("settled for ten cycles", _CYCLE, Axis("settled_missed", "missed, %"),
                      ("share", "mode"))), {"what": "churn"}),
        Figure("failure", "Many fail at once", "What the others missed, by cycle after a "
               "share of the peers failed together.", "churn",
               (Panel("all live peers", _CYCLE, Axis("missed", "missed, %"),
                      ("share", "mode")),), {"what": "failure"}),
        Figure("partition", "Parted for ten cycles", "What peers missed, by cycle after half of "
               "them can reach the others again.", "churn",
               (Panel("all peers", _CYCLE, Axis("missed", "missed, %"), ("mode",)),),
               {"what": "partition"}),
        Figure("loss", "Messages get lost", "What peers missed, where one of five messages is "
               "lost.", "churn",
               (Panel("all live peers", _CYCLE, Axis("missed", "missed, %"), ("mode",)),),
               {"what": "loss"}),
    ),
    claims=CLAIMS,
    notes=(
        "View sizes, shuffle lengths and the power law of interests are not in the paper: random "
        "views of 20 with shuffles of 8, near views of 20 with exchanges of 10, unbounded ring "
        "views, centres at 0.5 +- 0.5 U**1.75, widths U**4.",
        "Figures 6 to 9 are of the paper's protocol: repair, asking at once and answers from rings "
        "are switched off. An exchange of ring links goes every other time to the link not heard "
        "of longest.",
        "The law of centres was chosen so that ring lengths are the paper's (figure laws); the "
        "influence of the sizes of views is figure views.",
        "With repair and without it, events of figures churn to loss have four cycles to arrive.",
        "Judging events are uniform, wanted by at least two peers, and from a seed of their own.",
        "A publisher's cycle is a round of two questions: to the closest peer that it knows and "
        "has not asked, and to one by chance.",
    ),
)  # fmt: skip
