"""The session that all tests share: what it is told, what its workers have, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import resources

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import fyke
import fyke.spark
from fyke.spark.sessions import starting

NASTY = [
    {"n": 2**53 + 1, "x": -0.0, "s": "", "b": True, "l": []},
    {"n": 2**53, "x": 1.0, "s": "𝔣yke", "b": False, "l": [1, 9]},
    {"n": None, "x": None, "s": None, "b": None, "l": None},
    {"n": 1, "x": 0.1, "s": "ß", "b": True, "l": [3]},
    {"n": 1, "x": 0.1, "s": "ß", "b": True, "l": [3]},
]
FILTERS = {
    "tie": f"n = {2**53 + 1}",
    "zero": "x = 0",
    "empty": "s = ''",
    "astral": "s starts with '𝔣'",
    "not one": "b = 1",
    "true": "b = true",
    "list": "l > 2 and l < 2",
    "missing": "not exists n",
}


def matches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    matcher = fyke.Matcher()
    matcher.add_many(FILTERS.items())
    for batch in batches:
        found = matcher.match_batch(pa.Table.from_batches([batch])).to_pydict()
        rows = pa.Table.from_batches([batch]).take(pa.array(found["event"], pa.int64()))
        found["event"] = rows["row"].to_pylist()
        yield pa.RecordBatch.from_pydict(found)


def workers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import gc
    import threading
    from zipimport import zipimporter

    importers = [each for each in sys.path_importer_cache.values() if isinstance(each, zipimporter)]
    loaded = [name for name in ("numba", "numpy", "pyarrow") if name in sys.modules]
    for _ in batches:
        pass
    told = {
        "process": os.getpid(),
        "python": sys.executable,
        "frozen": gc.get_freeze_count(),
        "loaded": loaded,
        "archives": len({each.archive for each in importers}),
        "listings": len({id(each._files) for each in importers}),
        "pool": pa.default_memory_pool().backend_name,
        "threads": threading.active_count(),
        "fyke": fyke.__file__,
    }
    yield pa.RecordBatch.from_pydict({"told": [json.dumps(told)]})


def test_workers_match_as_the_library_does(spark: SparkSession) -> None:
    schema = "row int, n long, x double, s string, b boolean, l array<long>"
    rows = [{"row": number, **event} for number, event in enumerate(NASTY)]
    events = spark.createDataFrame(rows, schema).repartition(2)
    found = events.mapInArrow(matches, "event long, subscription string").collect()
    expected = {
        (number, name)
        for number, event in enumerate(NASTY)
        for name, text in FILTERS.items()
        if fyke.parse(text).matches({key: each for key, each in event.items() if each is not None})
    }
    assert {tuple(row) for row in found} == expected
    assert len(found) == len(expected)


def test_workers_come_loaded_and_are_used_again(spark: SparkSession) -> None:
    def asked() -> list[dict[str, object]]:
        rows = spark.range(0, 8, 1, 8).mapInArrow(workers, "told string").collect()
        return [json.loads(row.told) for row in rows]

    told = asked() + asked()
    assert len({each["process"] for each in told}) <= 2
    for each in told:
        assert each["python"] == sys.executable
        assert each["fyke"] == fyke.__file__
        assert each["loaded"] == ["numba", "numpy", "pyarrow"]
        assert isinstance(each["frozen"], int) and each["frozen"] > 10_000
        assert each["listings"] <= each["archives"]  # each archive is listed once at most
        assert each["pool"] == "system"


def test_settings_of_the_session(spark: SparkSession) -> None:
    assert spark.conf.get("spark.master") == "local[2]"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.conf.get("spark.ui.enabled") == "false"
    late = spark.range(1).select(F.lit("2026-01-01T00:00:00Z").cast("timestamp").cast("string"))
    assert late.first()[0] == "2026-01-01 00:00:00"


def test_the_environment_is_put_back(spark: SparkSession) -> None:
    assert "java-" not in os.environ.get("JAVA_HOME", "")
    assert os.environ.get("SPARK_LOCAL_IP") != "127.0.0.1"


def test_the_running_session_is_returned(spark: SparkSession) -> None:
    assert fyke.spark.session() is spark
    assert fyke.spark.session(master="local[2]", conf={"spark.sql.ansi.enabled": False}) is spark
    assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    spark.conf.unset("spark.sql.ansi.enabled")
    with pytest.raises(fyke.FykeError, match=r"spark\.driver\.memory can be set only before"):
        fyke.spark.session(conf={"spark.driver.memory": "2g"})
    with pytest.raises(fyke.FykeError, match=r"on 'local\[2\]': stop\(\) that session"):
        fyke.spark.session(master="local[1]")
    with pytest.raises(fyke.FykeError, match="not both"):
        fyke.spark.session(master="local", remote="sc://localhost")


def test_names_of_the_package() -> None:
    assert fyke.spark.session is starting.session
    with pytest.raises(AttributeError, match="no attribute 'sesion'"):
        _ = fyke.spark.sesion  # type: ignore[attr-defined]
    assert (resources.files("fyke.spark") / "log4j2.properties").is_file()


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(fyke.FykeError, match=r"pip install 'fyke\[spark\]'"):
        fyke.spark.session()


def test_importing_the_package_loads_no_pyspark() -> None:
    code = "import sys, fyke.spark; fyke.spark.session; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("master", "said", "shown"),
    [
        ("nowhere://x", "its JVM ended at once, saying why on the error stream", "Master must"),
        ("local[0]", "org.apache.spark.SparkException: Asked to run locally with 0 threads", ""),
    ],
)
def test_a_master_that_spark_refuses(master: str, said: str, shown: str) -> None:
    """Said in a sentence, in a process without a session."""
    code = (
        "import fyke.spark, sys\n"
        f"try: fyke.spark.session(master={master!r}, logs='off')\n"
        "except fyke.FykeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"Spark did not start on {master!r}: {said}\n"
    assert shown in done.stderr


def test_a_master_that_does_not_answer() -> None:
    """What Spark says of one after a minute is about itself."""
    said = (
        "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n"
        ": java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n"
        "This stopped SparkContext was created at:\n"
    )
    assert starting.reason_of(Exception(said)).startswith("the master did not answer for a minute")
