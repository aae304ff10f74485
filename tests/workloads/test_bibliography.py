"""The bibliography: the sizes that MSF's table implies, and its match rate."""

from __future__ import annotations

from collections import Counter, defaultdict

import fyke
from fyke.filters.filter import walk
from fyke.filters.predicate import In, TypeIs
from fyke.testing.workload import check_workload
from fyke.workloads.bibliography import BibliographyWorkload

PAPERS = BibliographyWorkload(seed=7)


def test_laws() -> None:
    check_workload(PAPERS, BibliographyWorkload(seed=8))


def test_places_are_uniform_and_some_have_two_titles() -> None:
    table = PAPERS.columns(60_000)
    for name, size in (("year", 20), ("conference", 25), ("author", 10)):
        counts = Counter(table[name].to_pylist())
        assert len(counts) == size
        assert max(counts.values()) < 1.15 * min(counts.values())
    assert set(table["year"].to_pylist()) == set(range(1984, 2004))
    titles = defaultdict(set)
    for row in table.to_pylist():
        titles[row["year"], row["conference"], row["author"]].add(row["title"])
    assert len(titles) == 5_000
    several = Counter(map(len, titles.values()))
    assert set(several) == {1, 2}
    assert 0.23 < several[2] / 5_000 < 0.29


def test_weakened_filters_pass_what_matches_at_the_paper_s_rate() -> None:
    """0.87 of what stage 1 (year, conference, author) lets through matches at stage 0."""
    names = ("year", "conference", "author")
    table = PAPERS.columns(50_000)
    passed: Counter[tuple[object, ...]] = Counter(
        zip(*(table[name].to_pylist() for name in names), strict=True)
    )
    exact: Counter[tuple[object, ...]] = Counter(
        zip(*(table[name].to_pylist() for name in (*names, "title")), strict=True)
    )
    ratios = []
    for subscription in PAPERS.subscriptions(1_500):
        wanted = wants(subscription.filter)
        ratios.append(exact[wanted] / passed[wanted[:3]])
    assert 0.84 < sum(ratios) / len(ratios) < 0.90
    assert 0.70 < sum(ratio == 1 for ratio in ratios) / len(ratios) < 0.78


def wants(filter: fyke.Filter) -> tuple[object, ...]:
    return tuple(node.values[0] for node in walk(filter) if isinstance(node, In))


def test_events_match_few_subscriptions() -> None:
    matcher = fyke.Matcher()
    matcher.add_many((one.id, one.filter) for one in PAPERS.subscriptions(2_000))
    found = matcher.match_batch(PAPERS.columns(20_000))
    assert 1.5e-4 < found.num_rows / (20_000 * 2_000) < 2.0e-4


def test_filters_are_equalities() -> None:
    bare = BibliographyWorkload(seed=7, typed=False)
    for full, paper_s in zip(PAPERS.filters(50), bare.filters(50), strict=True):
        assert full == TypeIs("Publication") & paper_s
        assert [node.attribute for node in walk(paper_s) if isinstance(node, In)] == [
            *("year", "conference", "author", "title")
        ]


def test_sizes_are_options() -> None:
    small = BibliographyWorkload(seed=7, years=1, conferences=1, authors=1)
    table = small.columns(500)
    assert [len(set(table[name].to_pylist())) for name in ("year", "conference", "author")] == [
        *(1, 1, 1)
    ]
    large = BibliographyWorkload(seed=7, authors=20_000).columns(60_000)
    assert len(set(large["author"].to_pylist())) > 18_000
    assert len({one.subscriber for one in PAPERS.subscriptions(1_200)}) == 1_000


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert PAPERS.event(1).attributes == {
        "type": "Publication",
        "year": 2001,
        "conference": "SONB",
        "author": "D. Rotfas",
        "title": "Quiet Caches for Gossiping Queries, Revisited",
    }
    assert PAPERS.event(1).supertypes == ("Document",)
    assert PAPERS.text(3) == (
        "type is Publication and year = 1992 and conference = 'DOTB' and author = 'M. Metnax'"
        " and title = 'Lazy Channels over Local Queues'"
    )
