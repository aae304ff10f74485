"""`fyke match`: a grep for events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from cyclopts import App, Parameter

from fyke.cli.options import OR_STANDARD_INPUT, Dialect, SchemaFile, Switch, Timestamps
from fyke.cli.reading.declared import Declared, read_declared
from fyke.cli.reading.event_files import event_blocks, events_in, named
from fyke.cli.reading.inputs import STANDARD_INPUT, Source, typed
from fyke.cli.reading.standing import SigmaReader, Standing, read_argument, read_standing
from fyke.cli.reading.subscriptions import engine_for
from fyke.cli.writing.output import flush_lines, write_bytes, write_line
from fyke.cli.writing.picture import Line, Picture
from fyke.cli.writing.problems import Problems, Unusable
from fyke.errors import FykeError, shown
from fyke.filters.remarks import remarks
from fyke.matching.engines.registry import ENGINES
from fyke.matching.lines import LENGTH_MAX, LineBlock
from fyke.matching.matcher import Matcher

app = App(
    name="match",
    help_epilogue="""\
Examples
  fyke match -s subscriptions.jsonl events.jsonl
  fyke match -e "symbol = 'OTE' and price < 10" events.jsonl
  fyke match -e 'price < 10' --count < events.jsonl
  tail -f events.jsonl | fyke match -s subscriptions.jsonl --explain
  fyke match -s patterns.jsonl --dialect eventbridge events.jsonl
  fyke match -s rules/ --logsource --format '{level} {title}: {Image}' 'logs/*.gz'
  fyke match -e @rule.yml --events -m 10 events.jsonl
  fyke match -s rules/ --mapping names.yml --values admins.yml --logsource log.zst

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
    events_files: Annotated[
        tuple[str, ...], Parameter(name="EVENTS", show_default=False), OR_STANDARD_INPUT
    ] = (STANDARD_INPUT,),
    /,
    *,
    subscriptions: Annotated[
        tuple[str, ...] | None,
        Parameter(alias="-s", metavar="FILE", negative=()),
        OR_STANDARD_INPUT,
    ] = None,
    filter: Annotated[
        tuple[str, ...] | None,
        Parameter(alias="-e", metavar="TEXT", allow_leading_hyphen=True, negative=()),
    ] = None,
    dialect: Dialect = "fyke",
    logsource: Switch = False,
    values: Annotated[str | None, Parameter(metavar="FILE")] = None,
    mapping: Annotated[str | None, Parameter(metavar="FILE")] = None,
    schema: SchemaFile = None,
    timestamps: Timestamps = None,
    count: Annotated[bool, Parameter(alias="-c", negative=(), show_default=False)] = False,
    events: Switch = False,
    format: Annotated[str | None, Parameter(metavar="TEXT", allow_leading_hyphen=True)] = None,
    explain: Switch = False,
    invert: Annotated[bool, Parameter(alias="-v", negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(alias="-q", negative=(), show_default=False)] = False,
    max_count: Annotated[int | None, Parameter(alias="-m", metavar="N")] = None,
    engine: Annotated[
        str | None, Parameter(metavar="NAME", choices=tuple(ENGINES), show_default=False)
    ] = None,
) -> int:
    """Which subscriptions accept which events: a grep for events.

    Parameters
    ----------
    events_files
        Events, a JSON object a line, or a JSON array; - is standard input. Files may be compressed
        (.gz, .bz2, .zst) and named by patterns such as 'logs/**/*.jsonl'.
    subscriptions
        Subscriptions, a line each: {"id", "filter", "dialect"?}; or a rule (.yml of Sigma, .json of
        EventBridge), a folder of rules, or a pattern of names. May be repeated.
    filter
        A filter given here instead; its text is its id. @FILE names a file. May be repeated.
    dialect
        The language of filters that name none.
    logsource
        Sigma's rules apply only to events of their log source: product, category, service.
    values
        The values of Sigma's placeholders, in YAML or JSON: {"Admins": ["root", "adm*"]}.
    mapping
        What fields and log sources of Sigma's rules are called in the events, in YAML or JSON.
    schema
        A schema in JSON; events that do not fit it are reported.
    timestamps
        Attributes whose text is read as a timestamp.
    count
        Print only how many events matched.
    events
        Print the events that matched, as they came.
    format
        Print a line for each match; {id}, {title}, {level}, {tags}, {file}, {event} are what is
        known of it, any other name in braces is an attribute of the event.
    explain
        Add, for each match, the clauses that held and what they saw.
    invert
        The events that no subscription accepts.
    quiet
        Print nothing; stop at the first match.
    max_count
        Stop reading a file after so many events that matched.
    engine
        How the search is done; all find the same. By default few subscriptions are scanned and
        many are compiled.
    """
    _check_options(events_files, subscriptions, filter)
    picture = Picture.chosen(
        count=count, events=events, format=format, explain=explain, quiet=quiet, invert=invert
    )
    if max_count is not None and max_count < 1:
        raise Unusable(f"--max-count is {max_count}; expected 1 or more")
    problems = Problems()
    declared = read_declared(schema, timestamps)
    sigma = SigmaReader.chosen(logsource, values, mapping)
    standing = (
        _typed_subscriptions(filter or (), dialect, declared, sigma)
        if subscriptions is None
        else read_standing(subscriptions, dialect, problems, declared, sigma=sigma)
    )
    for each in standing:
        for remark in remarks(each.filter, declared.schema):
            problems.remark(f"subscription {shown(each.id)}", remark)
    search = _Search.over(standing, engine or engine_for(len(standing)), declared)
    files = list(named(events_files))
    picture.prepare(standing, declared, len(files) > 1)
    found = 0
    for path in files:
        with events_in(path) as source:
            found += _search_file(source, search, picture, problems, invert, max_count)
        if quiet and found:
            break
    if count:
        write_line(found)
    problems.conclude()
    if quiet and found:
        return 0
    return 2 if problems.count else 0 if found else 1


