"""Subscriptions from wherever they are: a file of lines, single rules in any dialect, folders.

    subscriptions.jsonl     a line each, as `subscriptions` reads them
    rule.yml, rule.yaml     one rule of Sigma's
    pattern.json            one pattern of EventBridge's, or a filter of CloudEvents (a list)
    rule.fyke, .cesql, ...  one filter, in the dialect that the ending names
    a folder, a pattern     all of these that are in it, in the order of their names

What is known of a rule beside its filter (title, level, tags) travels along. `SigmaReader` says
where placeholders, fields and log sources of Sigma's rules get their meaning from.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from fyke.cli.reading.declared import Declared
from fyke.cli.reading.inputs import opened, text_argument, whole
from fyke.cli.reading.lines import lines
from fyke.cli.reading.subscriptions import unique
from fyke.cli.writing.problems import Problems, Unusable
from fyke.errors import FilterError, FykeError, shown
from fyke.events.json import decode
from fyke.filters.dialects import DIALECTS
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve_strictly
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from fyke.filters.dialects.sigma import SigmaMapping

_Read = TypeVar("_Read")
_ENDINGS: Final = {
    **{f".{dialect}": dialect for dialect in DIALECTS},
    ".yml": "sigma",
    ".yaml": "sigma",
    ".json": "json",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A subscription, and what is known of it besides, for output."""

    subscription: Subscription
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.subscription.id

    @property
    def filter(self) -> Filter:
        return self.subscription.filter


@dataclass(frozen=True, slots=True)
class SigmaReader:
    """The way to read rules of Sigma's: values of placeholders, names of fields, log sources.

    With `logsource`, a rule accepts only events of its log source.
    """

    logsource: bool = False
    placeholders: dict[str, list[str]] | None = None
    mapping: SigmaMapping | None = None

    @classmethod
    def chosen(cls, logsource: bool, values: str | None, mapping: str | None) -> SigmaReader:
        """Return what the options and the files that they name say."""
        from fyke.filters.dialects.sigma import read_mapping, read_placeholders

        return cls(
            logsource,
            None if values is None else _file_as(values, read_placeholders),
            None if mapping is None else _file_as(mapping, read_mapping),
        )

    def read(self, path: str, text: str, declared: Declared) -> Standing:
        """Return the rule, with what is known of it besides."""
        from fyke.filters.dialects.sigma import rule

        read = rule(text, placeholders=self.placeholders, mapping=self.mapping)
        filter = read.routed_filter() if self.logsource else read.filter
        source = read.logsource
        facts = {"title": read.title, "level": read.level, "status": read.status}
        facts |= {name: getattr(source, name) for name in ("product", "category", "service")}
        known: dict[str, object] = {name: value for name, value in facts.items() if value}
        if read.tags:
            known["tags"] = read.tags
        return Standing(
            Subscription(read.id or path, resolve_strictly(filter, declared.whole)), known
        )


def _file_as(path: str, read: Callable[[object], _Read]) -> _Read:
    """Return what a function reads from the text of a file."""
    try:
        return read(_text(whole(path)))
    except Unusable:
        raise
    except FykeError as refused:
        raise Unusable(f"{path}: {refused}") from None


def read_standing(
    paths: Iterable[str],
    dialect: str,
    problems: Problems,
    declared: Declared,
    *,
    sigma: SigmaReader | None = None,
) -> list[Standing]:
    """Return all that can be read at some paths, each id once; what cannot is reported."""
    sigma = sigma or SigmaReader()
    found: dict[str, tuple[Standing, str]] = {}
    for path in _files(paths):
        for each, place in _in_file(path, dialect, problems, declared, sigma):
            if each.id in found:
                taken = f"the id {shown(each.id)} is taken by {found[each.id][1]}"
                problems.report(place, taken)
            else:
                found[each.id] = each, place
    if not found:
        raise Unusable(f"{', '.join(paths)}: no subscription that can be read")
    return [each for each, _ in found.values()]


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files that are meant, those of folders and patterns in order."""
    for path in paths:
        if Path(path).is_dir():
            inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file())
            wanted = [each for each in inside if Path(each).suffix in {*_ENDINGS, ".jsonl"}]
            if not wanted:
                kinds = ", ".join(sorted({*_ENDINGS, ".jsonl"}))
                raise Unusable(f"{path}: is a directory without rules ({kinds})")
            yield from wanted
        elif glob.has_magic(path) and not Path(path).exists():
            matching = sorted(glob.glob(path, recursive=True))
            if not matching:
                raise Unusable(f"{path}: no file has such a name")
            yield from (each for each in matching if Path(each).is_file())
        else:
            yield path


def _in_file(
    path: str, dialect: str, problems: Problems, declared: Declared, sigma: SigmaReader
) -> Iterator[tuple[Standing, str]]:
    kind = _ENDINGS.get(Path(path).suffix)
    if kind is None:
        with opened(path) as source:
            for line, each in unique(lines(source, problems), dialect, problems, declared):
                yield Standing(each), line.place
        return
    try:
        yield _one(path, kind, declared, sigma), path
    except Unusable:
        raise
    except FykeError as refused:
        problems.report(path, refused)


def read_argument(text: str, dialect: str, declared: Declared, sigma: SigmaReader) -> Standing:
    """Return the filter of `-e`, whose text is its id.

    `@FILE` names a file; where no dialect was given, the ending of its name says which it is.
    """
    path = text.removeprefix("@")
    kind = _ENDINGS.get(Path(path).suffix) if path != text and dialect == "fyke" else None
    if path != text and (kind or dialect) != "fyke":
        read = _one(path, kind or dialect, declared, sigma)
        return Standing(Subscription(text, read.filter), read.facts)
    return Standing(Subscription(text, declared.filter(text_argument(text)[0], dialect)))


def _one(path: str, kind: str, declared: Declared, sigma: SigmaReader) -> Standing:
    content = whole(path)
    if kind == "sigma":
        return sigma.read(path, _text(content), declared)
    if kind == "json":
        document = decode(content)
        kind = "cloudevents" if isinstance(document, list) else "eventbridge"
        return Standing(Subscription(path, declared.filter(document, kind)))
    return Standing(Subscription(path, declared.filter(_text(content).strip(), kind)))


def _text(content: bytes) -> str:
    try:
        return str(content, "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as refused:
        raise FilterError(f"not UTF-8 at byte {refused.start}") from None
