"""Registry: which classes are events, by class and by name.

    @fyke.event
    class Stock: symbol: str; price: float

A class with annotations and no constructor becomes a dataclass. Subclasses of an event class are
event classes, decorated or not. A name means one class in a process: bytes say the name, and only
classes that are known here are built from them.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final, TypeVar, dataclass_transform, overload
from weakref import WeakKeyDictionary, WeakValueDictionary

from fyke.errors import FykeError, SchemaError, shown
from fyke.typed.description import Description, describe
from fyke.typed.shapes import is_record

_Class = TypeVar("_Class", bound=type)

_OWN: Final = "__fyke__"
_named: WeakValueDictionary[str, type] = WeakValueDictionary()
_nested: WeakKeyDictionary[type, Description] = WeakKeyDictionary()


@overload
def event(cls: _Class, /) -> _Class: ...


@overload
def event(
    *,
    name: str | None = ...,
    show: Iterable[str] | None = ...,
    stable: Iterable[str] = ...,
    encode: Callable[[Any], bytes] | None = ...,
    decode: Callable[[bytes], Any] | None = ...,
) -> Callable[[_Class], _Class]: ...


@dataclass_transform()
def event(
    cls: _Class | None = None,
    /,
    *,
    name: str | None = None,
    show: Iterable[str] | None = None,
    stable: Iterable[str] = (),
    encode: Callable[[Any], bytes] | None = None,
    decode: Callable[[bytes], Any] | None = None,
) -> Any:
    """Make a class an event class: its objects can be published, and it can be subscribed to.

    `name` is the type of its events, by default the name of the class. `show` names the attributes
    that others may filter by, by default all. `stable` names properties and accessors that have one
    value wherever they are asked, though their bodies do not show it. `encode` and `decode` turn an
    object into bytes and back, if its constructor cannot.
    """
    if (encode is None) != (decode is None):
        raise FykeError("encode= and decode= go together")
    for given, what in ((show, "show"), (stable, "stable")):
        if isinstance(given, str):
            raise FykeError(f"{what}={shown(given)}; expected a list of names")

    def register(cls: _Class) -> _Class:
        if not isinstance(cls, type):
            raise FykeError(f"an event class is a class, not {shown(cls)}")
        made: _Class = _as_dataclass(cls)
        chosen = None if show is None else frozenset(show)
        _register(made, name, show=chosen, stable=frozenset(stable), encode=encode, decode=decode)
        return made

    return register if cls is None else register(cls)


def _as_dataclass(cls: Any) -> Any:
    """Return the class, with a constructor if it declares fields and has none."""
    is_made = "__dataclass_fields__" in vars(cls) or "__init__" in vars(cls)
    if is_made or (is_record(cls) and not dataclasses.is_dataclass(cls)):
        return cls
    inherited = next(base for base in cls.__mro__ if "__init__" in vars(base))
    written = isinstance(vars(inherited)["__init__"], FunctionType)
    if written and "__dataclass_fields__" not in vars(inherited):
        return cls
    if "__annotations__" not in vars(cls):
        return cls
    parameters = getattr(inherited, "__dataclass_params__", None)
    return dataclasses.dataclass(frozen=bool(parameters and parameters.frozen))(cls)


def _register(cls: type, name: str | None = None, **options: Any) -> Description:
    chosen = cls.__name__ if name is None else name
    if not isinstance(chosen, str) or not chosen:
        raise FykeError(f"the name of a type is a text, not {shown(chosen)}")
    bases = [base for base in cls.__mro__[1:] if is_event_class(base)]
    ancestors = [described(base) for base in bases]
    supertypes = tuple(each.name for each in ancestors)
    if chosen in supertypes:
        raise SchemaError("its own supertype; give it a name of its own", type_name=chosen)
    if ancestors and not options.get("encode"):
        options = {**options, "encode": ancestors[0].encode, "decode": ancestors[0].decode}
    found = describe(cls, chosen, supertypes, ancestors, **options)
    _check_name(cls, found)
    setattr(cls, _OWN, found)
    _named[chosen] = cls
    return found


def _check_name(cls: type, new: Description) -> None:
    """Refuse a name that another class has, and a version that an older one contradicts."""
    from fyke.typed.schemas import check_evolution, schema_of_description

    known = _named.get(new.name)
    if known is not None and known is not cls and _place(known) != _place(cls):
        del known
        gc.collect()
        known = _named.get(new.name)
    if known is None or known is cls:
        return
    if _place(known) != _place(cls):
        raise FykeError(
            f"two classes are called {shown(new.name)}: {_place(known)} and {_place(cls)}; give "
            "one of them another name, @fyke.event(name=...)"
        )
    old = described(known)
    check_evolution(schema_of_description(old), schema_of_description(new))


def _place(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def forget(cls: type) -> None:
    """Free the name of an event class, so that another one may have it, with other fields."""
    name = described(cls).name
    if _named.get(name) is cls:
        del _named[name]


def is_event_class(cls: object) -> bool:
    """Return True if a class, or an ancestor of it, was made an event class."""
    return isinstance(cls, type) and any(_OWN in vars(base) for base in cls.__mro__)


def described(cls: type) -> Description:
    """Return the description of an event class; FykeError if the class is no event class."""
    own = vars(cls).get(_OWN)
    if own is not None and own.cls is cls:
        return own  # type: ignore[no-any-return]
    if not is_event_class(cls):
        raise FykeError(
            f"{getattr(cls, '__name__', shown(cls))} is not an event class; "
            "write @fyke.event above it"
        )
    return _register(cls)


def known_class(names: Iterable[str | None]) -> Description | None:
    """Return the first event class of some names that this process knows."""
    for name in names:
        cls = _named.get(name) if name is not None else None
        if cls is not None:
            return described(cls)
    return None


def nested_description(cls: type) -> Description:
    """Return the description of a record inside an event; it need not be an event class."""
    if is_event_class(cls):
        return described(cls)
    found = _nested.get(cls)
    if found is None:
        found = _nested[cls] = describe(cls, cls.__name__, (), [])
    return found
