"""A standalone cluster on this machine whose members share nothing.

Idea. The Spark that PySpark brings has a master and workers. Each runs in namespaces of its own
(`unshare`): its temporary folder, its HOME and its caches are private, so that a path of the
driver's means another folder there, or none. Killing a member kills all that it started, as a cut
of power would: its processes have a namespace of their own, too.

    with Cluster(folder) as cluster:
        cluster.add_worker()
        session = fyke.spark.session(master=cluster.master, conf=cluster.conf)

What stays visible: the interpreter with its libraries, Java, the sources of this package (under
another path if that is asked for), and the folders that are named as shared.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import pyspark

from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import kernel_cache
from fyke.spark.sessions.java import java_home

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ROOT / "src"
SPARK: Final = Path(pyspark.__file__).parent
_START_S_MAX: Final = 600
_SILENT_S_MAX: Final = 600
"""Who is killed is missed at once, as its connections end; who is only slow is waited for."""
_BRIEF: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For processes that live for a minute: compiling well would take longer than it saves."""
_BOUND: Final = ("setpriv", "--pdeathsig", "KILL")
"""A member ends with whoever started it, however that went."""
_ALONE: Final = ("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")


def missing() -> str | None:
    """Why there can be no cluster on this machine; None where there can be one."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "a cluster that shares nothing needs Linux, and the program unshare"
    tried = subprocess.run([*_alone(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"this machine does not let us make namespaces: {tried.stderr.strip()}"
    return None


@cache
def _alone() -> tuple[str, ...]:
    """The command that runs another one with namespaces of its own."""
    return _ALONE if os.getuid() == 0 else (*_ALONE, "--user", "--map-root-user")


@dataclass(slots=True)
class Member:
    """A process of Spark's in namespaces of its own."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """Ends the member and all that it started, at once."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    @property
    def caches(self) -> Path:
        """The folder for caches of its user."""
        return self.folder / "home" / ".cache"

    def outputs(self, application: str = "app-*") -> list[Path]:
        """What its executors, or those of one application, wrote to their error streams."""
        return sorted((self.folder / "tmp" / "work").glob(f"{application}/*/stderr"))

    def arrived(self, name: str) -> Path:
        """Where an executor has an artifact that was sent to it."""
        for root, folders, files in os.walk(self.folder / "tmp"):  # some go away meanwhile
            if name in folders or name in files:
                return Path(root, name)
        raise FileNotFoundError(f"{self.name} has no {name}")

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")


@dataclass(slots=True)
class Cluster:
    """A master and its workers; `shared` are folders that all see, as the driver does.

    A `brief` one starts quickly and works slowly.
    """

    folder: Path
    shared: tuple[Path, ...] = ()
    brief: bool = False
    members: list[Member] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Cluster:
        self.port = free_port()
        where = ("--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        command = [str(SPARK / "bin" / "spark-class"), "org.apache.spark.deploy.master.Master"]
        self._start("master", [*command, *where], {})
        await_port(self.port, self.members[0])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for member in reversed(self.members):
            member.kill()

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def conf(self) -> dict[str, object]:
        """What a driver on this machine has to say; two of them find room at the same time."""
        conf: dict[str, object] = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": False,
            "spark.executor.memory": "768m",
            "spark.cores.max": 2,
            "spark.scheduler.minRegisteredResourcesRatio": 1.0,  # jobs wait for both executors
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
            "spark.network.timeout": f"{_SILENT_S_MAX}s",
        }
        if self.brief:
            for each in ("driver", "executor"):
                conf[f"spark.{each}.extraJavaOptions"] = _BRIEF
        return conf

    @property
    def workers(self) -> list[Member]:
        return [each for each in self.members if each.name.startswith("worker")]

    @property
    def living(self) -> list[Member]:
        """The workers that were not killed."""
        return [each for each in self.workers if each.process.poll() is None]

    def add_worker(
        self,
        *,
        cores: int = 2,
        package: str | None = "here",
        warm: bool = True,
        disk: str | None = None,
        cpu: int | None = None,
        **variables: str,
    ) -> Member:
        """Start a worker and wait until the master knows it.

        `package` says where it has Fyke: `here`, under the path that the driver has; `elsewhere`;
        or nowhere (None). A `warm` one has the compiled kernels in its cache. `disk` is the size of
        what Python has for temporary files, and for copies of snapshots, as in "1m". With `cpu` all
        that it starts has this one processor of the machine, as if the worker had no other.
        """
        name = f"worker-{len(self.workers) + 1}"
        where = ("--host", f"127.0.0.{len(self.workers) + 2}", "--webui-port", "0")
        sizes = ("--cores", str(cores), "--memory", "2g", "--work-dir", "/tmp/work")
        bound = [] if cpu is None else ["taskset", "--cpu-list", str(cpu)]
        worker = "org.apache.spark.deploy.worker.Worker"
        command = [*bound, str(SPARK / "bin" / "spark-class"), worker]
        made = self._start(
            name,
            [*command, *where, *sizes, self.master],
            variables,
            package=package,
            warm=warm,
            disk=disk,
        )
        await_line("Successfully registered with master", made)
        return made

    def add_server(self, **conf: str) -> tuple[Member, str]:
        """Starts a Spark Connect server, a driver in namespaces of its own; also its address."""
        port = free_port()
        settings = {
            **{key: str(value).lower() for key, value in self.conf.items()},
            "spark.connect.grpc.binding.port": str(port),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            **conf,
        }
        told = [each for key, value in settings.items() for each in ("--conf", f"{key}={value}")]
        command = [str(SPARK / "bin" / "spark-submit"), "--master", self.master, *told]
        service = "org.apache.spark.sql.connect.service.SparkConnectServer"
        name = f"server-{port}"
        made = self._start(name, [*command, "--class", service, "spark-internal"], {})
        await_port(port, made)
        return made, f"sc://127.0.0.1:{port}"

    def _start(
        self,
        name: str,
        command: list[str],
        variables: dict[str, str],
        *,
        package: str | None = "here",
        warm: bool = True,
        disk: str | None = None,
    ) -> Member:
        folder = self.folder / name
        for part in ("home/.cache/fyke", "tmp"):
            (folder / part).mkdir(parents=True)
        if warm and (kernels := kernel_cache(MODE)):
            shutil.copytree(kernels, folder / "home/.cache/fyke" / kernels.name)
        sources = SOURCES if package == "here" else Path("/tmp/elsewhere")
        kept = {sources: SOURCES} if package is not None else {}
        for each in (Path(sys.prefix), Path(sys.base_prefix), java_home(), *self.shared):
            kept |= {each: each, each.resolve(): each.resolve()}
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(Path.home()),
            "JAVA_HOME": str(java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_MASTER_OPTS": f"-Dspark.worker.timeout={_SILENT_S_MAX}",
            **({"SPARK_DAEMON_JAVA_OPTS": _BRIEF} if self.brief else {}),
            **({"PYTHONPATH": str(sources)} if package is not None else {}),
            **({"TMPDIR": "/tmp/small"} if disk is not None else {}),
            **variables,
        }
        script = folder / "start.sh"
        hidden = _files_of_package() if package is None else []
        small = [folder / "tmp/small", folder / "home/.cache/fyke/snapshots"] if disk else []
        disks = dict.fromkeys(small, disk or "")
        script.write_text(_script(name, folder, kept, hidden, disks, command), "utf-8")
        with (folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*_BOUND, *_alone(), "sh", "-e", str(script)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
            )
        made = Member(name, folder, process)
        self.members.append(made)
        return made


