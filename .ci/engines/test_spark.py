"""Spark with two executors on this machine: rows, filters, reports, and an executor that is killed."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BUCKET, SHARDS, by_type, kill_one
from pyspark.sql import DataFrame, SparkSession

import rdblens
import rdblens.spark

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    session = builder.config(map=settings).getOrCreate()
    rdblens.spark.register(session)
    yield session
    session.stop()


def totals(rows: DataFrame) -> dict[str, tuple[int, int]]:
    grouped = rows.groupBy("type").agg({"*": "count", "memory": "sum"})
    return {row["type"]: (row["count(1)"], row["sum(memory)"]) for row in grouped.collect()}


def test_group_by_gives_the_totals_of_analyze(spark: SparkSession, dumps: list[Path], whole: rdblens.Report) -> None:
    several = spark.read.format("rdblens").option("allow_same", "true")
    rows = several.load([str(path) for path in dumps])
    assert totals(rows) == by_type(whole)
    # As many tasks as the sizes ask for, not as many as there are files.
    assert rows.rdd.getNumPartitions() < len(dumps) / 2
    alone = several.option("partition_bytes", 1).load([str(path) for path in dumps[:5]])
    assert alone.rdd.getNumPartitions() == 5


def test_rows_are_those_of_a_scan(spark: SparkSession) -> None:
    import pyarrow

    path = [str(shard) for shard in SHARDS]
    rows = spark.read.format("rdblens").option("policy", "platform").load(path)
    table = pyarrow.table(rdblens.scan(path, policy="platform"))
    assert rows.columns == table.column_names
    key = lambda row: (row["source"], row["db"], row["key"] or "")  # noqa: E731
    found = rows.toArrow()
    assert found.schema.field("expires_at").type == pyarrow.timestamp("us", "UTC")
    assert sorted(found.to_pylist(), key=key) == sorted(table.to_pylist(), key=key)


def test_schemas_and_options_restrict_what_is_read(spark: SparkSession, tmp_path: Path) -> None:
    path = str(SHARDS[0])
    some = spark.read.format("rdblens").schema("memory long, type string").option("types", "hash, zset").load(path)
    assert some.columns == ["memory", "type"]
    expected = rdblens.analyze(path, types=["hash", "zset"])
    assert totals(some) == by_type(expected)
    with pytest.raises(Exception, match="no option 'typ'"):
        spark.read.format("rdblens").option("typ", "hash").load(path).count()
    with pytest.raises(Exception, match="are the same snapshot"):
        shutil.copy(path, tmp_path)
        spark.read.format("rdblens").option("partition_bytes", 1).load([path, str(tmp_path)]).count()
    with pytest.raises(Exception, match="missing.rdb"):
        spark.read.format("rdblens").load("/nonexistent/missing.rdb").count()


@pytest.mark.parametrize("pushes", ["true", "false"])
def test_filters_give_the_same_rows_pushed_or_not(spark: SparkSession, pushes: str) -> None:
    spark.conf.set(PUSHDOWN, pushes)
    rdblens.spark.register(spark)
    try:
        rows = spark.read.format("rdblens").load([str(shard) for shard in SHARDS])
        every = [(row["type"], row["db"], row["key"], row["pattern"]) for row in rows.collect()]
        prefix = sorted(key for _, _, key, _ in every if key)[0][:4]
        pattern = sorted(pattern for *_, pattern in every)[0]
        conditions = {
            "type = 'hash'": lambda row: row[0] == "hash",
            "type in ('hash', 'set') and type <> 'set'": lambda row: row[0] == "hash",
            "type = 'hash' and type = 'set'": lambda row: False,
            "type = 'no such type'": lambda row: False,
            "db = 0 and type = 'string'": lambda row: row[:2] == ("string", 0),
            f"key like '{prefix}%'": lambda row: (row[2] or "").startswith(prefix),
            "key = 'a*[b'": lambda row: row[2] == "a*[b",
            f"pattern = '{pattern}'": lambda row: row[3] == pattern,
            "pattern = 'no {such pattern'": lambda row: False,
            "not (type = 'hash')": lambda row: row[0] != "hash",
        }
        for condition, holds in conditions.items():
            assert rows.where(condition).count() == sum(map(holds, every)), condition
    finally:
        spark.conf.set(PUSHDOWN, "false")
        rdblens.spark.register(spark)


def test_the_report_is_that_of_one_run(spark: SparkSession, dumps: list[Path], whole: rdblens.Report) -> None:
    for partition_bytes in (1, 1 << 20, 1 << 40):
        report = rdblens.spark.analyze(spark, dumps, "platform", allow_same=True, partition_bytes=partition_bytes)
        assert report.to_json() == whole.to_json()
    masked = rdblens.spark.analyze(spark, SHARDS, mask=True, depth=2, what_if="valkey-8.1")
    assert masked == rdblens.analyze(SHARDS, mask=True, depth=2, what_if="valkey-8.1")


def test_executors_read_from_a_store(
    spark: SparkSession, storage_options: dict[str, str], night: rdblens.Report
) -> None:
    rows = spark.read.format("rdblens").options(**storage_options).load(f"s3a://{BUCKET}/night/*.rdb.gz")
    assert totals(rows) == by_type(night)
    address = f"s3a://{BUCKET}/night/"
    report = rdblens.spark.analyze(spark, address, "platform", storage_options=storage_options, partition_bytes=1)
    assert report.to_json() == night.to_json()


# Last: a new executor takes some seconds to be there.
def test_an_executor_that_is_killed_changes_nothing(spark: SparkSession, large: list[Path]) -> None:
    expected = rdblens.analyze(large, "platform", allow_same=True)
    killed: list[int] = []

    def kill_midway() -> None:
        tracker = spark.sparkContext.statusTracker()
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks == len(large) and 2 <= info.numCompletedTasks < len(large) - 4:
                    killed.append(kill_one(b"CoarseGrainedExecutorBackend"))
                    return
            time.sleep(0.01)

    killer = threading.Thread(target=kill_midway)
    killer.start()
    report = rdblens.spark.analyze(spark, large, "platform", allow_same=True, partition_bytes=1)
    killer.join()
    assert killed, "no executor was killed while the job ran"
    assert report.to_json() == expected.to_json()
    rows = spark.read.format("rdblens").schema("type string, memory long").option("allow_same", "true")
    rows = rows.load([str(path) for path in large])
    assert totals(rows) == by_type(expected)
