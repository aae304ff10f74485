"""A rule's source to plain values.

YAML is read from the stream of its parser's events onto an explicit stack, so nothing recurses,
however deep the text is nested, and a text that is too large is given up as soon as it is seen to
be. An alias is charged with the whole subtree that it stands for, which bounds the work that
aliases of aliases can cause. Refused: a second document that is not empty, a key given twice, merge
keys; and within `detection`, tags that are not YAML's own, integers beyond 64 bits, NaN and the
infinities.

Keys are taken as they are written, so that a field may be called `on` or `7`; dates stay text.
Otherwise scalars are read as YAML 1.1, as the reference implementation does, and numbers and
booleans keep their text beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from fyke.errors import EventError, FilterError, shown
from fyke.events.value import admit
from fyke.filters.dialects.sigma.plain import DETECTION, Plain, Value, Written, copy_rule
from fyke.limits import Limits

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML: Final = "tag:yaml.org,2002:"
_NUMBERS: Final = (_YAML + "int", _YAML + "float")
_NUMBER_LENGTH_MAX = 400


def read(source: object, limits: Limits) -> Plain:
    """Return the plain values of YAML text, or of what a YAML or JSON reader made of it."""
    if not isinstance(source, str):
        return copy_rule(source, limits)
    if len(source) > limits.text_length_max:
        raise FilterError(
            f"the rule is {len(source)} characters long; the limit is {limits.text_length_max}"
        )
    try:
        admit(source)
        return _Reader(source, limits).document()
    except EventError as error:
        raise FilterError(f"the rule cannot be read: {error.problem}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "this is not YAML"
        raise _at(mark, source, problem) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        raise FilterError(
            f"the text is not YAML: {getattr(error, 'reason', error)}",
            text=source,
            position=min(position, len(source)),
        ) from None


def _at(mark: Any, text: str, problem: str) -> FilterError:
    if mark is None:
        return FilterError(problem, text=text, position=0)
    return FilterError(
        f"line {mark.line + 1}, column {mark.column + 1}: {problem}",
        text=text,
        position=min(mark.index, len(text)),
    )


# --- YAML text ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Read:
    """A finished value: how many values it stands for, how deep it is, and whether it holds what
    only metadata may hold.
    """

    value: Plain
    size: int = 1
    height: int = 1
    is_odd: bool = False


@dataclass(slots=True)
class _Open:
    """A list or a map that is being read."""

    read: _Read
    anchor: str | None
    key: str | None = None
    values: list[Plain] | dict[str, Plain] = field(init=False)

    def __post_init__(self) -> None:
        assert isinstance(self.read.value, (list, dict))
        self.values = self.read.value


class _Reader:
    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.open: list[_Open] = []
        self.anchors: dict[str, _Read] = {}
        self.size = 0

    def document(self) -> Plain:
        loader = _Loader(self.text)
        try:
            return self._document(loader)
        finally:
            loader.dispose()

    def _document(self, loader: Any) -> Plain:
        found: _Read | None = None
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                start = event
            elif isinstance(event, (yaml.DocumentEndEvent, yaml.StreamEndEvent)):
                continue
            elif found is not None and not self.open and not _is_nothing(event):
                self._refuse(start, "several documents in one text: give each rule by itself")
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._begin(event)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                found = self._end(event)
            elif isinstance(event, yaml.AliasEvent):
                found = self._add(self._aliased(event), event)
            elif isinstance(event, yaml.ScalarEvent) and (self.open or not _is_nothing(event)):
                found = self._scalar(event, loader)
        if found is None:
            raise FilterError("the text is empty", expected="a rule in YAML")
        return found.value

    def _begin(self, event: Any) -> None:
        is_map = isinstance(event, yaml.MappingStartEvent)
        is_odd = event.tag not in (None, "!", _YAML + ("map" if is_map else "seq"))
        if is_odd and not self._is_metadata():
            self._refuse(event, f"the tag {shown(event.tag)} is not supported")
        if self._expects_key():
            self._refuse(event, "a list or a map as a key", expected="a name")
        if len(self.open) >= self.limits.depth_max:
            self._refuse(event, f"nested deeper than {self.limits.depth_max} levels")
        self.open.append(_Open(_Read({} if is_map else [], is_odd=is_odd), event.anchor))

    def _end(self, event: Any) -> _Read:
        finished = self.open.pop()
        if finished.anchor is not None:
            self.anchors[finished.anchor] = finished.read
        return self._add(finished.read, event)

    def _aliased(self, event: Any) -> _Read:
        if event.anchor not in self.anchors:
            self._refuse(event, f"the alias *{event.anchor} stands for nothing that is complete")
        named = self.anchors[event.anchor]
        if named.is_odd and not self._is_metadata():
            self._refuse(event, f"the alias *{event.anchor} stands for what cannot be compared")
        return named

    def _scalar(self, event: Any, loader: Any) -> _Read:
        if self._expects_key():
            self._key(event)
            return _Read(None)
        try:
            read = _Read(self._value(event, loader))
        except FilterError:
            if not self._is_metadata():
                raise
            read = _Read(event.value.encode(errors="replace").decode(), is_odd=True)
        if event.anchor is not None:
            self.anchors[event.anchor] = read
        return self._add(read, event)

    def _is_metadata(self) -> bool:
        """Return True if the next part stands in a rule outside of its detection."""
        if not self.open or not isinstance(self.open[0].values, dict):
            return False
        return self.open[0].key not in (None, DETECTION)

    def _expects_key(self) -> bool:
        return (
            bool(self.open) and isinstance(self.open[-1].values, dict) and self.open[-1].key is None
        )

    def _key(self, event: Any) -> None:
        innermost = self.open[-1]
        self._admit(event.value, event)
        if event.value == "<<" and event.implicit[0]:
            self._refuse(event, "the merge key << is not supported")
        if event.value in innermost.values:
            self._refuse(event, f"the key {shown(event.value)} is given twice")
        innermost.key = str(event.value)

    def _add(self, read: _Read, event: Any) -> _Read:
        """Put a finished value into what is open around it, and charge for it."""
        if not self.open:
            return read
        parent = self.open[-1]
        if isinstance(parent.values, dict):
            if parent.key is None:
                self._refuse(event, "an alias as a key", expected="a name")
            parent.values[parent.key] = read.value
            parent.key = None
        else:
            parent.values.append(read.value)
        parent.read.size += read.size
        parent.read.is_odd |= read.is_odd
        parent.read.height = max(parent.read.height, 1 + read.height)
        if parent.read.size > self.limits.nodes_max:
            self._refuse(event, f"the rule holds more than {self.limits.nodes_max} values")
        if len(self.open) + read.height > self.limits.depth_max + 1:
            self._refuse(event, f"nested deeper than {self.limits.depth_max} levels")
        return read

    def _value(self, event: Any, loader: Any) -> Value:
        tag = event.tag
        if tag is None or tag == "!":
            tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag in _NUMBERS and len(event.value) > _NUMBER_LENGTH_MAX:
            self._refuse(event, "the number is too long")
        node = yaml.ScalarNode(tag, event.value)
        try:
            match tag.removeprefix(_YAML):
                case "str" | "timestamp" | "value" | "merge":
                    value: object = event.value
                case "null":
                    value = None
                case "bool":
                    value = loader.construct_yaml_bool(node)
                case "int":
                    value = loader.construct_yaml_int(node)
                case "float":
                    value = loader.construct_yaml_float(node)
                case _:
                    self._refuse(event, f"the tag {shown(tag)} is not supported")
        except (ValueError, LookupError):
            self._refuse(event, f"{shown(event.value)} is not a value of {tag}")
        admitted = self._admit(value, event)
        if isinstance(admitted, (bool, int, float)):
            return Written(admitted, event.value)
        return admitted

    def _admit(self, value: object, event: Any) -> Value:
        try:
            return admit(value)  # type: ignore[return-value]
        except EventError as error:
            self._refuse(event, error.problem)

    def _refuse(self, event: Any, problem: str, expected: str | None = None) -> NoReturn:
        error = _at(event.start_mark, self.text, problem)
        if expected is None:
            raise error
        raise FilterError(
            error.problem, text=error.text, position=error.position, expected=expected
        )


def _is_nothing(event: Any) -> bool:
    """Return True if a scalar is there only because YAML puts null into an empty document."""
    return (
        isinstance(event, yaml.ScalarEvent)
        and not event.value
        and event.implicit[0]
        and event.tag is None
        and event.anchor is None
    )
