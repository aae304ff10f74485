"""Spark's connector to Kafka, which is not part of PySpark: what it is called.

A connector goes with one version of Spark and of Scala. Both stand in the names of the jars that
PySpark brought, `spark-sql_2.13-4.3.0.jar`, and nowhere else in this package. Whether a connector
of that name was published is not known here: newer versions of Spark may be without one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from fyke.errors import FykeError

_JAR: Final = re.compile(r"spark-sql_(?P<scala>[\d.]+)-(?P<spark>.+)\.jar")
PACKAGES: Final = "spark.jars.packages"


def coordinates() -> str:
    """Return the Maven coordinates of the connector for the Spark that is installed."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    jars = Path(home) / "jars"
    for jar in sorted(jars.glob("spark-sql_*.jar")):
        if found := _JAR.fullmatch(jar.name):
            return f"org.apache.spark:spark-sql-kafka-0-10_{found['scala']}:{found['spark']}"
    raise FykeError(f"{jars} holds no jar of Spark; expected one such as spark-sql_2.13-4.3.0.jar")


def setting() -> str:
    """Return the line in `[spark.conf]` that brings it."""
    return f'"{PACKAGES}" = "{coordinates()}"'


def advice() -> str:
    """Return what to do where the connector is missing."""
    return (
        "Spark's connector to Kafka is a package, which a setting of Spark brings: "
        f'{setting()}; where that version cannot be had, "spark.jars" names the jars of another'
    )
