# ruff: noqa: E501  (templates of Python text are read more easily on one line)
"""Closures as text, drawn at random, and the objects that they are tried on.

`check_law` writes closures to a module, derives a filter from each, and runs the closures on
objects, as they are and as they come back from bytes. An object that a closure accepts, or on which
it does something, must be accepted by the filter, unless the event says that it is in doubt.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from random import Random
from typing import Any, Literal

import fyke
from fyke.events import binary
from fyke.typed import derived, pack, unpack
from fyke.typed.closures.deriving import FAILED
from fyke.typed.subscriptions import doubts_of


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 0
    MID = 1
    HIGH = 9


class Side(StrEnum):
    BUY = "buy"
    SELL = "Sell"


class Odd(IntEnum):
    """Members that are equal to everything."""

    ONE = 1

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Loud(str):
    """Text that is equal in any case."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.lower(self) == str.lower(other)

    def __lt__(self, other: str) -> bool:
        return not str.__lt__(self, other)

    __hash__ = str.__hash__


touched: list[str] = []


@dataclass(eq=False)
class Purse:
    """A record whose operators do something, and say yes."""

    coins: int = 3

    def _yes(self, *others: object) -> bool:
        touched.append("purse")
        return True

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __contains__ = __bool__ = _yes  # type: ignore[assignment]
    __hash__ = object.__hash__


@dataclass
class Inner:
    city: str = "Delft"
    number: int | None = None


@fyke.event
class Strict:
    count: int
    price: float
    name: str
    flag: bool
    exact: Decimal
    at: datetime
    color: Color
    level: Level
    side: Side
    kind: Literal["b", "a", "c"]
    note: str | None = None
    size: int | str | None = None
    tags: list[str] = field(default_factory=list)
    marks: tuple[int, ...] = ()
    inner: Inner = field(default_factory=Inner)
    odd: Odd = Odd.ONE
    purse: Purse = field(default_factory=Purse)

    @property
    def double(self) -> float:
        return self.price * 2

    @property
    def label(self) -> str:
        return self.name.lower()

    def get_first(self) -> str:
        return self.name[:1]


@fyke.event
class Tight(Strict):
    """A subtype that computes otherwise what its supertype shows."""

    calls = 0

    @property
    def double(self) -> float:
        Tight.calls += 1
        return float(Tight.calls)


@fyke.event
class Loose:
    def __init__(self, a, b, c):  # type: ignore[no-untyped-def]
        self.a = a
        self._b = b
        self.c = c

    def getB(self):  # type: ignore[no-untyped-def]
        return self._b


TEXTS = ["", "a", "b", "A", "Foo", "foo", "FOO", "İ", "i", "ß", "SS", "ss", "K", "k", "fi", "ﬁ", "oo",
         "x\ny", "c", "é", "Foo\n", "F٣", "F3"]  # fmt: skip
NUMBERS: list[Any] = [0, 1, -1, 3, 9, 10, 0.1, -0.0, 0.3, 1.5, 9.5, 10.0, 2**53, 2**53 + 1, 1e22, -7,
                      2**63 - 1]  # fmt: skip
DECIMALS = [Decimal(text) for text in ("0.1", "0.10000000000000001", "1", "0.3", "9.5", "1E+22")]
ZONES = [UTC, timezone(timedelta(hours=2))]
MOMENTS = [datetime(2026, 1, day, 12, tzinfo=zone) for day in (1, 2, 3) for zone in ZONES]
BEYOND = ["NAN", "HUGE", "NAIVE", "DAY", "math.inf"]
"""Values that no event has: they are in PRELUDE, by name."""
CONSTANTS = [*NUMBERS, *TEXTS, True, False, None, *DECIMALS, *MOMENTS]


