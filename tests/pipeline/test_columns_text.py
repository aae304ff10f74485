"""Columns as Spark writes them: their names are read, and every slip is named."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from fyke.errors import FykeError
from fyke.pipeline.sources.columns_text import columns

PLAIN: Final = (
    *("string", "INT", "Integer", "bigint", "long", "smallint", "tinyint", "double", "float"),
    *("boolean", "date", "timestamp", "timestamp_ntz", "timestamp_ltz", "binary", "decimal"),
    *("decimal(10, 2)", "numeric(5)", "dec ( 38,0 )", "varchar(7)", "char(3)", "variant", "byte"),
    *("interval day to second", "interval year", "string collate unicode", "short", "real", "void"),
)
NAMES = st.sampled_from(["id", "a1", "_x", "Größe", "comment", "`a b`", "`a,b`", "`x``y`", "`<`"])
TYPES = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: st.one_of(
        inner.map("array<{}>".format),
        st.tuples(inner, inner).map(lambda both: "map< {}, {}>".format(*both)),
        st.lists(st.tuples(NAMES, st.sampled_from([": ", " ", ":"]), inner), max_size=3).map(
            lambda parts: f"struct<{', '.join(map(''.join, parts))}>"
        ),
    ),
    max_leaves=4,
)
ENDS = st.sampled_from(["", " not null", " NOT NULL COMMENT 'a, (b'", ' comment "it\'s"'])
COLUMNS = st.lists(st.tuples(NAMES, TYPES, ENDS), min_size=1, max_size=4)


def plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


@given(COLUMNS)
def test_names_of_columns(parts: list[tuple[str, str, str]]) -> None:
    text = " , ".join(f"{name} {type}{end}" for name, type, end in parts)
    assert columns(text) == [plain(name) for name, _, _ in parts]


@given(COLUMNS, st.data())
def test_a_slip_is_named(parts: list[tuple[str, str, str]], data: st.DataObject) -> None:
    """A type that is none, one that is missing, two columns without a comma, an open bracket."""
    at = data.draw(st.integers(0, len(parts) - 1))
    slips = ["strnig", "a&b", "array<", "map<int>", "decimal(1", "struct<a>", "int x int", ""]
    texts = [f"{name} {type}{end}" for name, type, end in parts]
    texts[at] = f"{parts[at][0]} {data.draw(st.sampled_from(slips))}"
    with pytest.raises(FykeError, match="instead of"):
        columns(", ".join(texts))


@pytest.mark.parametrize("text", ["", " ", ",", "id", "id string,", "id int;", "id int)", "("])
def test_what_is_no_list_of_columns(text: str) -> None:
    with pytest.raises(FykeError, match="instead of"):
        columns(text)


def test_what_is_admitted_and_refused_is_what_spark_admits_and_refuses(
    spark: SparkSession,
) -> None:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    good = [f"`a,b` {type} not null comment 'x', b int" for type in PLAIN]
    good += ["a array<struct<x: int, y:map<string,array<date>>>>", "a struct<>, comment string"]
    for text in good:
        assert columns(text) == StructType.fromDDL(text).names, text
    for text in ["a strnig", "a int b int", "a array<int", "a", "a int,", ", a int", "a map<int>"]:
        with pytest.raises(PySparkException):
            StructType.fromDDL(f"{text}, _b string")
        with pytest.raises(FykeError):
            columns(text)
