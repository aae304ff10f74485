"""A page holds what it is given, escaped, and nothing from outside; equal plots, equal bytes."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fyke.reports.look import canvas, png, svg
from fyke.reports.page import (
    cell,
    code,
    document,
    fact,
    number,
    picture,
    row,
    section,
    side_by_side,
    table,
)

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1)


class Texts(HTMLParser):
    """Collect the texts of a page, and the names of its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.names: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def page(text: str) -> str:
    parts = [
        section(text, text, table([text], [row(cell(text), code(text), number(1_000))]), id=text),
        side_by_side([section(text, "", picture(text, "<svg/>"))]),
    ]
    return document(text, text, [fact(text, text), fact(1_000, text)], parts)


@given(TEXTS)
@example("<b>&amp;\"' onload=")
def test_any_text_stays_text(text):
    found = Texts(page(text))
    assert found.names == Texts(page("x")).names
    # title, heading, subtitle, two facts (three texts), two sections (three), three cells
    assert [each.strip() for each in found.texts].count(text.strip()) >= 11


def test_nothing_comes_from_outside():
    made = page("x")
    assert set(re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', made)) == set()
    assert "url(" not in made and "<script" not in made


@pytest.mark.parametrize("draw", [svg, png])
def test_equal_plots_are_equal_bytes_and_lie_in_the_page(draw):
    def drawn(*values: float) -> str | bytes:
        with canvas((2, 1)) as (figure, (axes,)):
            axes.plot(values)
            axes.set_title("\U0001f600 $x^2$")  # no formula, and a glyph that no font has
            return draw(figure)

    image = drawn(1, 2)
    assert image == drawn(1, 2) and image != drawn(2, 1)
    shown = picture("t", image)
    data = b64decode(re.search('base64,([^"]*)', shown)[1])
    assert data == (image if isinstance(image, bytes) else image.encode())
    assert ("image/png" if draw is png else "image/svg+xml") in shown


def test_a_canvas_has_its_axes_line_by_line():
    with canvas((2, 2), 2, 3) as (_, grid):
        assert len(grid) == 6
        assert grid[0].get_subplotspec().colspan.start == 0
        assert grid[4].get_subplotspec().rowspan.start == 1
