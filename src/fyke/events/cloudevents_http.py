"""CloudEvents in HTTP messages: binary mode, and the choice of the mode by content type.

In binary mode the attributes are `ce-` headers and the data is the body. A header is text, so an
extension attribute that was an integer or a boolean arrives as a string; in everything else the
mode makes no difference to what an event matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, TypeAlias
from urllib.parse import quote, unquote_to_bytes

from fyke.errors import EventError, shown
from fyke.events import cloudevents, json
from fyke.events.cloudevents import MEDIA_TYPE, MEDIA_TYPE_BATCH, NO_DATA
from fyke.events.event import Event
from fyke.events.value import Scalar, format_timestamp
from fyke.limits import DEFAULT_LIMITS, Limits

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_UNQUOTED: Final = "".join(map(chr, range(0x21, 0x7F))).replace('"', "").replace("%", "")


def decode(headers: Headers, body: bytes, limits: Limits = DEFAULT_LIMITS) -> list[Event]:
    """Return the events of an HTTP message, in the mode that its content type announces."""
    plain = _lowered(headers)
    media_type = plain.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == MEDIA_TYPE_BATCH:
        return cloudevents.decode_batch(body, limits)
    if media_type in (MEDIA_TYPE, "application/cloudevents"):
        return [cloudevents.decode(body, limits)]
    if media_type.startswith("application/cloudevents"):
        expected = f"{MEDIA_TYPE} or {MEDIA_TYPE_BATCH}"
        raise EventError(f"cannot read the format {shown(media_type)}; expected {expected}")
    return [decode_binary(plain, body, limits)]


def decode_binary(headers: Headers, body: bytes, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Return the event of an HTTP message in binary mode: `ce-` headers, the data as the body."""
    plain = _lowered(headers)
    members = {
        name.removeprefix("ce-"): _from_header(name, value)
        for name, value in plain.items()
        if name.startswith("ce-")
    }
    for name in ("datacontenttype", "data", "data_base64"):
        if name in members:
            raise EventError("no ce- header: HTTP itself carries it", attribute=name)
    if "content-type" in plain:
        members["datacontenttype"] = plain["content-type"].strip()
    context = cloudevents.context_of(members)
    if not body:
        return Event(context, limits=limits)
    return cloudevents.with_bytes(context, bytes(body), limits)


def encode_binary(event: Event) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of an HTTP message in binary mode."""
    context, data = cloudevents.parts_of(event)
    content_type = context.pop("datacontenttype", None)
    if data is not NO_DATA and not isinstance(data, bytes):
        content_type = content_type or "application/json"
        data = (json.encode(data) if cloudevents.is_json(content_type) else str(data)).encode()
    headers = {f"ce-{name}": _to_header(value) for name, value in context.items()}
    if content_type is not None:
        headers["content-type"] = str(content_type)
    return headers, data if isinstance(data, bytes) else b""


def _lowered(headers: Headers) -> dict[str, str]:
    plain: dict[str, str] = {}
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        lower = name.lower()
        if lower in plain and (lower.startswith("ce-") or lower == "content-type"):
            raise EventError(f"the header {shown(lower)} occurs twice")
        plain[lower] = value
    return plain


def _from_header(name: str, value: str) -> str:
    value = value.strip(" \t")
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        value = re.sub(r"\\(.)", r"\1", quoted[1])
    try:
        return unquote_to_bytes(value).decode()
    except UnicodeError:
        raise EventError("not UTF-8 once percent-decoded", attribute=name[3:]) from None


def _to_header(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(format_timestamp(value) if isinstance(value, datetime) else str(value), _UNQUOTED)
