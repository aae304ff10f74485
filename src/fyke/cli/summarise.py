"""`fyke summarise`: a small thing that never says no to an event that somebody wants."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from rich.text import Text

from fyke.cli.options import (
    Dialect,
    EventsFile,
    OutFile,
    RulesFile,
    SchemaFile,
    Switch,
    Timestamps,
)
from fyke.cli.reading.rule_set import RuleSet
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted, name, write_line, write_whole
from fyke.cli.writing.progress import working
from fyke.errors import printable
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from fyke.events.event import Event
    from fyke.summaries.summary import Summary

ROWS_SHOWN: Final = 8
EVENTS_MAX: Final = 20_000
"""Events that a summary is held against."""

app = App(
    name="summarise",
    help_epilogue="""\
Examples
  fyke summarise rules.jsonl
  fyke summarise rules.jsonl --budget 64kB --against events.jsonl --out rules.summary
  fyke summarise rules.jsonl --mode exact --json
  fyke summarise rules.jsonl --describe

A summary says no only to events that no subscription accepts. In Python,
fyke.Summary.from_bytes(data).may_match(event) asks the file that --out wrote.

Modes
  coarse   overlapping ranges and covered patterns share rows; smallest
  exact    the ends of all ranges and all patterns are kept
  --budget joins rows where it costs least until the bytes fit; the events
           of --against say what is likely

