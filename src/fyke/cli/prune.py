"""`fyke prune`: a smaller set of subscriptions that covers the original one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias
from warnings import catch_warnings

from cyclopts import App, Parameter
from cyclopts.validators import Number
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
from fyke.cli.reading.subscriptions import engine_for
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted, name, write_line, write_whole
from fyke.cli.writing.problems import Unusable, complain
from fyke.cli.writing.progress import working
from fyke.errors import BudgetWarning, FykeError, printable
from fyke.events.event import Event
from fyke.events.json import encode
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.sizes import read_size, written_size

if TYPE_CHECKING:
    from rich.console import Console

    from fyke.pruning.conditions import Idle
    from fyke.pruning.plan import PruningPlan

Order: TypeAlias = Literal["accuracy", "bytes"]

EVENTS_MAX: Final = 1_000_000
SHOWN: Final = 10

app = App(
    name="prune",
    help_epilogue="""\
Examples
  fyke prune rules.jsonl --sample events.jsonl
  fyke prune rules.jsonl --sample events.jsonl --budget 40% --out pruned.jsonl
  fyke prune rules.jsonl --sample events.jsonl --budget 64MB --plot curve.png
  fyke prune rules.jsonl --sample events.jsonl --explain rule-7
  fyke prune rules.jsonl --dialect sigma --sample events.jsonl --report

A pruned subscription accepts all that it accepted before, and more. Half of the
sample says how often conditions hold, the other half, which was held out, how
many events more match. Without a sample both are guesses.

Budgets
  bend      where pruning turns from cheap to dear (the default)
  40%       so many of the predicates are left
  64MB      a snapshot of the set takes so many bytes, measured
  +10%      so many more events may match at least one subscription

The report looks for conditions that make no difference on the sample:
  never holds     no event satisfies it: a field that your events do not have?
  always holds    every event satisfies it
  never decides   whatever satisfies the rest of the rule satisfies it too

