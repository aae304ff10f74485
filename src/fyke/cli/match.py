"""`fyke match`: a grep for events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import App, Parameter

from fyke.cli.declared import Declared, read_declared
from fyke.cli.inputs import STANDARD_INPUT, Source, opened, typed
from fyke.cli.lines import events
from fyke.cli.options import (
    OR_STANDARD_INPUT,
    Dialect,
    SchemaFile,
    SubscriptionsFile,
    Switch,
    Timestamps,
)
from fyke.cli.output import write_line
from fyke.cli.problems import Problems, Unusable
from fyke.cli.progress import reading
from fyke.cli.reasons import reasons
from fyke.cli.subscriptions import engine_for, read_subscriptions
from fyke.errors import FykeError, shown
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.remarks import remarks
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import ENGINES, Matcher

app = App(
    name="match",
    help_epilogue="""\
Examples
  fyke match -s subscriptions.jsonl events.jsonl
  fyke match -e "symbol = 'OTE' and price < 10" events.jsonl
  fyke match -e 'price < 10' --count < events.jsonl
  tail -f events.jsonl | fyke match -s subscriptions.jsonl --explain
  fyke match -s patterns.jsonl --dialect eventbridge events.jsonl

A line of subscriptions.jsonl
  {"id": "alice", "filter": "price < 10 and symbol starts with 'OT'"}
  {"id": "bob", "filter": "price < 10", "dialect": "cesql"}

Out, a line per event that matched; event is the number of its line, from 0
  {"event":0,"matches":["alice","bob"]}

Exit code: 0 something matched, 1 nothing matched, 2 something was not readable.
""",
)


@app.default
def match(
    events_file: Annotated[
        str, Parameter(name="EVENTS", show_default=False), OR_STANDARD_INPUT
    ] = STANDARD_INPUT,
    /,
    *,
    subscriptions: SubscriptionsFile = None,
    filter: Annotated[
        tuple[str, ...] | None,
        Parameter(alias="-e", metavar="TEXT", allow_leading_hyphen=True, negative=()),
    ] = None,
    dialect: Dialect = "fyke",
    schema: SchemaFile = None,
    timestamps: Timestamps = None,
    count: Annotated[bool, Parameter(alias="-c", negative=(), show_default=False)] = False,
    explain: Switch = False,
    engine: Annotated[
        str | None, Parameter(metavar="NAME", choices=tuple(ENGINES), show_default=False)
    ] = None,
) -> int:
    """Which subscriptions accept which events: a grep for events.

    Parameters
    ----------
    events_file
        Events, a JSON object a line; - is standard input.
    subscriptions
        Subscriptions, a line each: {"id", "filter", "dialect"?}.
    filter
        A filter given here instead; its text is its id. May be repeated.
    dialect
        The language of filters that name none.
    schema
        A schema in JSON; events that do not fit it are reported.
    timestamps
        Attributes whose text is read as a timestamp.
    count
        Print only how many events matched.
    explain
        Add, for each match, the clauses that held and what they saw.
    engine
        How the search is done; all find the same. By default few subscriptions are scanned and
        many are compiled.
    """
    _check_options(events_file, subscriptions, filter, count, explain)
    problems = Problems()
    declared = read_declared(schema, timestamps)
    standing = (
        _typed_subscriptions(filter or (), dialect, declared)
        if subscriptions is None
        else read_subscriptions(subscriptions, dialect, problems, declared)
    )
    for each in standing:
        for remark in remarks(each.filter, declared.schema):
            problems.remark(f"subscription {shown(each.id)}", remark)
    with opened(events_file) as source, reading(source):
        found = 0
        matcher = Matcher(engine or engine_for(len(standing)))
        for line in _matches(source, matcher, standing, declared, problems, explain):
            found += 1
            if not count:
                write_line(line)
    if count:
        write_line(found)
    problems.conclude()
    return 2 if problems.count else 0 if found else 1


def _check_options(
    events_file: str,
    subscriptions: str | None,
    filter: tuple[str, ...] | None,
    count: bool,
    explain: bool,
) -> None:
    if (subscriptions is None) == (not filter):
        raise Unusable("give the subscriptions either with -s FILE or with -e FILTER")
    if subscriptions == events_file == STANDARD_INPUT:
        raise Unusable("subscriptions and events cannot both come from standard input")
    if count and explain:
        raise Unusable("--count prints no matches that --explain could explain; drop one of them")


def _typed_subscriptions(
    texts: Iterable[str], dialect: str, declared: Declared
) -> list[Subscription]:
    distinct = dict.fromkeys(map(typed, texts))
    return [_typed_subscription(text, dialect, declared) for text in distinct]


def _typed_subscription(text: str, dialect: str, declared: Declared) -> Subscription:
    try:
        return Subscription(text, declared.filter(text, dialect))
    except FykeError as refused:
        raise Unusable(f"filter: {refused}") from None


def _matches(
    source: Source,
    matcher: Matcher,
    subscriptions: Iterable[Subscription],
    declared: Declared,
    problems: Problems,
    explained: bool,
) -> Iterator[dict[str, object]]:
    """A document per event that some subscription accepts."""
    filters = {each.id: each.filter for each in subscriptions}
    matcher.add_many(filters.items())
    for number, event in events(source, problems, declared):
        ids = matcher.match(event)
        if ids and explained:
            yield {"event": number, "matches": ids, "explain": _explained(ids, filters, event)}
        elif ids:
            yield {"event": number, "matches": ids}


def _explained(ids: Iterable[str], filters: dict[str, Filter], event: Event) -> dict[str, object]:
    return {id: reasons(filters[id], event) for id in ids}
