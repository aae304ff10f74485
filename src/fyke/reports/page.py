"""The page: one HTML file with nothing outside it. Images lie in it as data.

    document("Results", "of a run", [fact(1_000, "events")], [section("Load", "It grows.", ...)])

All texts are escaped here; parts that are HTML already come from the functions of this module.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template


def document(title: str, subtitle: str, facts: Iterable[str], parts: Iterable[str]) -> str:
    """Return a whole page: its facts in a row, then its parts."""
    template = (files("fyke.reports") / "page.html").read_text("utf-8")
    return Template(template).substitute(
        title=escape(title),
        subtitle=escape(subtitle),
        facts="\n".join(facts),
        parts="\n".join(parts),
    )


def fact(number: int | str, note: str, css: str = "") -> str:
    """Return a number in large print with a note below."""
    shown = number if isinstance(number, str) else f"{number:,}"
    return f"<div><b{_class(css)}>{escape(shown)}</b><span>{escape(note)}</span></div>"


def section(title: str, note: str, *inside: str, id: str = "") -> str:
    """Return a box with a title, and a note below it unless that is empty."""
    name = f' id="{escape(id)}"' if id else ""
    text = f"<p>{escape(note)}</p>" if note else ""
    return f"<section{name}><h2>{escape(title)}</h2>{text}{''.join(inside)}</section>"


def side_by_side(sections: Iterable[str]) -> str:
    """Return sections in as many columns as the window has room for."""
    return '<div class="beside">\n' + "\n".join(sections) + "\n</div>"


def picture(title: str, image: str | bytes) -> str:
    """Return an image: SVG as text, PNG as bytes."""
    kind, data = ("png", image) if isinstance(image, bytes) else ("svg+xml", image.encode())
    source = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return f'<img alt="{escape(title)}" src="{source}">'


def table(heads: Sequence[str], rows: Iterable[str], numbers: Iterable[int] = ()) -> str:
    """Return a table of rows; `numbers` are the columns whose heads stand to the right."""
    right = set(numbers)
    shown = "".join(
        f"<th{_class('number' if at in right else '')}>{escape(head)}</th>"
        for at, head in enumerate(heads)
    )
    lines = "\n".join(rows)
    return f"<table><tr>{shown}</tr>\n{lines}</table>"


def row(*cells: str) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def cell(text: str, css: str = "") -> str:
    """Return a cell of a table; `css` is one of the classes of the page."""
    return f"<td{_class(css)}>{escape(text)}</td>"


def code(text: str) -> str:
    """Return a cell with code."""
    return f"<td><code>{escape(text)}</code></td>"


def number(value: int) -> str:
    """Return a cell with a number."""
    return cell(f"{value:,}", "number")


def _class(css: str) -> str:
    return f' class="{css}"' if css else ""
