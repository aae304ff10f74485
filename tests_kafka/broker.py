"""A Kafka of one node on this machine: free ports of the loopback, its data in a folder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests_kafka.jars import jars, java

_START_S_MAX: Final = 120
_TOOL_S_MAX: Final = 120
_CLUSTER: Final = "ZnlrZS1zaW5nbGUtbm9kZQ"  # any 16 bytes in base 64
_QUIET: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
_SETTINGS: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


@dataclass(frozen=True, slots=True)
class Message:
    partition: int
    offset: int
    headers: dict[str, str]
    key: str
    value: Any


@dataclass(slots=True)
class Broker:
    folder: Path
    port: int
    controller: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def format(self) -> None:
        said = _SETTINGS.format(port=self.port, controller=self.controller, folder=self.folder)
        self.settings.write_text(said, "utf-8")
        tool("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(self.settings))

    @property
    def settings(self) -> Path:
        return self.folder / "server.properties"

    def start(self) -> None:
        with (self.folder / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(
                [java(), "-Xmx512m", "-cp", class_path(), "kafka.Kafka", self.settings],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        self._await_answer()

    def _await_answer(self) -> None:
        end = time.monotonic() + _START_S_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process is not None and self.process.poll() is None, self.log()
                assert time.monotonic() < end, self.log()
                time.sleep(0.1)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(60)
            self.process = None

    def log(self) -> str:
        return (self.folder / "broker.log").read_text("utf-8", "replace")[-4000:]

    def create(self, topic: str, partitions: int = 2) -> None:
        made = ("--create", "--topic", topic, "--partitions", str(partitions))
        tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.servers, *made)

    def messages(self, topic: str) -> list[Message]:
        """All messages of a topic, as Kafka's own consumer gets them."""
        here = ("--bootstrap-server", self.servers, "--topic", topic)
        ends = tool("org.apache.kafka.tools.GetOffsetShell", *here)
        count = sum(int(line.rsplit(":", 1)[1]) for line in ends.splitlines())
        if count == 0:
            return []
        shown = ("partition", "offset", "headers", "key", "value")
        said = tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *(*here, "--from-beginning", "--max-messages", str(count)),
            *("--timeout-ms", str(_TOOL_S_MAX * 1000 // 2)),
            *(each for name in shown for each in ("--formatter-property", f"print.{name}=true")),
        )
        found = [_message(line) for line in said.splitlines()]
        assert len(found) == count
        return found


def _message(line: str) -> Message:
    partition, offset, headers, key, value = line.split("\t")
    pairs = headers.removeprefix("NO_HEADERS").split(",")
    return Message(
        partition=int(partition.removeprefix("Partition:")),
        offset=int(offset.removeprefix("Offset:")),
        headers=dict(pair.split(":", 1) for pair in pairs if pair),
        key=key,
        value=json.loads(value),
    )


def class_path() -> str:
    return os.pathsep.join(map(str, jars("broker")))


def tool(name: str, *arguments: str) -> str:
    """What a command of Kafka's prints."""
    done = subprocess.run(
        [java(), "-Xmx256m", _QUIET, "-cp", class_path(), name, *arguments],
        capture_output=True,
        text=True,
        timeout=_TOOL_S_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def running(folder: Path) -> Iterator[Broker]:
    port, controller = _free_ports(2)
    broker = Broker(folder, port, controller)
    broker.format()
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
