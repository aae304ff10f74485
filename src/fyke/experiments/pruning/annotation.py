"""Figure 5: the selectivity of every node of s1, with leaves that fit the published node H."""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import (
    Axis,
    Claim,
    Figure,
    Finding,
    Panel,
    Parameters,
    Results,
    Study,
)
from fyke.experiments.table import Row
from fyke.filters.dialects import parse
from fyke.pruning.selectivity import SCALAR
from fyke.pruning.shape import Shape, read

S1: Final = (
    "title contains 'Harry Potter' and (condition = 'new' and price < 15"
    " or condition = 'used' and price < 10) and ending_within < interval '1 day'"
)
LEAVES: Final = (0.0002, 0.2, 0.93, 0.8, 0.9, 0.1)
"""title, new, price < 15, used, price < 10, ending: the figure's own are lost."""
H: Final = (0.7, 0.77, 1.0)


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return the three selectivities of each node, in preorder."""
    key, literals = read(parse(S1))
    shape = Shape(key)
    rows = []
    for node in range(len(shape.kinds)):
        part = Shape(_key(shape, node))
        below = shape.leaves[node]
        leaves = [share for at, share in enumerate(LEAVES) if below >> at & 1]
        text = str(shape.filter(shape.whole, literals, node))
        for quantity, value in zip(
            ("minimal", "average", "maximal"), part.share(part.whole, leaves, SCALAR), strict=True
        ):
            rows.append({"node": node, "filter": text, "quantity": quantity, "selectivity": value})
    return rows


def _key(shape: Shape, node: int) -> tuple[object, ...] | bool:
    if not shape.kinds[node]:
        return True
    return shape.kinds[node], *(_key(shape, child) for child in shape.children[node])


STUDY: Final = Study("annotation", run, lambda scale: [{"subscription": "s1"}])
FIGURES: Final = (
    Figure(
        "5",
        "Estimating the selectivity of s1",
        "The minimal, average and maximal selectivity of every node of s1, in preorder: 2 is the "
        "node H. The average of H lies nearer to its minimum.",
        "annotation",
        (
            Panel(
                "s1",
                Axis("node", "node, in preorder"),
                Axis("selectivity", "selectivity"),
                ("quantity",),
                is_joined=False,
            ),
        ),
    ),
)


def _judge(results: Results) -> Finding:
    rows = results["annotation"].where(node=2)
    ours = tuple(
        rows.one("selectivity", quantity=name) for name in ("minimal", "average", "maximal")
    )
    holds = all(abs(one - other) < 0.005 for one, other in zip(ours, H, strict=True))
    return Finding("(" + ", ".join(f"{each:.2f}" for each in ours) + ")", holds)


CLAIMS: Final = (
    Claim(
        "PRU-E6.1",
        "The node H of figure 5 has the selectivity (0.7, 0.77, 1.0).",
        "(0.7, 0.77, 1.0)",
        ("5",),
        _judge,
        rule="Equal to two decimals. Conjunctions take max(0, ...), where min(0, ...) is printed.",
        circular="The selectivities of the leaves are lost; ours were chosen to fit.",
    ),
)
