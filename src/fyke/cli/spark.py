"""`fyke spark`: is a cluster fit to match on?"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from rich.text import Text

from fyke.cli.options import Switch
from fyke.cli.writing.listing import heading, show_rows
from fyke.cli.writing.output import console, counted
from fyke.cli.writing.problems import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fyke.spark.sessions.doctor import Examination

ADVISED: Final = 1

app = App(
    name="spark",
    group_parameters="Options",
    help_epilogue="""\
Examples
  fyke spark doctor --master spark://host:7077
  fyke spark doctor --master spark://host:7077 --folder /shared/fyke
  fyke spark doctor --remote sc://host:15002 --ship
""",
)

Named = Annotated[str | None, Parameter(metavar="NAME")]


@app.command
def doctor(
    *,
    master: Named = None,
    remote: Named = None,
    folder: Annotated[tuple[str, ...], Parameter(metavar="DIR", negative="")] = (),
    conf: Annotated[tuple[str, ...], Parameter(metavar="KEY=VALUE", negative="")] = (),
    ship: Switch = False,
) -> int:
    """Run a small job on every executor: versions, visible folders, kernels, memory.

    Exit code 0: all is well; 1: something should be changed, and it says what; 2: no Spark.

    Parameters
    ----------
    master
        Where Spark runs: local[2], or the address of a cluster.
    remote
        The address of a Spark Connect server, sc://host:15002.
    folder
        Does every worker see this folder of the driver's? May be given several times.
    conf
        A setting of Spark's, such as spark.executor.memory=4g. May be given several times.
    ship
        Send this package to the workers first.
    """
    from fyke import spark
    from fyke.cli.writing.problems import Unusable
    from fyke.spark.sessions.doctor import examine

    logging.getLogger().addHandler(logging.NullHandler())
    settings = dict(each.partition("=")[::2] for each in conf)
    if "" in settings.values():
        raise Unusable("--conf takes a setting as KEY=VALUE")
    session = spark.session(
        master=master, remote=remote, name="fyke doctor", conf=settings, logs="off", ship=ship
    )
    try:
        found = examine(session, [Path(each).absolute() for each in folder])
    finally:
        session.stop()
    screen = console()
    show_rows(screen, _rows(found), right=[5])
    screen.print(f"\n{counted(found.cores, 'core')} at a time", soft_wrap=True)
    for sentence in found.advice:
        complain(sentence)
    return ADVISED if found.advice else 0


def _rows(found: Examination) -> Iterator[list[Text]]:
    yield heading("worker", "fyke", "numba", "pyarrow", "kernels", "memory", "sees", "python")
    for each in found.executors:
        seen = [folder for folder, is_seen in each.sees.items() if is_seen]
        cells = (
            each.host,
            each.versions["fyke"] or "none",
            each.versions["numba"] or "none",
            each.versions["pyarrow"] or "none",
            found.kernels_of(each),
            f"{each.memory / 1e9:.1f} GB",
            ", ".join(seen) or "-",
            each.python,
        )
        yield [Text(cell) for cell in cells]