def some_object(draw: Random) -> Any:
    if draw.random() < 0.35:
        values = [*NUMBERS, *TEXTS, True, False, None, *DECIMALS, *MOMENTS, [], [3], ["a"], [True],
                  [3], ["a"], True, 1, 3, 0, Loud("foo"), Odd.ONE, Level.MID, (1,), {"k": 1}]  # fmt: skip
        return Loose(*(draw.choice(values) for _ in range(3)))
    whole = [each for each in NUMBERS if type(each) is int]
    return draw.choice([Strict, Strict, Strict, Tight])(
        draw.choice(whole), draw.choice(NUMBERS), draw.choice([*TEXTS, Loud("Foo")]),
        draw.random() < 0.5, draw.choice(DECIMALS), draw.choice(MOMENTS), draw.choice(list(Color)),
        draw.choice(list(Level)), draw.choice(list(Side)), draw.choice("abc"),
        draw.choice([None, *TEXTS]), draw.choice([None, 3, "3", "a"]),
        draw.choices(TEXTS, k=draw.randrange(3)), tuple(draw.choices([0, 1, 3], k=draw.randrange(3))),
        Inner(draw.choice(TEXTS), draw.choice([None, 3])),
    )  # fmt: skip


# --- text -----------------------------------------------------------------------------------------

PRELUDE = """
import math, re
from datetime import *
from decimal import Decimal
from tests.typed.drawn import *
seen = []
TAGS = ("a", "Foo", "ß")
LIMIT = 3
NAN, HUGE, NAIVE, DAY = float("nan"), 2**70, datetime(2026, 1, 1, 12), date(2026, 1, 1)
def helper(x): return x < LIMIT
def touch(x):
    seen.append(x)
    return False
"""

_STRICT = {
    "number": ["s.count", "s.price", "s.exact", "s.level", "s.double", "s.inner.number", "s.odd"],
    "text": ["s.name", "s.note", "s.side", "s.kind", "s.inner.city", "s.label", "s.get_first()"],
    "any": ["s.size", "s.flag", "s.color", "s.at", "s.tags", "s.marks"],
}
_LOOSE = {"number": ["s.a", "s.getB()", "s.c"], "text": ["s.a", "s.c"], "any": ["s.getB()"]}


def _constant(draw: Random) -> str:
    return draw.choice(BEYOND) if draw.random() < 0.08 else _written(draw.choice(CONSTANTS))


