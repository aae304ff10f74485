"""`fyke explain`: a filter's tree with a verdict and the values seen at every leaf."""

from __future__ import annotations

from typing import Annotated, Final

from cyclopts import App, Parameter

from fyke.cli.options import OR_STANDARD_INPUT, Dialect, SchemaFile, Switch, Timestamps
from fyke.cli.reading.declared import Declared, read_declared
from fyke.cli.reading.inputs import text_argument
from fyke.cli.writing.output import console, write_line
from fyke.cli.writing.problems import Unusable
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.filters.explanation import Explanation
from fyke.filters.explanation import explain as explained
from fyke.filters.filter import And, Filter, Not, Or

_OPERATORS: Final[dict[type[Filter], str]] = {And: "and", Or: "or", Not: "not"}

app = App(
    name="explain",
    help_epilogue="""\
Examples
  fyke explain "price < 10 and symbol = 'A'" '{"price": 8.4}'
  fyke explain 'not (price < 10)' @event.json
  head -1 events.jsonl | fyke explain @rule.yml - --dialect sigma
  fyke explain 'exists a.b' '{"a": {"b": null}}' --json

Exit code: 0 accepted, 1 refused, 2 the filter or the event was not readable.
""",
)


@app.default
def explain(
    filter_text: Annotated[str, Parameter(name="FILTER")],
    event_text: Annotated[str, Parameter(name="EVENT"), OR_STANDARD_INPUT],
    /,
    *,
    dialect: Dialect = "fyke",
    schema: SchemaFile = None,
    timestamps: Timestamps = None,
    json: Switch = False,
) -> int:
    """Why a filter accepts or refuses an event.

    Parameters
    ----------
    filter_text
        The filter, or @FILE that holds it.
    event_text
        The event in JSON, or @FILE that holds it, or - for standard input.
    dialect
        The language of the filter.
    schema
        A schema in JSON that the event must fit.
    timestamps
        Attributes whose text is read as a timestamp.
    json
        Print the tree as JSON.
    """
    declared = read_declared(schema, timestamps)
    filter = _filter(filter_text, dialect, declared)
    explanation = explained(filter, _event(event_text, declared))
    if json:
        write_line(
            {"accepted": explanation.holds, "filter": str(filter), "tree": _document(explanation)}
        )
    else:
        _show(explanation, compiled=dialect != "fyke")
    return 0 if explanation.holds else 1


def _filter(argument: str, dialect: str, declared: Declared) -> Filter:
    text, name = text_argument(argument)
    try:
        return declared.filter(text, dialect)
    except FykeError as refused:
        raise Unusable(f"{name or 'filter'}: {refused}") from None


def _event(argument: str, declared: Declared) -> Event:
    text, name = text_argument(argument, dash=True)
    try:
        return declared.decode(text)
    except FykeError as refused:
        raise Unusable(f"{name or 'event'}: {refused}") from None


def _document(node: Explanation) -> dict[str, object]:
    """Return a document: a leaf with its text and what it saw, an operator with its children."""
    operator = _OPERATORS.get(type(node.filter))
    if operator is not None:
        children = [_document(child) for child in node.children]
        return {"holds": node.holds, "operator": operator, "children": children}
    return {
        "holds": node.holds,
        "filter": str(node.filter),
        "seen": node.seen,
        "absent": list(node.absent),
    }


def _show(explanation: Explanation, compiled: bool) -> None:
    from fyke.cli.writing.tree import show_tree

    screen = console()
    if compiled:
        from rich.text import Text

        from fyke.errors import printable

        screen.print(Text(f"in fyke's own language: {printable(str(explanation.filter))}", "dim"))
    show_tree(explanation, screen)
