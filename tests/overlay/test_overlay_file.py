"""Overlays as files: what they say, and every mistake with file, key and expectation."""

from __future__ import annotations

import pytest

from fyke.errors import FykeError
from fyke.overlay.overlay_file import parse, read
from fyke.overlay.topology import Topology
from fyke.routing.summaries.parameters import SummaryParameters

WHOLE = """
links = [["a", "b"], { between = ["b", "c"], latency_s = 0.05, bandwidth = 1e6 }]
brokers = ["c", "alone 𝄞"]
placement = "similarity"
lease_s = 60

[network]
latency_s = 0.001
store_s = 1

[rendezvous]
Stock = "b"
"*" = "a"

[stages]
Stock = [["symbol"], []]

[summaries]
budget = "64 kB"
neighbours = 2

[clients]
alice = "a"
"""


def test_all_that_a_file_may_say(tmp_path):
    path = tmp_path / "overlay.toml"
    path.write_text(WHOLE, "utf-8")
    overlay = read(path)
    assert overlay.topology == Topology(("c", "alone 𝄞", "a", "b"), (("a", "b"), ("b", "c")))
    assert overlay.network == {"latency_s": 0.001, "store_s": 1.0}
    assert overlay.links == {("b", "c"): {"latency_s": 0.05, "bandwidth": 1e6}}
    assert overlay.rendezvous == {"Stock": "b", "": "a"}
    assert overlay.clients == {"alice": "a"}
    assert overlay.stages == {"Stock": (("symbol",), ())}
    assert overlay.summaries is not None
    parameters = SummaryParameters.read(overlay.summaries)
    assert parameters == SummaryParameters(budget=64_000, neighbours=2)
    assert (overlay.placement, overlay.lease_s) == ("similarity", 60.0)
    assert (parse(AB).placement, parse(AB).lease_s) == ("locality", None)


AB = 'links = [["a", "b"]]\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "an overlay without brokers"),
        ("links =", "not TOML"),
        ("link = 1", "link is unknown; expected brokers, links, network, rendezvous, clients"),
        ("links = 3", "links is 3; expected a list"),
        ('links = [["a"]]', r"links\[0\] is \['a'\]; expected two brokers"),
        ('links = [["a", 5]]', r"links\[0\] is .*expected names"),
        ("links = [{loss = 0.5}]", r"links\[0\].between is \[\]; expected two brokers"),
        ('links = [["a", "a"]]', "'a' is linked to itself"),
        ('links = [["a", "b"], {between = ["b", "a"]}]', "'b' and 'a' are linked twice"),
        ('links = [{between = ["a", "b"], lat = 1}]', r"links\[0\].lat is unknown; expected bet"),
        ('links = [{between = ["a", "b"], store_s = 1}]', r"links\[0\].store_s is unknown"),
        ('links = [{between = ["a", "b"], loss = -1}]', r"links\[0\].loss is -1"),
        ('brokers = ["a", "a"]', "'a' is named twice"),
        ('brokers = [""]', "brokers is .*expected names"),
        (AB + "network = 1", "network is 1; expected a table"),
        (AB + '[network]\nloss = "x"', "network.loss is 'x'; expected a number"),
        (AB + "[network]\nloss = true", "network.loss is True; expected a number"),
        (AB + "[network]\nlatency_s = nan", "network.latency_s is nan; expected a number"),
        (AB + '[rendezvous]\nT = ["a", "b"]', r"rendezvous.T is \['a', 'b'\]; expected one broker"),
        (AB + '[rendezvous]\nT = "a"\nT = "b"', "not TOML: Cannot overwrite a value"),
        (AB + '[rendezvous]\nT = "z"', "rendezvous.T: unknown broker 'z'; there are a, b"),
        (AB + "[stages]\nT = [1]", r"stages.T is \[1\]; expected a list of names for each"),
        (AB + "placement = 5", "placement is 5; expected one of locality, simi"),
        (AB + "lease_s = -1", "lease_s is -1; expected a number of seconds"),
        (AB + "summaries = 3", "summaries is 3; expected a table"),
        (AB + '[clients]\nalice = "z"', "clients.alice: unknown broker 'z'"),
    ],
)
def test_every_mistake_is_named(text: str, problem: str):
    with pytest.raises(FykeError, match=rf"^o.toml: .*{problem}"):
        parse(text, "o.toml")


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('mode = "exakt"', "summaries.mode is 'exakt'; expected one of coarse, exact"),
        ("budget = true", "summaries.budget is True; expected bytes, as in"),
        ("degree_max = 0", "summaries.degree_max is 0; expected a whole number from 1 on"),
        ('choice = "best"', "summaries.choice is 'best'; expected one of highest_degree, nearest"),
        ("neighbors = 2", "summaries.neighbors is unknown; expected mode, budget, period_s"),
    ],
)
def test_every_mistake_about_summaries_is_named(said: str, problem: str):
    overlay = parse(f"{AB}[summaries]\n{said}", "o.toml")
    assert overlay.summaries is not None
    with pytest.raises(FykeError, match=f"^o.toml: {problem}"):
        SummaryParameters.read(overlay.summaries)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(FykeError, match="No such file"):
        read(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes(b'brokers = ["\xe9"]')
    with pytest.raises(FykeError, match="not UTF-8 at byte 12"):
        read(tmp_path / "latin.toml")
