"""The output of `fyke match`: JSON, the events themselves, text in a format, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from fyke.cli.reading.declared import Declared
from fyke.cli.reading.standing import Standing
from fyke.cli.writing.problems import Unusable
from fyke.cli.writing.reasons import reasons
from fyke.errors import printable
from fyke.events.door import Door
from fyke.events.event import Event
from fyke.events.json import encode
from fyke.filters.reads import reads

_HOLE: Final = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
_KNOWN: Final = frozenset(
    ("id", "title", "level", "status", "tags", "product", "category", "service", "file", "event")
)
_MISSING: Final = "-"


class Line(NamedTuple):
    """An event that was found, and the subscriptions that accept it."""

    file: str
    number: int
    text: bytes
    ids: list[str]


class Picture:
    """The lines for an event; `kind` is json, explain, events or format, others write nothing."""

    def __init__(self, kind: str, format: str = "") -> None:
        self.kind = kind
        self.is_quiet = kind == "quiet"
        self._format = format
        self._is_many = False
        self._standing: dict[str, Standing] = {}
        self._door: Door | None = None

    @classmethod
    def chosen(
        cls,
        *,
        count: bool,
        events: bool,
        format: str | None,
        explain: bool,
        quiet: bool,
        invert: bool,
    ) -> Picture:
        """Return the picture that the options ask for; Unusable where they ask for two."""
        asked = {
            "--count": count,
            "--events": events,
            "--format": format is not None,
            "--explain": explain,
            "--quiet": quiet,
        }
        names = [name for name, is_asked in asked.items() if is_asked]
        if len(names) > 1:
            if names == ["--count", "--explain"]:
                raise Unusable(
                    "--count prints no matches that --explain could explain; drop one of them"
                )
            raise Unusable(f"{' and '.join(names)} exclude each other; drop one of them")
        kind = names[0].removeprefix("--") if names else "json"
        if invert and kind in ("format", "explain"):
            raise Unusable(f"with -v there are no matches that --{kind} could show")
        return cls(kind, format or "")

    def prepare(self, standing: Iterable[Standing], declared: Declared, is_many: bool) -> None:
        """Say what may be found, and whether in several files."""
        self._is_many = is_many
        self._standing = {each.id: each for each in standing}
        schema = declared.whole if declared.whole.timestamps or declared.whole.decimals else None
        if self.kind == "format":
            names = {found for found in _HOLE.findall(self._format) if found} - _KNOWN
            self._door = Door(names, schema)
        elif self.kind == "explain":
            read = [reads(each.filter) for each in self._standing.values()]
            paths = None if None in read else frozenset().union(*read)  # type: ignore[arg-type]
            self._door = Door(paths, schema)

    def of(self, line: Line) -> Iterator[bytes]:
        """Yield the lines that are written, without their ends."""
        match self.kind:
            case "json" | "explain":
                yield encode(self._document(line)).encode()
            case "events":
                text = line.text.strip(b" \t\r\n").removeprefix(b"\xef\xbb\xbf")
                yield msgspec.json.format(text, indent=-1) if b"\n" in text else text
            case "format":
                event = self._event(line)
                for id in line.ids:
                    yield self._formatted(line, id, event).encode(errors="replace")

    def _event(self, line: Line) -> Event:
        assert self._door is not None
        return self._door.event(line.text)

    def _document(self, line: Line) -> dict[str, object]:
        document: dict[str, object] = {"file": line.file} if self._is_many else {}
        document |= {"event": line.number, "matches": line.ids}
        if self.kind == "explain":
            event = self._event(line)
            explained = {id: reasons(self._standing[id].filter, event) for id in line.ids}
            document["explain"] = explained
        return document

    def _formatted(self, line: Line, id: str, event: Event) -> str:
        known = {"id": id, "file": line.file, "event": line.number, **self._standing[id].facts}

        def filled(hole: re.Match[str]) -> str:
            name = hole[1]
            if name is None:
                return hole[0][0]
            value = known.get(name) if name in _KNOWN else event.attributes.get(name, _MISSING)
            return _shown(value)

        return _HOLE.sub(filled, self._format)


def _shown(value: object) -> str:
    """Return a value as text for a line: nothing in it ends the line or moves the cursor."""
    if value is None:
        return _MISSING
    if isinstance(value, tuple | list):
        return ",".join(map(_shown, value))
    return printable(value if isinstance(value, str) else encode(value))