Exit code: 0 done, 1 the budget cannot be met (what can be pruned is),
2 something was not readable.
""",
)


@app.default
def prune(
    file: RulesFile,
    /,
    *,
    sample: EventsFile = None,
    budget: Annotated[str, Parameter(metavar="BUDGET")] = "bend",
    out: OutFile = None,
    plot: OutFile = None,
    report: Switch = False,
    explain: Annotated[str | None, Parameter(metavar="ID")] = None,
    order: Annotated[Order, Parameter(metavar="NAME")] = "accuracy",
    allow_all: Switch = False,
    dialect: Dialect = "fyke",
    schema: SchemaFile = None,
    timestamps: Timestamps = None,
    events_max: Annotated[int, Parameter(metavar="N", validator=Number(gte=2))] = EVENTS_MAX,
    json: Switch = False,
) -> int:
    """A smaller set of subscriptions that covers the original one.

    Parameters
    ----------
    file
        Subscriptions, a line each: {"id", "filter", "dialect"?}; or a rule or a folder of rules, as
        `fyke match` takes them; - is standard input.
    sample
        Some events, a JSON object a line.
    budget
        How far to prune: bend, 40%, 64MB or +10%.
    out
        File for the pruned subscriptions, a line each, in the native language.
    plot
        File for a picture of the curve, with the bend.
    report
        Show the conditions that make no difference on the sample; prune nothing.
    explain
        Show what is dropped of one subscription, step by step.
    order
        accuracy: the fewest extra matches first; bytes: most bytes for an extra match first.
    allow_all
        Let a subscription come to accept all events of the sample.
    dialect
        The language of filters that name none.
    schema
        A schema in JSON.
    timestamps
        Attributes whose text is read as a timestamp.
    events_max
        Events of the sample that are read.
    json
        Print JSON instead of text.
    """
    rules = RuleSet.read(file, dialect, schema, timestamps, sample, events_max)
    standing, seen = rules.subscriptions, rules.events
    matcher = _matcher(standing, is_measured=_is_size(budget))
    screen = console()
    if report:
        if not seen:
            raise Unusable("--report needs events: name a file with --sample")
        _show_idle(matcher, seen, json, screen)
        return rules.exit_code()
    with working(f"planning {len(standing):,} subscriptions"):
        plan = _plan(matcher, seen, order, allow_all)
        pruned, steps, complaint = _at(plan, budget)
    filters = dict(pruned.items())
    if out is not None:
        write_whole(out, "".join(_line(each, filters) for each in standing).encode())
    if plot is not None:
        from fyke.pruning.plot import draw_curve

        write_whole(plot, draw_curve(plan.curve, steps, counted(len(standing), "subscription")))
    if json:
        write_line(_document(plan, steps, matcher, pruned))
    else:
        _show(plan, steps, matcher, pruned, screen, explain)
    for sentence in (*plan.notes, *complaint):
        complain(sentence)
    return rules.exit_code(1 if complaint else 0)


# --- in -------------------------------------------------------------------------------------------


def _matcher(standing: Sequence[Subscription], is_measured: bool) -> Matcher:
    matcher = Matcher("compiled" if is_measured else engine_for(len(standing)))
    matcher.add_many((each.id, each.filter) for each in standing)
    return matcher


def _plan(matcher: Matcher, seen: list[Event], order: Order, allow_all: bool) -> PruningPlan:
    """Count half of the events, and measure on the other half."""
    from fyke.pruning import PredicateStatistics
    from fyke.pruning import prune as planned
    from fyke.pruning.predicate_statistics import leaves_of

    if not seen:
        return planned(matcher, order=order, allow_all=allow_all)
    leaves = leaves_of(filter for _, filter in matcher.items())
    statistics = PredicateStatistics.of(seen[::2], leaves)
    held_out = seen[1::2] or seen
    return planned(
        *(matcher, held_out),
        statistics=statistics,
        order=order,
        allow_all=allow_all,
    )


def _is_size(budget: str) -> bool:
    try:
        return read_size(budget, needs_unit=True) >= 0
    except FykeError:
        return False


def _at(plan: PruningPlan, budget: str) -> tuple[Matcher, int, list[str]]:
    """Return the pruned set, about how many steps it took, and why the budget is not met."""
    with catch_warnings(record=True, action="always") as caught:
        if _is_size(budget):
            pruned = plan.at(size=budget)
            left = sum(len(each) for each in _leaves(pruned))
            steps = next(p.steps for p in plan.curve if p.predicates <= left)
        else:
            steps = plan.steps_for(budget)
            pruned = plan.at(steps=steps)
    return pruned, steps, [str(each.message) for each in caught if each.category is BudgetWarning]


def _leaves(matcher: Matcher) -> Iterator[list[object]]:
    from fyke.pruning.shape import read

    return ([*read(filter)[1]] for _, filter in matcher.items())


# --- out ------------------------------------------------------------------------------------------


def _line(subscription: Subscription, filters: Mapping[str, object]) -> str:
    document: dict[str, object] = {"id": subscription.id, "filter": str(filters[subscription.id])}
    if subscription.subscriber is not None:
        document["subscriber"] = subscription.subscriber
    return encode(document) + "\n"


def _document(
    plan: PruningPlan, steps: int, matcher: Matcher, pruned: Matcher
) -> dict[str, object]:
    return {
        "subscriptions": len(matcher),
        "steps": steps,
        "possible": len(plan),
        "bend": plan.curve.bend(),
        "before": _facts(plan, 0, matcher),
        "after": _facts(plan, steps, pruned),
        "notes": list(plan.notes),
    }


def _facts(plan: PruningPlan, steps: int, matcher: Matcher) -> dict[str, object]:
    point = plan.curve[steps]
    return {
        "predicates": point.predicates,
        "bytes": sum(matcher.sizes().values()),
        "expected_matches": round(float(plan.curve.expected_matches[steps]), 6),
        "matches": None if point.measured is None else round(point.matches, 6),
        "matched": None if point.measured is None else round(point.measured, 6),
    }


def _show(
    plan: PruningPlan,
    steps: int,
    matcher: Matcher,
    pruned: Matcher,
    screen: Console,
    id: str | None,
) -> None:
    before, after = _facts(plan, 0, matcher), _facts(plan, steps, pruned)
    labels = {
        "predicates": "predicates",
        "bytes": "bytes of a snapshot",
        "expected_matches": "matches per event, expected",
        "matches": "matches per event, held out",
        "matched": "events that match, held out",
    }
    rows = [heading("", "before", "after", "")]
    for key, label in labels.items():
        if before[key] is not None:
            cells = (_cell(key, before[key]), _cell(key, after[key]), _change(before, after, key))
            rows.append([Text(label), *map(Text, cells)])
    show_rows(screen, rows, right=[1, 2])
    screen.print(
        f"\n{steps:,} of {counted(len(plan), 'possible pruning')}; the bend is at"
        f" {plan.curve.bend():,}"
    )
    if id is not None:
        _show_path(plan, id, screen)
        return
    _show_dropped(plan, steps, screen)


def _cell(key: str, value: object) -> str:
    number = float(value)  # type: ignore[arg-type]
    if key == "bytes":
        return written_size(number)
    return f"{number:,.0f}" if key == "predicates" else f"{number:.4g}"


def _change(before: dict[str, object], after: dict[str, object], key: str) -> str:
    old, new = float(before[key]), float(after[key])  # type: ignore[arg-type]
    return f"{new / old - 1:+.1%}" if old else ""


def _show_dropped(plan: PruningPlan, steps: int, screen: Console) -> None:
    """Print the conditions that were dropped most often, and what that lets in."""
    times: Counter[str] = Counter()
    let_in: Counter[str] = Counter()
    for drop in plan.drops(steps):
        times[str(drop.dropped)] += 1
        let_in[str(drop.dropped)] += drop.likely  # type: ignore[assignment]
    if not times:
        screen.print("nothing was dropped")
        return
    screen.print()
    rows = [heading("dropped", "lets in per event", "condition")]
    for text, count in times.most_common(SHOWN):
        rows.append([Text(f"{count:,} x"), Text(f"{let_in[text]:.3g}"), Text(printable(text))])
    show_rows(screen, rows, right=[0, 1])
    if len(times) > SHOWN:
        rest = counted(len(times) - SHOWN, "more condition")
        screen.print(f"and {rest}; --explain ID shows the steps of one subscription")


def _show_path(plan: PruningPlan, id: str, screen: Console) -> None:
    screen.print()
    for line in str(plan.explain(id)).splitlines():
        screen.print(printable(line), soft_wrap=True)


def _show_idle(matcher: Matcher, seen: list[Event], json: bool, screen: Console) -> None:
    from fyke.pruning.conditions import idle_conditions

    with working(f"looking at {len(matcher):,} subscriptions"):
        found = idle_conditions(matcher, seen)
    if json:
        for each in found:
            write_line(
                {
                    "difference": each.difference.value,
                    "condition": str(each.condition),
                    "subscriptions": list(each.subscriptions),
                }
            )
        return
    rows = [heading("condition that", "in", "first of them", "condition")]
    shown_of: Counter[str] = Counter()
    for each in found:
        shown_of[each.difference] += 1
        if shown_of[each.difference] <= SHOWN:
            rows.append(_idle_row(each, screen))
    show_rows(screen, rows, right=[1])
    totals = ", ".join(f"{number:,} {difference}" for difference, number in shown_of.items())
    screen.print(f"\n{counted(len(matcher), 'subscription')}, {counted(len(seen), 'event')}")
    screen.print(f"conditions that make no difference: {totals or 'none'}")


def _idle_row(idle: Idle, screen: Console) -> list[Text]:
    return [
        Text(idle.difference.value),
        Text(f"{len(idle.subscriptions):,}"),
        Text(name(idle.subscriptions[0], screen), "bold"),
        Text(printable(str(idle.condition)), "dim"),
    ]
