"""`fyke lint`: what is wrong, redundant or expensive in a set of subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.text import Text

from fyke.cli.inputs import read_schema
from fyke.cli.listing import heading, show_rows
from fyke.cli.options import OR_STANDARD_INPUT, Dialect, SchemaFile, SubscriptionsFile, Switch
from fyke.cli.output import console, counted, name, write_line
from fyke.cli.problems import Problems, Unusable, complain, printable
from fyke.cli.progress import working
from fyke.cli.subscriptions import read_subscriptions
from fyke.filters.analysis import COVERING_TESTS_MAX, Analysis, Finding, Problem, analyse
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from rich.console import Console

EXPENSIVE_SHOWN: Final = 5

_ADVICE: Final = {
    Problem.NEVER_TRUE: "accepts no event: correct it or drop it",
    Problem.ALWAYS_TRUE: "accepts every event: is that meant?",
    Problem.DUPLICATE: "accepts the same events as another one",
    Problem.SUBSUMED: "another one accepts all it accepts",
    Problem.UNGUARDED: "tried on every event: add a condition that must hold",
}
_STYLES: Final = {
    Problem.NEVER_TRUE: "red",
    Problem.ALWAYS_TRUE: "red",
    Problem.DUPLICATE: "yellow",
    Problem.SUBSUMED: "yellow",
    Problem.UNGUARDED: "cyan",
}
_RELATIONS: Final = {Problem.DUPLICATE: "same as", Problem.SUBSUMED: "within"}

app = App(
    name="lint",
    help_epilogue="""\
Examples
  fyke lint subscriptions.jsonl
  fyke lint -s subscriptions.jsonl --schema schema.json
  fyke lint rules.jsonl --dialect sigma --json | jq -r .subscription

Findings
  never true    accepts no event: correct it or drop it
  always true   accepts every event
  duplicate     accepts the same events as another subscription
  subsumed      another subscription accepts all it accepts
  unguarded     has no condition that an index could use, as in `not a = 1`,
                so it is tried on every event: add a condition that must
                hold, such as `type is Stock and ...`

Every finding is proved. A schema lets more be proved: `price < 5 and price > 9`
accepts the list [1, 20], but nothing where the schema says price is one value.

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
    tests_max: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = COVERING_TESTS_MAX,
    json: Switch = False,
) -> int:
    """What is wrong, redundant or expensive in a set of subscriptions.

    Parameters
    ----------
    file
        Subscriptions, a line each: {"id", "filter", "dialect"?}; - is standard input.
    subscriptions
        The same file, as `fyke match` names it.
    dialect
        The language of filters that name none.
    schema
        A schema in JSON; more can be proved with one.
    tests_max
        Pairs of subscriptions that may be compared.
    json
        Print a JSON line per finding.
    """
    if (file is None) == (subscriptions is None):
        raise Unusable("name one file of subscriptions")
    problems = Problems()
    declared = read_schema(schema)
    standing = read_subscriptions(file or subscriptions or "", dialect, problems)
    with working(f"comparing {len(standing):,} subscriptions"):
        analysis = analyse(standing, schema=declared, covering_tests_max=tests_max)
    _report(analysis, standing, json)
    if not analysis.is_complete:
        complain(f"not all pairs were compared (--tests-max {tests_max}): there may be more")
    problems.conclude()
    return 2 if problems.count else 1 if analysis.findings else 0


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
    return {
        "problem": finding.problem.value,
        "subscription": finding.subscription,
        "other": finding.other,
        "filter": texts[finding.subscription],
    }


def _finding(finding: Finding, texts: dict[str, str], screen: Console) -> list[Text]:
    """`subsumed  s5  within s1  price < 5`."""
    problem, other = finding.problem, finding.other
    return [
        Text(problem.value, _STYLES[problem]),
        Text(name(finding.subscription, screen), "bold"),
        Text("" if other is None else f"{_RELATIONS[problem]} {name(other, screen)}"),
        Text(printable(texts[finding.subscription]), "dim"),
    ]


def _summary(findings: Sequence[Finding]) -> Iterator[list[Text]]:
    counts = Counter(finding.problem for finding in findings)
    yield heading("finding", "number", "what it means")
    for problem in Problem:
        if counts[problem]:
            label = Text(problem.value, _STYLES[problem])
            yield [label, Text(f"{counts[problem]:,}"), Text(_ADVICE[problem])]


def _expensive(analysis: Analysis, texts: dict[str, str], screen: Console) -> Iterator[list[Text]]:
    """Those that cost most, among those that may accept an event at all."""
    never = {each.subscription for each in analysis.findings if each.problem is Problem.NEVER_TRUE}
    costs = {id: cost for id, cost in analysis.costs.items() if id not in never}
    yield heading("most expensive", "cost", "filter")
    for id in sorted(costs, key=lambda id: -costs[id])[:EXPENSIVE_SHOWN]:
        cost = Text(f"{costs[id]:,.1f}")
        yield [Text(name(id, screen), "bold"), cost, Text(printable(texts[id]), "dim")]
