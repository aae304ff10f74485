"""The jars of a Kafka broker and of Spark's connector, from Maven Central.

`jars.lock` names them by coordinates, with the sums of what was tested. The Ivy that PySpark ships
brings them, and knows where they are to be had; so that neither Maven nor Kafka has to be
installed, and no Java but the one that Spark runs on. A jar of another sum is refused.

    build/kafka/broker/         the broker and its tools, 44 MB
    build/kafka/connector/      for Spark, 10 MB

To move to other versions, change the coordinates and run `python -m tests_kafka.jars`: it says the
sums that it found.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

import pyspark

from fyke.spark.sessions.java import java_home
from tests_kafka.trust import trust_store

FOLDER: Final = Path(__file__).parent.parent / "build" / "kafka"
LOCK: Final = Path(__file__).with_name("jars.lock")
PARTS: Final = ("broker", "connector")
UNREACHABLE: Final = 75
"""The exit code where the jars cannot be had; EX_TEMPFAIL of sysexits.h."""
_WAIT_S_MAX: Final = 900


@dataclass(frozen=True, slots=True)
class Jar:
    part: str
    group: str
    name: str
    version: str
    sum: str

    @property
    def path(self) -> Path:
        return FOLDER / self.part / f"{self.name}-{self.version}.jar"

    def is_here(self) -> bool:
        return self.path.exists() and self.found() == self.sum

    def found(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest() if self.path.exists() else "nothing"

    def dependency(self) -> str:
        facts = {"org": self.group, "name": self.name, "rev": self.version}
        said = " ".join(f"{key}={quoteattr(value)}" for key, value in facts.items())
        return f'<dependency {said} conf="{self.part}->master" transitive="false"/>'


def locked() -> list[Jar]:
    """A line each: part, coordinates, sum."""
    lines = LOCK.read_text("utf-8").splitlines()
    return [_jar(*line.split()) for line in lines if not line.startswith("#")]


def _jar(part: str, coordinates: str, sum: str) -> Jar:
    group, name, version = coordinates.split(":")
    return Jar(part, group, name, version, sum)


def jars(part: str) -> list[Path]:
    return [jar.path for jar in locked() if jar.part == part]


def java() -> Path:
    return java_home() / "bin" / "java"


def bring() -> None:
    """Everything the lock names is in its folder, as it was when it was tested."""
    if all(jar.is_here() for jar in locked()):
        return
    print("test-kafka: bringing Kafka and Spark's connector from Maven Central", file=sys.stderr)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as place:
        _retrieve(Path(place))
    wrong = [jar for jar in locked() if not jar.is_here()]
    if wrong:
        said = "\n".join(f"{jar.path}\n  locked {jar.sum}\n  found  {jar.found()}" for jar in wrong)
        sys.exit(f"these jars are not the ones that were tested:\n{said}")


def _retrieve(place: Path) -> None:
    """Ivy with folders of its own: what other builds left on the machine plays no part."""
    for part in PARTS:
        shutil.rmtree(FOLDER / part, ignore_errors=True)
    (place / "ivy.xml").write_text(_module(), "utf-8")
    store = trust_store(place / "trust.jks")
    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    said = subprocess.run(
        [
            java(),
            *([f"-Djavax.net.ssl.trustStore={store}"] if store else []),
            f"-Divy.default.ivy.user.dir={place / 'ivy'}",
            *("-jar", ivy, "-warn", "-ivy", place / "ivy.xml", "-confs", *PARTS),
            *("-retrieve", f"{FOLDER}/[conf]/[artifact]-[revision].[ext]"),
        ],
        capture_output=True,
        text=True,
        timeout=_WAIT_S_MAX,
        check=False,
    )
    if said.returncode:
        print(f"Ivy could not bring the jars:\n{said.stdout}{said.stderr}", file=sys.stderr)
        sys.exit(UNREACHABLE)


def _module() -> str:
    confs = "".join(f'<conf name="{part}"/>' for part in PARTS)
    dependencies = "\n".join(jar.dependency() for jar in locked())
    return (
        '<ivy-module version="2.0"><info organisation="fyke" module="kafka"/>\n'
        f"<configurations>{confs}</configurations>\n"
        f"<dependencies>\n{dependencies}\n</dependencies></ivy-module>\n"
    )


if __name__ == "__main__":
    bring()