def _written(value: Any) -> str:
    if isinstance(value, datetime):
        hours = int((value.utcoffset() or timedelta()).total_seconds() // 3600)
        zone = f"timezone(timedelta(hours={hours}))" if hours else "UTC"
        return f"datetime({value.year}, {value.month}, {value.day}, {value.hour}, tzinfo={zone})"
    return repr(value)


def _field(draw: Random, names: dict[str, list[str]], kind: str | None = None) -> str:
    return draw.choice(names[kind or draw.choice(list(names))])


def expression(draw: Random, names: dict[str, list[str]], depth: int = 0) -> str:
    def inner() -> str:
        return expression(draw, names, depth + 1)

    if depth < 3 and draw.random() < 0.5:
        match draw.randrange(7):
            case 0 | 1:
                return f"({inner()} and {inner()})"
            case 2 | 3:
                return f"({inner()} or {inner()})"
            case 4:
                return f"(not {inner()})"
            case 5:
                return f"({inner()} if {inner()} else {inner()})"
            case _:
                return f"((y := {_field(draw, names)}) == {_constant(draw)} or y in ({_constant(draw)},))"
    sign = draw.choice(["==", "!=", "<", "<=", ">", ">="])
    text = repr(draw.choice(TEXTS))
    if draw.random() < 0.3:
        return trap(draw, names, sign)
    match draw.randrange(24):
        case 0 | 1 | 2:
            return f"{_field(draw, names)} {sign} {_constant(draw)}"
        case 3 | 4 | 5:
            number = repr(draw.choice([*NUMBERS, *DECIMALS, True]))
            return f"{_field(draw, names, 'number')} {sign} {number}"
        case 6 | 7:
            return f"{_field(draw, names, 'text')} {sign} {text}"
        case 8:
            return f"{_constant(draw)} {sign} {_field(draw, names)}"
        case 9:
            return f"{draw.choice(NUMBERS)!r} <= {_field(draw, names, 'number')} < 10"
        case 10:
            method = draw.choice(["lower", "upper", "casefold", "strip"])
            return f"{_field(draw, names, 'text')}.{method}() == {text}"
        case 11:
            method = draw.choice(
                ["lower().startswith", "endswith", "startswith", "upper().endswith"]
            )
            given = draw.choice([text, f"({text}, {text})"])
            return f"{_field(draw, names, 'text')}.{method}({given})"
        case 12:
            return f"{text} in {_field(draw, names)}"
        case 13:
            return f"{_field(draw, names)} in ({_constant(draw)}, {_constant(draw)})"
        case 14:
            return f"{_field(draw, names)} not in {{{text}, {draw.choice(NUMBERS)!r}}}"
        case 15:
            return f"{_field(draw, names)} in range({draw.choice([2, 5, 200])})"
        case 16:
            return f"{_field(draw, names)} is {draw.choice(['None', 'not None', 'True'])}"
        case 17:
            return f"{draw.choice(['any', 'all'])}({_field(draw, names)} == t for t in TAGS)"
        case 18:
            return f"{_field(draw, names)}"
        case 19:
            return draw.choice([f"touch({_field(draw, names)})", "seen.append(s)", "helper(s.count)"]
                               if "s.count" in names["number"] else ["touch(s.a)"])  # fmt: skip
        case 20:
            return f"{_field(draw, names)} {sign} {_field(draw, names)}"
        case 21:
            return draw.choice(["isinstance(s, Tight)", "s.color is Color.RED", "s.level > Level.LOW",
                                "3 in s.marks", "'a' not in s.tags", "s.side == Side.SELL"])  # fmt: skip
        case 22:
            pattern = draw.choice(["Fo+", "a|b", "K$", "i?x", "Foo", "oo*", "^F", r"F\d", "Foo$", "(?i)foo",
                                   "^a|o$", "Fo{0,1}", "[Ff]oo", "F.o"])  # fmt: skip
            method = draw.choice(["match", "search", "fullmatch"])
            flags = draw.choice(["", "", ", re.I", ", re.M"])
            return f"re.{method}({pattern!r}, {'s.a' if names is _LOOSE else 's.name'}{flags})"
        case _:
            return f"len({_field(draw, names)}) {sign} 1"


def trap(draw: Random, names: dict[str, list[str]], sign: str) -> str:
    """Return a comparison where Python and filters disagree, with values that show it."""
    if names is _LOOSE:
        held = draw.choice(["3", "'a'", "True", "1", "0", "0.1", "None", "10"])
        return f"{draw.choice(['s.a', 's.c', 's.getB()'])} {sign} {held}"
    text = draw.choice(["i", "ss", "SS", "FI", "fi", "k", "i̇"])
    return draw.choice([
        f"s.exact {sign} {draw.choice([0.1, 0.3, 1, Decimal('0.1')])!r}",
        f"s.price {sign} Decimal('{draw.choice(['0.1', '0.3'])}')",
        f"s.name.{draw.choice(['lower', 'upper', 'casefold'])}() == {text!r}",
        f"s.name.{draw.choice(['lower', 'upper'])}().startswith({text[:1]!r})",
        f"s.kind {sign} {draw.choice('abc')!r}",
        f"s.note {sign} {draw.choice([None, 'a', ''])!r}",
        f"s.purse {draw.choice([sign, 'in', 'not in'])} (3, s.price)",
        draw.choice(["s.purse", "not s.purse", "3 in s.purse", f"s.price {sign} s.purse"]),
    ])  # fmt: skip


def function(draw: Random, number: int) -> str:
    names = _STRICT if draw.random() < 0.65 else _LOOSE
    cls = "Strict" if names is _STRICT else "Loose"
    one, two, three = (expression(draw, names, 1) for _ in range(3))
    match draw.randrange(7):
        case 6:
            field_, other = _field(draw, names), _field(draw, names)
            body = f"    y = {field_}\n    return {one} and (y := {other}) == 3 or y {draw.choice(['==', '!='])} {_constant(draw)}\n"
        case 0:
            body = f"    if {one}:\n        return {two}\n    return {three}\n"
        case 1:
            body = f"    x = {_field(draw, names)}\n    if x == {_constant(draw)}: return False\n    return {one}\n"
        case 2:
            body = (
                f"    match {_field(draw, names)}:\n"
                f"        case {_written(draw.choice([*TEXTS, 1, 0.1]))} | 3: return {one}\n"
                f"        case None: return {two}\n        case y if y == {_constant(draw)}: return True\n"
            )
        case 3:
            body = f"    if {one}:\n        seen.append(1)\n    return {two} and {three}\n"
        case _:
            return f"f{number} = lambda s: {expression(draw, names)}\nf{number}.cls = {cls}\n"
    return f"def f{number}(s):\n{body}f{number}.cls = {cls}\n"


_modules = itertools.count()
Write = Callable[[Random, int], str]
"""From a number to the text of the closure that has it."""


def closures(draw: Random, count: int, folder: Path, write: Write = function) -> Any:
    """Return a module of drawn closures, and the list that they may append to."""
    name = f"drawn_closures_{next(_modules)}"
    path = folder / f"{name}.py"
    path.write_text(PRELUDE + "".join(write(draw, number) for number in range(count)), "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module, [getattr(module, f"f{number}") for number in range(count)]


def check_law(
    draw: Random, count: int, folder: Path, objects: int = 60, write: Write = function
) -> Counter[str]:
    """AssertionError with the closure, its filter and the object that would be lost."""
    module, functions = closures(draw, count, folder, write)
    tried: dict[str, list[tuple[Any, Any, Any]]] = {"Strict": [], "Loose": []}
    for _ in range(objects):
        given = some_object(draw)
        try:
            event = pack(given)
            back = unpack(binary.decode(binary.encode(event)))
        except fyke.FykeError:
            continue
        doubts = doubts_of(event)
        family = "Loose" if isinstance(given, Loose) else "Strict"
        tried[family] += [(given, event, doubts), (back, event, doubts)]
    reached: Counter[str] = Counter()
    for closure in functions:
        found = derived(closure, closure.cls)
        assert not any(FAILED in each.reason for each in found.unread), found
        for given, event, doubts in tried[closure.cls.__name__]:
            before = len(module.seen) + len(touched)
            try:
                accepted = bool(closure(given))
            except Exception:
                accepted = False
            acted = len(module.seen) + len(touched) > before
            reached["tried"] += 1
            reached["accepted"] += accepted
            reached["hidden"] += accepted and _raises(getattr(closure, "hidden", None), given)
            passes = found.filter.matches(event)
            reached["refused"] += not passes
            if not (accepted or acted) or passes:
                continue
            if any(n == d or n.startswith(f"{d}.") for d in doubts for n in found.relies):
                reached["in doubt"] += 1
                continue
            source = (folder / f"{module.__name__}.py").read_text("utf-8")
            line = closure.__code__.co_firstlineno
            text = "\n".join(source.splitlines()[line - 1 : line + 6])
            raise AssertionError(f"lost {vars(given)}\n{event}\n{found}\n{text}")
        del module.seen[:], touched[:]
    return reached


def _raises(part: Callable[[Any], Any] | None, given: Any) -> bool:
    """Whether a part of a closure would raise, if it were run."""
    if part is None:
        return False
    try:
        part(given)
    except Exception:
        return True
    return False
