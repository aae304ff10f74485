"""The connector to Kafka that the documents name is that of the Spark that is installed."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from fyke import FykeError
from fyke.cli.main import main
from fyke.spark.connector import advice, coordinates, setting
from tests_kafka.jars import locked

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"[\w.]+:spark-sql-kafka-0-10[\w.]*:[\w.-]+|[\w.]+:spark-sql-kafka-0-10_[\d.]+")


def test_it_is_that_of_the_installed_spark(capsys: pytest.CaptureFixture[str]) -> None:
    assert coordinates().endswith(f":{version('pyspark')}")
    assert main(["pipeline", "connector"]) == 0
    assert capsys.readouterr().out == f'"spark.jars.packages" = "{coordinates()}"\n'
    assert setting() in advice()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["spark-sql_2.13-4.3.1.jar"], "_2.13:4.3.1"),
        (
            ["spark-sql-api_2.13-9.jar", "spark-sql_3.7-5.0.0-preview2.jar", "a.jar"],
            "_3.7:5.0.0-pr",
        ),
        (["scala-library-2.13.18.jar"], None),
    ],
)
def test_it_follows_the_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], found: str | None
) -> None:
    (tmp_path / "jars").mkdir()
    for name in names:
        (tmp_path / "jars" / name).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    if found is not None:
        assert coordinates().startswith(f"org.apache.spark:spark-sql-kafka-0-10{found}")
    else:
        with pytest.raises(FykeError, match=r"jars holds no jar of Spark; expected"):
            coordinates()


def test_documents_name_what_is_derived_or_what_was_tested() -> None:
    """Nothing else: neither in the pages nor in the code."""
    connector = [
        f"{jar.group}:{jar.name}:{jar.version}" for jar in locked() if jar.part == "connector"
    ]
    (tested,) = [each for each in connector if "spark-sql-kafka" in each]
    assert tested.rpartition(":")[0] == coordinates().rpartition(":")[0]
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {name for page in pages for name in NAMED.findall(page.read_text("utf-8"))}
    assert named == {coordinates(), tested}
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]
    assert not [file for file in sources if NAMED.search(file.read_text("utf-8"))]
    page = (ROOT / "docs" / "pipeline.md").read_text("utf-8")
    assert all(f"`{each}`" in page for each in connector)