def _script(
    name: str,
    folder: Path,
    kept: dict[Path, Path],
    hidden: Iterable[Path],
    disks: dict[Path, str],
    command: list[str],
) -> str:
    """Mount a private folder over each that is not shared, with what is kept in it again.

    The new folders are put together beside the old ones, which stay visible until the last step.
    `kept` says for each path to be seen which folder that is outside; `disks` are the folders that
    are disks of their own, and their sizes.
    """
    places = {Path(tempfile.gettempdir()).resolve(): "tmp", Path("/tmp"): "tmp"}
    places[Path.home().resolve()] = "home"
    lines = [f"hostname {name} || true"]
    lines += [f"mount --bind /dev/null {_quoted(file)}" for file in hidden]
    for each, size in disks.items():
        lines.append(f"mkdir -p {_quoted(each)}")
        lines.append(f"mount -t tmpfs -o size={size} tmpfs {_quoted(each)}")
    for new, old in kept.items():
        for place, part in places.items():
            if new.is_relative_to(place):
                stage = folder / part / new.relative_to(place)
                lines.append(f"mkdir -p {_quoted(stage)}")
                lines.append(f"mount --rbind {_quoted(old)} {_quoted(stage)}")
    for place in sorted(places, key=folder.is_relative_to):  # what hides this folder comes last
        lines.append(f"mount --rbind {_quoted(folder / places[place])} {_quoted(place)}")
    lines.append(f"exec {shlex.join(command)}")
    return "\n".join(lines) + "\n"


def _files_of_package() -> list[Path]:
    """What makes the interpreter find an installation of this package that is being worked on."""
    return [
        file.resolve()
        for root in (Path(each) for each in sys.path if each.endswith("site-packages"))
        for file in root.glob("*fyke*.pth")
    ]


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def program(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a driver: one of the modules of this folder, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", f"tests_cluster.{module}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )


def told(done: subprocess.CompletedProcess[str]) -> Any:
    """What a driver printed, which must have ended well."""
    assert done.returncode == 0, (done.stderr or "")[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_port(port: int, member: Member) -> None:
    """Waits until somebody listens."""

    def answers() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    _await(answers, member)


def await_line(text: str, member: Member) -> None:
    """Waits until a member has said something."""
    _await(lambda: text in member.log(), member)


def _await(is_done: object, member: Member) -> None:
    end = time.monotonic() + _START_S_MAX
    while not is_done():  # type: ignore[operator]
        assert member.process.poll() is None, member.log()[-4000:]
        assert time.monotonic() < end, member.log()[-4000:]
        time.sleep(0.2)
