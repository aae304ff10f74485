"""Planning: which placement, from sizes and statistics, with a reason in one line.

    print(plan(events, subscriptions))
    split in 4 parts: 9,000,000 subscriptions are 1.1 GB, and a worker has room for 0.3 GB

The rules, in their order:

0. Subscriptions that are too many to be sent to every worker are split, and come as rows.
1. Subscriptions that were compiled for a placement get it.
2. What a worker's memory cannot hold is dealt out by value, where there is an attribute of which
   nearly all subscriptions need a value. Where a few attributes together are such, a first stage of
   what subscriptions say of them names the parts that an event is for (multistage), if it fits and
   names fewer parts than there are. Otherwise it is split.
3. Where a dialect's own interpreter decides most subscriptions, events are sifted first
   (multistage): those that need it may come in lumps, and to spread them costs little beside it.
4. Everything else is replicated.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from fyke.errors import FykeError, shown
from fyke.sizes import read_size
from fyke.spark.columns import need_columns, need_frame
from fyke.spark.placements.carried import Carried
from fyke.spark.placements.choice import (
    PARTS_MAX,
    Plan,
    buckets,
    check_choice,
    plan_as_asked,
    usefulness,
)
from fyke.spark.placements.layout import ByType
from fyke.spark.placements.memory import room_for_subscriptions
from fyke.spark.placements.placing import Placement
from fyke.spark.placements.preparing import prepare
from fyke.spark.placements.profiles import FirstStageProfile, Meeting, Profile, profile
from fyke.spark.placements.pruned import prepare_pruned
from fyke.spark.sessions.sizes import tasks
from fyke.spark.shipping.shipping import is_too_large, too_large
from fyke.spark.task import Task
from fyke.spark.versions.pinning import Subscriptions, pin_subscriptions
from fyke.spark.versions.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MEETING_SHARE: Final = 0.9
"""An attribute is worth dealing out by if this share of the subscriptions needs a value of it."""
LARGEST_SHARE: Final = 0.2
"""And if no value has a larger share of them."""
COPIES_SAVED: Final = 2
"""A first stage names a part for each attribute. It pays from this many times more parts on."""
SIFTED_SHARE: Final = 0.5
"""The share of costly subscriptions from which on sifting pays."""
AnyStages: TypeAlias = "Sequence[Sequence[str]] | Mapping[str, Sequence[Sequence[str]]] | DataFrame"
"""Attributes by stage, for all events or by type, or the table that statistics make of them."""
_log = logging.getLogger("fyke.spark")


def plan(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    placement: str = "auto",
    on: str | None = None,
    parts: int | None = None,
    memory: int | None = None,
    stages: AnyStages | None = None,
) -> Plan:
    """Return how `match` brings these events and subscriptions together, and why.

    `stages` are the attributes that filters keep at each stage, from all of them on, each part of
    those before: the last is the first stage of multistage. They may be given by type of event, or
    as the table that `statistics.stages` or `stages_by_type` returns. `memory` is what a worker has
    for subscriptions, in bytes; if it is not given, Spark's settings tell.
    """
    need_frame(events, "events")
    if memory is not None and (type(memory) is not int or memory < 1):
        raise FykeError(f"memory={shown(memory)}; expected a number of bytes")
    pin = pin_subscriptions(subscriptions)
    if stages is not None:
        return _staged(events, pin, placement, on, parts, memory, stages)
    return _planned(events, pin, placement, on, parts, memory)


def _staged(
    events: DataFrame,
    pin: Pin,
    placement: str,
    on: str | None,
    parts: int | None,
    memory: int | None,
    stages: AnyStages,
) -> Plan:
    """Return the plan with a first stage that somebody has chosen."""
    check_choice(placement, on, parts)
    if placement != "multistage" or events.isStreaming:
        raise FykeError("stages= is for placement='multistage', of events that are no stream")
    kept, by_type = _first_stages(stages)
    room = memory or room_for_subscriptions(events.sparkSession)
    needed = max(tasks(events.sparkSession), -(-profile(pin).size // room))
    count = parts or min(PARTS_MAX, needed)
    return Plan(placement, "as was asked for", parts=count, kept=kept, by_type=by_type)


def _first_stages(stages: AnyStages) -> tuple[tuple[str, ...], ByType]:
    """Return the attributes of the last stage, and those of types that have stages of their own."""
    if hasattr(stages, "collect"):
        stages = _stages_in(cast("DataFrame", stages))
    if not isinstance(stages, Mapping):
        return _last_stage(cast("Sequence[Sequence[str]]", stages), ""), ()
    if not stages:
        raise FykeError("stages={}; expected stages for one type of events or more")
    for name in stages:
        if not isinstance(name, str) or not name:
            raise FykeError(f"stages of {shown(name)}; expected the name of a type of events")
    kept = {name: _last_stage(each, f" of {name}") for name, each in sorted(stages.items())}
    if not any(kept.values()):
        raise FykeError("the last stages keep no attribute; all events of a type would meet")
    return (), tuple(kept.items())


def _stages_in(table: DataFrame) -> AnyStages:
    """Read the stages that statistics return as a table."""
    need_columns(table, {"stage": "int", "attributes": "array<string>"}, "stages")
    is_typed = "type" in table.columns
    found: dict[str, dict[int, Sequence[str]]] = {}
    for row in table.collect():
        found.setdefault(row["type"] if is_typed else "", {})[row["stage"]] = row["attributes"]
    by_type = {name: [each[at] for at in sorted(each)] for name, each in found.items()}
    return by_type if is_typed else by_type.get("", [])


def _last_stage(stages: Sequence[Sequence[str]], whose: str) -> tuple[str, ...]:
    """Return the attributes of the last stage; FykeError unless stages become smaller."""
    if isinstance(stages, str) or not isinstance(stages, Sequence) or len(stages) < 2:
        raise FykeError(f"stages{whose}={shown(stages)}; expected two lists of attributes or more")
    for at, names in enumerate(stages):
        is_list = isinstance(names, Sequence) and not isinstance(names, str)
        if not is_list or not all(isinstance(each, str) and each for each in names):
            raise FykeError(f"stage {at}{whose} is {shown(names)}; expected a list of attributes")
        more = [each for each in names if at and each not in stages[at - 1]]
        if more:
            raise FykeError(
                f"stage {at}{whose} keeps {more[0]}, which stage {at - 1} does not; expected each "
                "stage to keep part of what the one before keeps"
            )
    if not stages[-1] and not whose:
        raise FykeError("the last stage keeps no attribute; all events would go to one part")
    return tuple(dict.fromkeys(stages[-1]))


def prepare_placement(
    events: DataFrame,
    task: Task,
    placement: str | Plan,
    on: str | None,
    parts: int | None,
    memory: int | str | None = None,
) -> Placement:
    """Prepare the placement of a task, with its subscriptions laid out."""
    if memory is not None:
        return _pruned(events, task, placement, parts, read_size(memory, needs_unit=True))
    if isinstance(placement, Plan):
        if on is not None or parts is not None:
            raise FykeError("a plan says on= and parts= itself")
        chosen = placement
    else:
        chosen = _planned(events, task.pin, placement, on, parts, None)
        _log.info("%s", chosen)
    if chosen.is_carried:
        return Carried(task.pin, -(-tasks(events.sparkSession) // len(task.pin.parts)))
    first = chosen.first_stage
    return prepare(chosen.placement, chosen.on, chosen.parts, task.pin, events.sparkSession, first)


def _pruned(
    events: DataFrame, task: Task, placement: str | Plan, parts: int | None, memory: int
) -> Placement:
    """Prepare a first stage that fits in `memory` bytes, and shards of the originals."""
    if placement != "multistage" or events.isStreaming:
        raise FykeError("memory= is for placement='multistage', of events that are no stream")
    check_choice(placement, None, parts)
    if memory < 1:
        raise FykeError(f"memory={memory}; expected a number of bytes from 1 on")
    needed = -(-profile(task.pin).size // memory)
    count = parts or min(PARTS_MAX, max(tasks(events.sparkSession), needed))
    return prepare_pruned(events, task, memory, count)


def _planned(
    events: DataFrame,
    pin: Pin,
    placement: str,
    on: str | None,
    parts: int | None,
    room: int | None,
) -> Plan:
    check_choice(placement, on, parts)
    if events.isStreaming:
        if placement not in ("auto", "replicate"):
            raise FykeError(
                f"a stream cannot be placed by {placement}; match its batches, as match_stream does"
            )
        return Plan("replicate", "the events are a stream, which stays where it is")
    session = events.sparkSession
    if placement in ("auto", "split") and is_too_large(pin, session):
        return Plan(
            "split", f"{too_large(pin)} and come as rows", parts=len(pin.parts), is_carried=True
        )
    if placement == "auto":
        return _chosen(pin, on, parts, tasks(session), room or room_for_subscriptions(session))
    return plan_as_asked(pin, placement, on, parts, tasks(session))


def _chosen(pin: Pin, on: str | None, parts: int | None, tasks: int, room: int) -> Plan:
    layout = pin.layout
    if layout is not None and on in (None, layout.on):
        count = len(layout.parts) - 1 if layout.placement == "rendezvous" else len(layout.parts)
        return Plan(layout.placement, "the subscriptions were compiled for it", layout.on, count)
    found = profile(pin)
    meeting = _meeting(found, on)
    held = f"{found.subscriptions:,} subscriptions are {_megabytes(found.size)}"
    if found.size > room:
        needed = min(PARTS_MAX, max(tasks, -(-found.size // room)))
        beyond = f"{held}, and a worker has room for {_megabytes(room)}"
        if meeting is not None:
            count = parts or max(needed, buckets(tasks))
            return Plan("rendezvous", f"{beyond}; {_told_of(meeting)}", meeting.on, count)
        count = parts or needed
        first = _first_stage(found, room, count) if on is None else None
        if first is not None:
            kept = ", ".join(first.kept)
            why = f"{beyond}; {first.share:.0%} of them need a value of {kept}"
            return Plan("multistage", why, parts=count, kept=first.kept)
        return Plan("split", beyond, parts=count)
    if found.sifted >= SIFTED_SHARE:
        why = f"an interpreter decides {found.sifted:.0%} of {found.subscriptions:,} subscriptions"
        return Plan("multistage", why)
    return Plan("replicate", f"{held}, which every worker can map")


def _first_stage(found: Profile, room: int, parts: int) -> FirstStageProfile | None:
    """Return the attributes of a first stage, if it is small and names few of the parts."""
    good = [
        each
        for each in found.first_stages
        if each.share >= MEETING_SHARE
        and each.largest <= LARGEST_SHARE
        and COPIES_SAVED * len(each.kept) <= parts
        and found.size * each.largest <= room
        and each.size <= room
    ]
    return next(iter(good), None)


def _meeting(found: Profile, on: str | None) -> Meeting | None:
    """Return the attribute to meet on, the named one or the best, if one is good enough."""
    good = [
        each
        for each in found.meetings
        if on in (None, each.on) and each.share >= MEETING_SHARE and each.largest <= LARGEST_SHARE
    ]
    return max(good, key=usefulness, default=None)


def _told_of(meeting: Meeting) -> str:
    return f"{meeting.share:.0%} of them need one of {meeting.values:,} values or more"


def _megabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