Exit code: 0 summarised, 2 something was not readable.
""",
)


@app.default
def summarise(
    file: RulesFile,
    /,
    *,
    mode: Annotated[str | None, Parameter(choices=("coarse", "exact"), show_default=False)] = None,
    budget: Annotated[str | None, Parameter(metavar="SIZE")] = None,
    against: EventsFile = None,
    out: OutFile = None,
    names: Switch = False,
    dialect: Dialect = "fyke",
    schema: SchemaFile = None,
    timestamps: Timestamps = None,
    describe: Switch = False,
    json: Switch = False,
) -> int:
    """A small thing that never says no to an event that somebody wants.

    Parameters
    ----------
    file
        Subscriptions, a line each: {"id", "filter", "dialect"?}; or a rule or a folder of rules, as
        `fyke match` takes them; - is standard input.
    mode
        coarse or exact; coarse by default, with a budget exact.
    budget
        Bytes that the summary may have, such as 65536 or 64kB.
    against
        Events, a JSON object a line: how many pass, and which rows let most through.
    out
        Where to write the summary.
    names
        Write the ids of subscriptions, too.
    dialect
        The language of filters that name none.
    schema
        A schema in JSON; bounds on attributes of one value are joined.
    timestamps
        Attributes whose text is read as a timestamp.
    describe
        Print the rows of every attribute.
    json
        Print a JSON document.
    """
    from fyke.summaries.summary import Summary

    rules = RuleSet.read(file, dialect, schema, timestamps, against, EVENTS_MAX)
    standing, some = rules.subscriptions, rules.events
    pairs = [(each.id, each.filter) for each in standing]
    with working(f"summarising {len(pairs):,} subscriptions"):
        summary = Summary.of(
            pairs, mode, schema=rules.declared.whole, budget=budget, sample=some[::2] or some
        )
        data = summary.to_bytes(names=names)
    if out is not None:
        write_whole(out, data)
    facts = _facts(summary, data, standing, some)
    if json:
        write_line(facts)
    elif describe:
        print(summary.describe())
    else:
        _report(summary, facts)
    return rules.exit_code()


# --- facts ----------------------------------------------------------------------------------------


def _facts(
    summary: Summary, data: bytes, standing: Sequence[Subscription], some: Sequence[Event]
) -> dict[str, object]:
    """Return sizes, rows and what passes, as data."""
    text = "\n".join(str(each.filter) for each in standing).encode()
    table = summary.table
    facts: dict[str, object] = {
        "subscriptions": len(standing),
        "mode": summary.mode,
        "bytes": len(data),
        "text_bytes": len(text),
        "compressed_bytes": len(zlib.compress(text, 9)),
        "boxes": len(table.boxes),
        "always": summary.always,
        "rows": {
            key if not facet else f"{key} (again)": len(rows)
            for (key, facet), rows in zip(table.axes, table.rows, strict=True)
        },
    }
    if some:
        right = _accepted(standing, some)
        passed = [summary.may_match(event) for event in some]
        facts["events"] = len(some)
        facts["passing"] = sum(passed) / len(some)
        facts["matching"] = sum(right) / len(some)
        wrong = [
            event
            for event, passes, matches in zip(some, passed, right, strict=True)
            if passes and not matches
        ]
        facts["most_let_through"] = _blamed(summary, wrong)
    return facts


def _accepted(standing: Sequence[Subscription], some: Sequence[Event]) -> list[bool]:
    from fyke.cli.reading.subscriptions import engine_for
    from fyke.matching.matcher import Matcher

    matcher = Matcher(engine_for(len(standing)))
    matcher.add_many((each.id, each.filter) for each in standing)
    return [bool(matcher.match(event)) for event in some]


def _blamed(summary: Summary, wrong: Sequence[Event]) -> list[dict[str, object]]:
    """Return the rows that events satisfy which nobody wants, those of most events first."""
    from collections import Counter

    from fyke.summaries.description import piece_text
    from fyke.summaries.search import Search

    search = Search(summary.table, summary.schema)
    hits: Counter[int] = Counter()
    for event in wrong:
        hits.update(set(search.satisfied(event)))
    found, first = [], 0
    for (key, _), rows in zip(summary.table.axes, summary.table.rows, strict=True):
        pieces = rows.pieces()
        for at, piece in enumerate(pieces):
            if hits[first + at]:
                found.append((hits[first + at], key, piece_text(piece, rows)))
        first += len(rows)
    found.sort(key=lambda each: (-each[0], each[1:]))
    return [
        {"attribute": key, "row": text, "events": count} for count, key, text in found[:ROWS_SHOWN]
    ]


# --- for people -----------------------------------------------------------------------------------


def _report(summary: Summary, facts: dict[str, object]) -> None:
    from fyke.sizes import written_size

    screen = console()
    sizes = [int(str(facts[key])) for key in ("bytes", "text_bytes", "compressed_bytes")]
    labels = (f"summary, {summary.mode}", "subscriptions as text", "text compressed (zlib)")
    table = [heading("what", "bytes", "of the text")]
    for label, size in zip(labels, sizes, strict=True):
        share = f"{size / max(sizes[1], 1):.1%}"
        table.append([Text(label), Text(written_size(size)), Text(share)])
    show_rows(screen, table, right=[1])
    screen.print()
    counts = facts["rows"]
    assert isinstance(counts, dict)
    rows = [[Text(f"{count:,}"), Text(printable(key))] for key, count in counts.items()]
    show_rows(screen, [heading("rows", "attribute"), *rows], right=[0])
    screen.print()
    if summary.always:
        ids = ", ".join(name(id, screen) for id in summary.always[:ROWS_SHOWN])
        screen.print(f"always let through, for they constrain no attribute: {ids}")
    if "events" in facts:
        screen.print(
            f"{facts['passing']:.1%} of {counted(int(str(facts['events'])), 'event')} pass, "
            f"{facts['matching']:.1%} match"
        )
        _show_blamed(screen, facts["most_let_through"])
    screen.print(counted(int(str(facts["subscriptions"])), "subscription"))


def _show_blamed(screen: object, blamed: object) -> None:
    assert isinstance(blamed, list)
    if not blamed:
        return
    rows = [
        [Text(str(each["events"])), Text(each["attribute"]), Text(each["row"])] for each in blamed
    ]
    show_rows(screen, [heading("let through", "attribute", "row"), *rows], right=[0])  # type: ignore[arg-type]
