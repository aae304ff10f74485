"""`fyke lint`: what is wrong, redundant or expensive in a set of subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.text import Text

from fyke.cli.options import (
    OR_STANDARD_INPUT,
    Dialect,
    SchemaFile,
    SubscriptionsFile,
    Switch,
    Timestamps,
)
from fyke.cli.reading.declared import Declared, read_declared
from fyke.cli.reading.inputs import opened
from fyke.cli.reading.lines import events
from fyke.cli.reading.standing import read_standing
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted, name, write_line
from fyke.cli.writing.problems import Problems, Unusable, complain
from fyke.cli.writing.progress import counting, reading
from fyke.errors import printable
from fyke.filters.analysis import (
    COVERING_TESTS_MAX,
    Analysis,
    Finding,
    Problem,
    texts_for_times,
)
from fyke.filters.subscription import Subscription
from fyke.matching.linting import lint as linted

if TYPE_CHECKING:
    from rich.console import Console

EXPENSIVE_SHOWN: Final = 5

_ADVICE: Final = {
    Problem.NEVER_TRUE: "accepts no event: correct it or drop it",
    Problem.ALWAYS_TRUE: "accepts every event: is that meant?",
    Problem.DUPLICATE: "accepts the same events as another one",
    Problem.SUBSUMED: "another one accepts all it accepts",
    Problem.UNGUARDED: "tried on every event: add a condition that must hold",
    Problem.TEXT_FOR_TIME: "the sample holds text there: declare it, --timestamps NAME",
    Problem.QUOTED: "compares two attributes: a string is in single quotes",
    Problem.MISSPELT: "not declared, but one letter away from what is",
    Problem.LONG_NUMBER: "no float64 equals it: only a decimal does",
}
_STYLES: Final = {
    Problem.NEVER_TRUE: "red",
    Problem.ALWAYS_TRUE: "red",
    Problem.DUPLICATE: "yellow",
    Problem.SUBSUMED: "yellow",
    Problem.UNGUARDED: "cyan",
    Problem.TEXT_FOR_TIME: "red",
    Problem.QUOTED: "red",
    Problem.MISSPELT: "red",
    Problem.LONG_NUMBER: "yellow",
}
_RELATIONS: Final = {
    Problem.DUPLICATE: "same as",
    Problem.SUBSUMED: "within",
    Problem.TEXT_FOR_TIME: "at",
}

app = App(
    name="lint",
    help_epilogue="""\
Examples
  fyke lint subscriptions.jsonl
  fyke lint -s subscriptions.jsonl --schema schema.json
  fyke lint subscriptions.jsonl --types shop.events
  fyke lint subscriptions.jsonl --sample events.jsonl
  fyke lint rules.jsonl --dialect sigma --json | jq -r .subscription
  fyke lint sigma/rules

Findings
  never true    accepts no event: correct it or drop it
  always true   accepts every event
  duplicate     accepts the same events as another subscription
  subsumed      another subscription accepts all it accepts
  unguarded     has no condition that the index could use, as in `not a = 1`,
                or has too many alternatives on different attributes, so it
                is tried on every event: add a condition that must hold,
                such as `type is Stock and ...`
  text for time compares an attribute with a timestamp where the events of
                --sample hold text, which is never one: name the attribute
                with --timestamps, or declare it in a schema
  quoted name   `symbol = "A"` compares two attributes; the string is 'A'
  misspelt name is not declared by the schema, but one letter away from
                an attribute or a type that is
  long number   has more digits than any float64 stands for, so only a
                decimal can equal it: `0.10000000000000001` is not 0.1

Findings about names are guesses, all others are proved. A schema lets more be
proved: `price < 5 and price > 9` accepts the list [1, 20], but nothing where
the schema says price is one value.

The cost is a rank, not a time: an equality is 1, what is unguarded 100-fold.