def _search_file(
    source: Source,
    search: _Search,
    picture: Picture,
    problems: Problems,
    invert: bool,
    most: int | None,
) -> int:
    """Show the events that are found; return how many they are."""
    found = 0
    for block in event_blocks(source):
        for answer in search.answers(block, every=invert):
            if answer.refused is not None:
                flush_lines()
                problems.report(f"{source.name}:{answer.number + 1}", answer.refused)
            elif bool(answer.ids) is not invert:
                found += 1
                line = Line(source.name, answer.number, answer.text, answer.ids)
                for written in picture.of(line):
                    write_bytes(written)
                if picture.is_quiet or found == most:
                    flush_lines()
                    return found
        flush_lines()
    return found


class _Answer(NamedTuple):
    """The answer to a line: the ids that match its event, or why it is none."""

    number: int
    text: bytes
    ids: list[str]
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class _Search:
    """Subscriptions in a matcher, and how an event is read for it."""

    matcher: Matcher
    declared: Declared
    by_blocks: bool
    places: dict[str, int]
    """By id, the place in the order of subscriptions."""

    @classmethod
    def over(cls, standing: Sequence[Standing], engine: str, declared: Declared) -> _Search:
        is_timed = declared.schema is None and declared.times.timestamps
        matcher = Matcher(engine, schema=declared.times if is_timed else None)
        matcher.add_many((each.id, each.filter) for each in standing)
        places = {each.id: place for place, each in enumerate(standing)}
        return cls(matcher, declared, engine == "compiled" and declared.schema is None, places)

    def answers(self, block: LineBlock, *, every: bool) -> Iterator[_Answer]:
        """Yield what lines came to, in their order; blank ones have no answer.

        Unless `every` line is asked for, one without a match may have none.
        """
        if block.lines is None:
            problem = f"the line is longer than {LENGTH_MAX} bytes"
            yield _Answer(block.first, b"", [], problem)
        elif self.by_blocks:
            yield from self._together(block.first, block.lines, every)
        else:
            for place, text in enumerate(block.lines):
                if text.strip(b" \t\r\n"):
                    yield self._alone(block.first + place, text)

    def _alone(self, number: int, text: bytes) -> _Answer:
        try:
            if self.declared.schema is None:
                return _Answer(number, text, self.matcher.match_json(text))
            return _Answer(number, text, self.matcher.match(self.declared.decode(text)))
        except FykeError as refused:
            return _Answer(number, text, [], str(refused))

    def _together(self, first: int, texts: list[bytes], every: bool) -> Iterator[_Answer]:
        found = self.matcher.match_lines(texts, first)
        refused = dict(found.refused)
        ids: dict[int, list[str]] = {}
        table = found.table.to_pydict()
        for number, id in zip(table["event"], table["subscription"], strict=True):
            ids.setdefault(number, []).append(id)
        numbers = range(first, first + len(texts)) if every else sorted({*ids, *refused})
        for number in numbers:
            text = texts[number - first]
            if text.strip(b" \t\r\n"):
                ordered = sorted(ids.get(number, ()), key=self.places.__getitem__)
                yield _Answer(number, text, ordered, refused.get(number))


def _check_options(
    events_files: tuple[str, ...],
    subscriptions: tuple[str, ...] | None,
    filter: tuple[str, ...] | None,
) -> None:
    if (not subscriptions) == (not filter):
        raise Unusable("give the subscriptions either with -s FILE or with -e FILTER")
    if STANDARD_INPUT in (subscriptions or ()) and STANDARD_INPUT in events_files:
        raise Unusable("subscriptions and events cannot both come from standard input")


def _typed_subscriptions(
    texts: Iterable[str], dialect: str, declared: Declared, sigma: SigmaReader
) -> list[Standing]:
    distinct = dict.fromkeys(map(typed, texts))
    try:
        return [read_argument(text, dialect, declared, sigma) for text in distinct]
    except Unusable:
        raise
    except FykeError as refused:
        raise Unusable(f"filter: {refused}") from None
