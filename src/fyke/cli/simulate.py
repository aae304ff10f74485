"""`fyke simulate`: strategies side by side, on an overlay under a virtual clock."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from fyke.assembly import PEERS, STRATEGIES, assemble
from fyke.cli.options import Switch
from fyke.cli.writing.comparison import agree, beyond, comparison, extra, stages
from fyke.cli.writing.listing import show_rows
from fyke.cli.writing.output import console, counted, write_line
from fyke.cli.writing.problems import Unusable, complain
from fyke.cli.writing.progress import counting
from fyke.errors import FykeError, shown
from fyke.events.json import encode
from fyke.matching.engines.registry import ENGINES
from fyke.overlay.named import OVERLAYS, named
from fyke.overlay.overlay_file import OverlayFile, read
from fyke.routing.summaries.parameters import SummaryParameters
from fyke.section import Section
from fyke.simulation import faults as schedules
from fyke.simulation.network import Network
from fyke.simulation.scenario import Scenario
from fyke.sizes import read_size
from fyke.traces.metrics import Meter
from fyke.traces.summary import RunSummary
from fyke.traces.trace import Record
from fyke.traces.trace_file import TraceFile
from fyke.workloads.named import WORKLOADS, workload

USUAL: Final = ("event_forwarding", "subscription_forwarding", "rendezvous")
SCANNED_MAX: Final = 1_000
"""Subscriptions for which no broker needs an index."""
WORKLOAD: Final = "stock"
BOXES: Final = "boxes"
"""The workload of peers."""
PICTURE: Final = "overlay.png"
SUMMARIES: Final = "summary.jsonl"

app = App(
    name="simulate",
    help_epilogue="""\
Examples
  fyke simulate
  fyke simulate --overlay random_tree --brokers 100 --events 5000 --out results
  fyke simulate --overlay das_bus --strategy rendezvous --strategy pf8
  fyke simulate --strategy pf8 --subscriptions 2000 --memory 500kB
  fyke simulate --overlay cwix --strategy summaries --summaries mode=exact --summaries budget=4kB
  fyke simulate --strategy sub2sub --cycles 40 --subscriptions 1000 --events 500
  fyke simulate overlay.toml --strategy pf8 --faults faults.toml --trace t.jsonl

A topology file
  links = [["a", "b"], { between = ["b", "c"], latency_s = 0.05, loss = 0.1 }]
  network = { latency_s = 0.001, bandwidth = 1e6 }     for all other links
  rendezvous = { Stock = "b", "*" = "a" }
  clients = { alice = "a", carl = "c" }
  stages = { Stock = [["symbol", "price"], ["symbol"], []] }     of multistage, from stage 0
  placement = "similarity"     of multistage; or edge, random, or locality, the default
  lease_s = 60     of multistage: what is not renewed ends
  summaries = { budget = "64 kB", neighbours = 2 }     of summaries: as for --summaries

Brokers that send summaries, --summaries
  mode=exact        ends of ranges and all patterns are kept; or coarse
  budget=4kB        what a broker holds fits in it, with wider rows
  period_s=0.5      seconds from one phase of sending to the next
  choice=nearest    who is searched next; or least_loaded, highest_degree
  neighbours=2      greater neighbours that a broker sends to
  degree_max=3      no broker looks greater: spreads searches
  subsumes=true     what another of a broker's own covers is left out

A file of faults; times are seconds from the first event
  faults = [{ at = 0.5, cut = ["a", "b"] }, { at = 1, heal = ["a", "b"] }]
  also crash and restart = ["c"], part and join = ["a", "b"]