Exit code: 0 no findings, 1 findings, 2 something was not readable.
""",
)


@app.default
def lint(
    file: Annotated[str | None, Parameter(name="SUBSCRIPTIONS"), OR_STANDARD_INPUT] = None,
    /,
    *,
    subscriptions: SubscriptionsFile = None,
    dialect: Dialect = "fyke",
    schema: SchemaFile = None,
    types: Annotated[str | None, Parameter(metavar="MODULE")] = None,
    timestamps: Timestamps = None,
    sample: Annotated[str | None, Parameter(metavar="EVENTS")] = None,
    tests_max: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = COVERING_TESTS_MAX,
    json: Switch = False,
) -> int:
    """What is wrong, redundant or expensive in a set of subscriptions.

    Parameters
    ----------
    file
        Subscriptions, a line each: {"id", "filter", "dialect"?}; or a rule (.yml of Sigma, .json of
        EventBridge), a folder of rules, or a pattern of names; - is standard input.
    subscriptions
        The same file, as `fyke match` names it.
    dialect
        The language of filters that name none.
    schema
        A schema in JSON; more can be proved with one.
    types
        A Python module with event classes (@fyke.event), in place of a schema.
    timestamps
        Attributes whose text is read as a timestamp.
    sample
        Some events, a JSON object a line: what they hold is compared with what filters ask.
    tests_max
        Pairs of subscriptions that may be compared.
    json
        Print a JSON line per finding.
    """
    if (file is None) == (subscriptions is None):
        raise Unusable("name one file of subscriptions")
    problems = Problems()
    declared = read_declared(schema, timestamps, types)
    read = read_standing([file or subscriptions or ""], dialect, problems, declared)
    standing = [each.subscription for each in read]
    analysis = linted(standing, schema=declared.whole, covering_tests_max=tests_max, track=counting)
    if sample is not None:
        misread = _texts_for_times(standing, sample, declared, problems)
        analysis = replace(analysis, findings=(*analysis.findings, *misread))
    _report(analysis, standing, json)
    if not analysis.is_complete:
        complain(f"not all pairs were compared (--tests-max {tests_max}): there may be more")
    problems.conclude()
    return 2 if problems.count else 1 if analysis.findings else 0


def _texts_for_times(
    subscriptions: Sequence[Subscription], sample: str, declared: Declared, problems: Problems
) -> list[Finding]:
    with opened(sample) as source, reading(source):
        seen = (event for _, event in events(source, problems, declared))
        return texts_for_times(subscriptions, seen)


def _report(analysis: Analysis, subscriptions: Sequence[Subscription], json: bool) -> None:
    texts = {each.id: str(each.filter) for each in subscriptions}
    if json:
        for finding in analysis.findings:
            write_line(_document(finding, texts))
        return
    screen = console()
    if analysis.findings:
        show_rows(screen, [_finding(each, texts, screen) for each in analysis.findings])
        screen.print()
        show_rows(screen, _summary(analysis.findings), right=[1])
        screen.print()
    show_rows(screen, _expensive(analysis, texts, screen), right=[1])
    screen.print()
    screen.print(
        f"{counted(len(texts), 'subscription')}, {counted(len(analysis.findings), 'finding')}"
    )


def _document(finding: Finding, texts: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = {
        "problem": finding.problem.value,
        "subscription": finding.subscription,
        "other": finding.other,
        "filter": texts[finding.subscription],
    }
    if finding.attribute is not None:
        found["attribute"] = finding.attribute
    if finding.meant is not None:
        found["meant"] = finding.meant
    return found


def _finding(finding: Finding, texts: dict[str, str], screen: Console) -> list[Text]:
    """Return the cells of a row such as `subsumed  s5  within s1  price < 5`."""
    problem, other = finding.problem, finding.other or finding.attribute
    return [
        Text(problem.value, _STYLES[problem]),
        Text(name(finding.subscription, screen), "bold"),
        Text(_offer(finding) if other is None else f"{_RELATIONS[problem]} {name(other, screen)}"),
        Text(printable(texts[finding.subscription]), "dim"),
    ]


def _offer(finding: Finding) -> str:
    return "" if finding.meant is None else f"meant {printable(finding.meant)}?"


def _summary(findings: Sequence[Finding]) -> Iterator[list[Text]]:
    counts = Counter(finding.problem for finding in findings)
    yield heading("finding", "number", "what it means")
    for problem in Problem:
        if counts[problem]:
            label = Text(problem.value, _STYLES[problem])
            yield [label, Text(f"{counts[problem]:,}"), Text(_ADVICE[problem])]


def _expensive(analysis: Analysis, texts: dict[str, str], screen: Console) -> Iterator[list[Text]]:
    """Yield a heading and the filters that cost most, of those that may accept an event at all."""
    never = {each.subscription for each in analysis.findings if each.problem is Problem.NEVER_TRUE}
    costs = {id: cost for id, cost in analysis.costs.items() if id not in never}
    yield heading("most expensive", "cost", "filter")
    for id in sorted(costs, key=lambda id: -costs[id])[:EXPENSIVE_SHOWN]:
        cost = Text(f"{costs[id]:,.1f}")
        yield [Text(name(id, screen), "bold"), cost, Text(printable(texts[id]), "dim")]
