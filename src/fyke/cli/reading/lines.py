"""JSON lines: one document a line, read one at a time, a bad line never hiding the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fyke.cli.reading.inputs import LENGTH_MAX, Source, opened, read_line
from fyke.cli.writing.problems import Problems, Unusable, complain
from fyke.cli.writing.progress import reading
from fyke.errors import FykeError

if TYPE_CHECKING:
    from fyke.cli.reading.declared import Declared
    from fyke.events.event import Event

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """The content of a line, and its place; `number` counts all lines of the source from 0."""

    number: int
    content: bytes
    place: str


def lines(source: Source, problems: Problems, length_max: int = LENGTH_MAX) -> Iterator[Line]:
    """Yield the lines that are not blank; report those that are too long, without holding them."""
    number = 0
    while content := read_line(source, length_max + 1):
        place = f"{source.name}:{number + 1}"
        if number == 0:
            content = content.removeprefix(_BYTE_ORDER_MARK)
        if len(content) > length_max and not content.endswith(b"\n"):
            problems.report(place, f"the line is longer than {length_max} bytes")
            _skip_line(source)
        elif content.strip(_BLANK):
            yield Line(number, content.removesuffix(b"\n"), place)
        number += 1


def events(source: Source, problems: Problems, declared: Declared) -> Iterator[tuple[int, Event]]:
    """Yield each event with the number of its line, from 0."""
    for line in lines(source, problems):
        try:
            event = declared.decode(line.content)
        except FykeError as refused:
            problems.report(line.place, refused)
        else:
            yield line.number, event


def first_events(path: str, problems: Problems, declared: Declared, most: int) -> list[Event]:
    """Return the first events of a file, `most` of them; say if there are more.

    Raise Unusable if there is no event.
    """
    found: list[Event] = []
    with opened(path) as source, reading(source):
        for _, event in events(source, problems, declared):
            if len(found) == most:
                complain(f"only the first {most:,} events of {source.name} are used")
                break
            found.append(event)
    if not found:
        raise Unusable(f"{path}: no event that can be read")
    return found


def _skip_line(source: Source) -> None:
    while content := read_line(source, 1 << 16):
        if content.endswith(b"\n"):
            return
