"""What a session is told, by where it runs."""

from __future__ import annotations

import os

import pytest

from fyke import FykeError
from fyke.spark.sessions.settings import JAVA_OPTIONS, cores, is_here, remote_settings, settings


@pytest.mark.parametrize(
    ("master", "count"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3,2]", 3),
        ("local[*]", len(os.sched_getaffinity(0))),
        ("local[*, 4]", len(os.sched_getaffinity(0))),
        ("local-cluster[2,3,1024]", 6),
        ("local-cluster[ 2 , 3 , 1024 ]", 6),
    ],
)
def test_tasks_at_a_time(master: str, count: int) -> None:
    assert is_here(master)
    assert cores(master) == count
    assert settings(master)["spark.sql.shuffle.partitions"] == str(count)


@pytest.mark.parametrize(
    "master", ["local[]", "local[-1]", "local[2", "localhost", "local-cluster"]
)
def test_masters_that_do_not_exist(master: str) -> None:
    with pytest.raises(FykeError, match="is not a master; expected local"):
        settings(master)


def test_a_cluster_keeps_its_own_ways() -> None:
    for master in ("spark://host:7077", "yarn", "k8s://https://host", None):
        told = settings(master)
        assert told["spark.sql.session.timeZone"] == "UTC"
        for key in ("spark.driver.host", "spark.python.daemon.module", "spark.ui.enabled"):
            assert key not in told
    assert all(key.startswith("spark.sql.") for key in remote_settings())


def test_the_user_wins() -> None:
    told = settings(
        "local[2]",
        {"spark.ui.enabled": True, "spark.sql.shuffle.partitions": 7, JAVA_OPTIONS: "-Xss4m"},
        logs="warn",
    )
    assert told["spark.ui.enabled"] == "true"
    assert told["spark.sql.shuffle.partitions"] == "7"
    options = told[JAVA_OPTIONS].split(" ")
    assert options[0].startswith("-Dlog4j2.configurationFile=file:///")
    assert options[1:] == ["-Dfyke.logs=warn", "-Dfyke.logs.answered=warn", "-Xss4m"]


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({"ui.enabled": 1}, "'ui.enabled' is not a setting of Spark"),
        ({3: 1}, "3 is not a setting of Spark"),
        ({"spark.ui.enabled": None}, "spark.ui.enabled=None; expected text"),
        ({"spark.master": "local"}, "spark.master has a keyword of its own"),
        (["spark.ui.enabled"], "expected a dictionary"),
    ],
)
def test_settings_that_are_none(conf: object, said: str) -> None:
    with pytest.raises(FykeError, match=said):
        settings("local", conf)  # type: ignore[arg-type]


def test_log_levels() -> None:
    with pytest.raises(FykeError, match="logs='loud'; expected one of off, error"):
        settings("local", logs="loud")