The same seed gives the same numbers, and the same trace, byte for byte.
""",
)

Count = Annotated[int, Parameter(metavar="N", validator=Number(gte=0))]
Seconds = Annotated[float | None, Parameter(metavar="SECONDS", validator=Number(gte=0))]
Share = Annotated[float | None, Parameter(metavar="SHARE", validator=Number(gte=0, lt=1))]
FileName = Annotated[str | None, Parameter(metavar="FILE")]


@app.default
def simulate(
    topology: Annotated[str | None, Parameter(name="TOPOLOGY")] = None,
    /,
    *,
    overlay: Annotated[str | None, Parameter(metavar="NAME", choices=OVERLAYS)] = None,
    brokers: Annotated[int | None, Parameter(metavar="N", validator=Number(gte=1))] = None,
    strategy: Annotated[
        tuple[str, ...], Parameter(metavar="NAME", choices=(*STRATEGIES, PEERS), negative=())
    ] = tuple(name for name in USUAL if name in STRATEGIES),
    workload_name: Annotated[
        str, Parameter(name="--workload", metavar="NAME", choices=tuple(WORKLOADS))
    ] = WORKLOAD,
    subscriptions: Count = 300,
    events: Count = 1_000,
    cycles: Annotated[int, Parameter(metavar="N", validator=Number(gte=1))] = 40,
    rate: Annotated[float, Parameter(metavar="N", validator=Number(gt=0))] = 1_000,
    seed: Annotated[int, Parameter(metavar="N", validator=Number(gte=0))] = 0,
    faults: FileName = None,
    latency: Seconds = None,
    bandwidth: Annotated[float | None, Parameter(metavar="BYTES", validator=Number(gt=0))] = None,
    loss: Share = None,
    duplication: Share = None,
    memory: Annotated[str | None, Parameter(metavar="SIZE")] = None,
    summaries: Annotated[
        tuple[str, ...], Parameter(metavar="NAME=VALUE", negative=(), show_default=False)
    ] = (),
    engine: Annotated[
        str | None, Parameter(metavar="NAME", choices=tuple(ENGINES), show_default=False)
    ] = None,
    out: Annotated[str | None, Parameter(metavar="DIR")] = None,
    trace: FileName = None,
    json: Switch = False,
) -> int:
    """Let brokers route a workload through an overlay, and compare what it takes.

    Parameters
    ----------
    topology
        The overlay, as TOML.
    overlay
        An overlay made here instead; tree, if nothing is said.
    brokers
        How many it has.
    strategy
        How subscriptions and events travel. May be repeated: a column each.
    workload_name
        What is subscribed to and published.
    subscriptions
        Subscriptions, at random clients.
    events
        Events, from random clients, once the subscriptions have settled.
    cycles
        Cycles of gossip before the first event, for sub2sub: there each subscription is a peer.
    rate
        Events a second, of the overlay's own time.
    seed
        Another seed is another workload, another random overlay and other clients.
    faults
        What breaks when, as TOML.
    latency
        Of a link; 0.001 if nothing is said.
    bandwidth
        Of a link, a second; unlimited if nothing is said.
    loss
        The share of frames that links have to send again.
    duplication
        The share of frames that come twice.
    memory
        What the tables of a broker may take, such as 2MB; beyond it, brokers prune what they filter
        for others. Each strategy is run without a limit as well.
    summaries
        How brokers that send summaries work: mode (coarse, exact), budget, period_s, choice
        (highest_degree, nearest, least_loaded), degree_max, neighbours, subsumes. May be repeated.
    engine
        How brokers search; all find the same.
    out
        A folder for the summaries and a picture of the overlay with its traffic.
    trace
        A file for all that happened, a JSON line each; for one strategy.
    json
        The summaries as JSON lines, instead of a table.
    """
    if trace is not None and len(strategy) != 1:
        raise Unusable("--trace writes the trace of one strategy; give one --strategy")
    if PEERS in strategy:
        others = [topology, overlay, brokers, faults, latency, bandwidth, duplication, memory]
        others += [engine, out, *summaries]
        if strategy != (PEERS,) or any(each is not None for each in others):
            raise Unusable(f"{PEERS} has no brokers; it takes subscriptions, events, cycles, seed,"
                           " loss, trace and json, and no other strategy")  # fmt: skip
        if workload_name not in (WORKLOAD, BOXES):
            raise Unusable(f"{PEERS} has the workload {BOXES}; expected no other one")
        return _peers(subscriptions, cycles, events, seed, loss, trace, json)
    place = _overlay(topology, overlay, brokers, seed)
    if summaries:
        place = replace(place, summaries=_settings(summaries))
    sending = None if place.summaries is None else SummaryParameters.read(place.summaries)
    said = {"latency_s": latency, "bandwidth": bandwidth, "loss": loss, "duplication": duplication}
    scenario = Scenario(
        place.topology,
        workload(workload_name, seed),
        subscriptions,
        events,
        seed,
        rate,
        _network(place, said),
        place.clients,
        () if faults is None else schedules.read(faults),
    )
    folder = None if out is None else _folder(out)
    limit = None if memory is None else _bytes(memory)
    runs: dict[str, RunSummary] = {}
    for name in dict.fromkeys(strategy):
        kept = trace if limit is None else None
        runs[name] = _run(name, scenario, place, sending, engine, kept)
        if limit is not None:
            runs[f"{name}, {memory}"] = _run(name, scenario, place, sending, engine, trace, limit)
    if json:
        for document in _documents(runs):
            write_line(document)
    else:
        _show(runs, scenario)
        if limit is not None:
            _show_pruned(runs, memory or "", limit)
    if folder is not None:
        _leave(folder, runs, scenario)
    return 0


def _peers(
    peers: int, cycles: int, events: int, seed: int, loss: float | None, trace: str | None,
    json: bool,
) -> int:  # fmt: skip
    from fyke.cli.peers import play, show

    network = Network(latency_s=0.0, straight_loss=loss or 0.0)
    with ExitStack() as stack:
        file = None if trace is None else stack.enter_context(TraceFile(trace))
        write = None if file is None else file.write
        outcome, *_ = play(peers, cycles, events, seed, network, write)
    show(outcome, peers, seed, json)
    return 0


# --- what is simulated ----------------------------------------------------------------------------


def _overlay(file: str | None, name: str | None, brokers: int | None, seed: int) -> OverlayFile:
    if file is None:
        return OverlayFile(named(name or "tree", brokers, seed))
    if name is not None or brokers is not None:
        raise Unusable("the overlay comes from TOPOLOGY, or from --overlay and --brokers; not both")
    return read(file)


def _network(place: OverlayFile, said: Mapping[str, float | None]) -> Network:
    """Return the network: options win over what the file says of all links, not of single ones."""
    typed = {name: value for name, value in said.items() if value is not None}
    return Network(**{**place.network, **typed}, links=place.links)


def _run(
    strategy: str,
    scenario: Scenario,
    place: OverlayFile,
    summaries: SummaryParameters | None,
    engine: str | None,
    trace: str | None,
    memory: int | None = None,
) -> RunSummary:
    rendezvous = {"": place.topology.center(), **place.rendezvous}
    engine = engine or ("scan" if scenario.subscriptions <= SCANNED_MAX else "compiled")
    system = assemble(
        strategy,
        place.topology,
        rendezvous=rendezvous,
        engine=engine,
        stages=place.stages,
        placement=place.placement,
        lease_s=place.lease_s,
        memory=memory,
        summaries=summaries,
    )
    meter = Meter(place.topology)
    with ExitStack() as stack:
        write = meter.add
        if trace is not None:
            file = stack.enter_context(TraceFile(trace))

            def write(record: Record) -> None:
                meter.add(record)
                file.write(record)

        scenario.play(
            system.make,
            system.codec,
            write,
            lambda them, what: counting(them, f"{strategy}, {what}"),
        )
    return meter.summary()


def _settings(typed: Iterable[str]) -> Section:
    """Return what was typed as NAME=VALUE; a value is read as TOML, or else a text."""
    found: dict[str, object] = {}
    for each in typed:
        name, equals, value = each.partition("=")
        if not equals or name in found:
            raise Unusable(f"--summaries {shown(each)}; expected NAME=VALUE, each name once")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return Section("--summaries", "", found)


def _bytes(memory: str) -> int:
    try:
        size = read_size(memory)
    except FykeError as refused:
        raise Unusable(f"--memory: {refused}") from None
    if not size:
        raise Unusable("--memory: 0 bytes; expected more, as in 2MB")
    return size


# --- what comes out -------------------------------------------------------------------------------


def _documents(runs: Mapping[str, RunSummary]) -> Iterator[dict[str, object]]:
    for strategy, summary in runs.items():
        yield {"strategy": strategy, **summary.document()}


def _show(runs: Mapping[str, RunSummary], scenario: Scenario) -> None:
    screen = console()
    told = [
        counted(len(scenario.topology.brokers), "broker"),
        f"{scenario.workload.name}, seed {scenario.seed}",
        counted(scenario.subscriptions, "subscription"),
        counted(scenario.events, "event"),
    ]
    screen.print(", ".join(told), style="bold")
    show_rows(screen, comparison(runs), right=range(1, 1 + len(runs)))
    for strategy, run in runs.items():
        if rows := stages(run):
            screen.print(f"\n{strategy}, stage by stage", style="bold")
            show_rows(screen, rows, right=range(7))
    if not scenario.faults and not agree(runs):
        complain("the strategies did not deliver the same")


def _show_pruned(runs: Mapping[str, RunSummary], memory: str, limit: int) -> None:
    """Say over which links more events went because of pruning, and where the limit is passed."""
    screen = console()
    for strategy, run in runs.items():
        pruned = runs.get(f"{strategy}, {memory}")
        if pruned is not None and (rows := extra(run, pruned)):
            screen.print(f"\n{strategy}, messages because of pruning", style="bold")
            show_rows(screen, rows, right=(1, 2))
        if pruned is not None and (passed := beyond(pruned, limit)):
            complain(f"{strategy}, {memory}: {passed}")


# --- what is left behind --------------------------------------------------------------------------


def _folder(out: str) -> Path:
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as refused:
        raise Unusable(f"{out}: {getattr(refused, 'strerror', None) or refused}") from None
    return Path(out)


def _leave(folder: Path, runs: Mapping[str, RunSummary], scenario: Scenario) -> None:
    from fyke.traces.picture import draw

    lines = "".join(f"{encode(document)}\n" for document in _documents(runs))
    try:
        (folder / SUMMARIES).write_text(lines, encoding="utf-8")
    except OSError as refused:
        raise Unusable(f"{folder / SUMMARIES}: {refused.strerror or refused}") from None
    try:
        draw(scenario.topology, runs, folder / PICTURE)
    except FykeError as refused:
        complain(str(refused))
