"""Subscriptions from wherever they are: a file of lines, single rules in any dialect, folders.

    subscriptions.jsonl     a line each, as `subscriptions` reads them
    rule.yml, rule.yaml     one rule of Sigma's
    pattern.json            one pattern of EventBridge's, or a filter of CloudEvents (a list)
    rule.fyke, .cesql, ...  one filter, in the dialect that the ending names
    a folder, a pattern     all of these that are in it, in the order of their names

What is known of a rule beside its filter (title, level, tags) travels along.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fyke.cli.declared import Declared
from fyke.cli.inputs import opened, whole
from fyke.cli.lines import lines
from fyke.cli.problems import Problems, Unusable
from fyke.cli.subscriptions import unique
from fyke.errors import FilterError, FykeError, shown
from fyke.events.json import decode
from fyke.filters.dialects import DIALECTS
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import equals
from fyke.filters.resolution import checked
from fyke.filters.subscription import Subscription

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


def read_standing(
    paths: Iterable[str],
    dialect: str,
    problems: Problems,
    declared: Declared,
    *,
    logsource: bool = False,
) -> list[Standing]:
    """All that can be read at some paths, each id once; what cannot is reported.

    With `logsource`, a rule of Sigma's accepts only events whose `product`, `category` and
    `service` are those of its log source, as far as it names them.
    """
    found: dict[str, tuple[Standing, str]] = {}
    for path in _files(paths):
        for each, place in _in_file(path, dialect, problems, declared, logsource):
            if each.id in found:
                taken = f"the id {shown(each.id)} is taken by {found[each.id][1]}"
                problems.report(place, taken)
            else:
                found[each.id] = each, place
    if not found:
        raise Unusable(f"{', '.join(paths)}: no subscription that can be read")
    return [each for each, _ in found.values()]


def _files(paths: Iterable[str]) -> Iterator[str]:
    """The files that are meant, those of folders and patterns in order."""
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
    path: str, dialect: str, problems: Problems, declared: Declared, logsource: bool
) -> Iterator[tuple[Standing, str]]:
    kind = _ENDINGS.get(Path(path).suffix)
    if kind is None:
        with opened(path) as source:
            for line, each in unique(lines(source, problems), dialect, problems, declared):
                yield Standing(each), line.place
        return
    try:
        yield _one(path, kind, declared, logsource), path
    except Unusable:
        raise
    except FykeError as refused:
        problems.report(path, refused)


def _one(path: str, kind: str, declared: Declared, logsource: bool) -> Standing:
    content = whole(path)
    if kind == "sigma":
        return _sigma(path, content, declared, logsource)
    if kind == "json":
        document = decode(content)
        kind = "cloudevents" if isinstance(document, list) else "eventbridge"
        return Standing(Subscription(path, declared.filter(document, kind)))
    return Standing(Subscription(path, declared.filter(_text(content).strip(), kind)))


def _sigma(path: str, content: bytes, declared: Declared, logsource: bool) -> Standing:
    from fyke.filters.dialects.sigma import LogSource, rule

    read = rule(_text(content))
    filter = read.filter
    if logsource:
        filter = conjunction([*_routes(read.logsource), filter])
    facts = {"title": read.title, "level": read.level, "status": read.status, "tags": read.tags}
    source: LogSource = read.logsource
    facts |= {name: getattr(source, name) for name in ("product", "category", "service")}
    known: dict[str, object] = {name: value for name, value in facts.items() if value}
    subscription = Subscription(read.id or path, checked(filter, declared.whole))
    return Standing(subscription, known)


def _routes(source: object) -> Iterator[Filter]:
    for name in ("product", "category", "service"):
        if value := getattr(source, name):
            yield equals(name, value)


def _text(content: bytes) -> str:
    try:
        return str(content, "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as refused:
        raise FilterError(f"not UTF-8 at byte {refused.start}") from None
