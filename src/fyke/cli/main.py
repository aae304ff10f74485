"""The command `fyke`: one file per command, each loaded only when it is called.

Exit codes are grep's: 0 found, 1 found nothing, 2 something could not be read. What a person typed
or a file holds never ends in a traceback; `main` turns what escapes the commands into a sentence on
stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from cyclopts import App, CycloptsError, UnknownCommandError, UnusedCliTokensError

from fyke.cli.writing.problems import complain
from fyke.errors import FykeError, shown

UNREADABLE: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""The exit code that a shell reports for a process that SIGPIPE ended, as `head` ends grep."""

_COMMANDS: Final = {
    "match": "Which subscriptions accept which events: a grep for events.",
    "explain": "Why a filter accepts or refuses an event.",
    "lint": "What is wrong, redundant or expensive in a set of subscriptions.",
    "prune": "A smaller set of subscriptions that covers the original one.",
    "summarise": "A small thing that never says no to an event that somebody wants.",
    "simulate": "Strategies side by side, on an overlay of brokers under a virtual clock.",
    "pipeline": "From events to notifications and a report, on Spark.",
    "spark": "Is a cluster fit to match on? What every executor has.",
    "reproduce": "The figures and claims of a paper, made again.",
    "warm": "Compile the matching engine now; otherwise that happens in the background.",
    "completion": "What a shell needs to complete commands and options.",
    "demo": "Match a generated stock-and-auction workload, and show what happened.",
}

_HELP: Final = "Standing queries over a stream of events."

_EPILOGUE: Final = """\
Examples
  fyke match -e 'price < 10' events.jsonl
  fyke explain "price < 10 and symbol = 'A'" '{"price": 8.4}'
  fyke lint subscriptions.jsonl
  fyke COMMAND --help       more examples of each command
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = application()(arguments, result_action="return_value")
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CycloptsError as refused:
        complain(_usage(refused, arguments))
    except FykeError as refused:
        complain(str(refused))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as refused:
        _drop_output()
        complain(f"cannot write the output: {refused.strerror or refused}")
    return UNREADABLE


def application() -> App:
    """Return the command with its commands, which are loaded when they are called."""
    app = App(
        name="fyke",
        help=_HELP,
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        group_parameters="Options",
        version=_version,
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for order, (name, summary) in enumerate(_COMMANDS.items()):
        app.command(f"fyke.cli.{name}:app", name=name, help=summary, sort_key=order)
    return app


def _version() -> str:
    try:
        return f"fyke {version('fyke')}"
    except PackageNotFoundError:
        return "fyke, not installed"


def _usage(refused: CycloptsError, arguments: Sequence[str]) -> str:
    command = " ".join(["fyke", *(name for name in arguments[:1] if name in _COMMANDS)])
    match refused:
        case UnknownCommandError() if arguments[0] in _COMMANDS:
            problem = f"unknown command {shown(' '.join(arguments[:2]))}"
        case UnknownCommandError():  # its own sentence would load every command
            problem = f"unknown command {shown(arguments[0])}; expected {', '.join(_COMMANDS)}"
        case UnusedCliTokensError(unused_tokens=[first, *_]):
            problem = f"unexpected argument {shown(first)}"
        case _:
            problem = str(refused)
    return f"{problem}\nTry: {command} --help"


def _drop_output() -> None:
    """Let the interpreter flush into nothing on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
