"""DuckDB, polars and pandas over objects in S3."""

from __future__ import annotations

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import BUCKET, SHARDS, by_type

import rdblens

PREFIX = f"s3://{BUCKET}/night/"


def test_engines_in_one_process_group_alike(storage_options: dict[str, str], night: rdblens.Report) -> None:
    scan = rdblens.scan(PREFIX, columns=["type", "memory"], storage_options=storage_options)
    expected = by_type(night)
    query = "select type, count(*), sum(memory) from scan group by 1"
    assert {name: (keys, int(memory)) for name, keys, memory in duckdb.sql(query).fetchall()} == expected
    frame = polars.DataFrame(scan).group_by("type").agg(polars.len(), polars.col("memory").sum())
    assert {name: (keys, memory) for name, keys, memory in frame.rows()} == expected
    table = pandas.DataFrame.from_arrow(scan).groupby("type")["memory"].agg(["count", "sum"])
    assert {name: (row["count"], row["sum"]) for name, row in table.iterrows()} == expected


def test_sources_are_addresses(storage_options: dict[str, str]) -> None:
    table = pyarrow.table(rdblens.scan(f"{PREFIX}*.rdb.gz", columns=["source"], storage_options=storage_options))
    assert set(table["source"].to_pylist()) == {f"{PREFIX}{shard.name}" for shard in SHARDS}


def test_every_function_takes_settings_of_stores(storage_options: dict[str, str], night: rdblens.Report) -> None:
    one = f"{PREFIX}{SHARDS[0].name}"
    assert rdblens.check(one, storage_options=storage_options)
    plan = rdblens.plan(PREFIX, policy="platform", storage_options=storage_options)
    assert "AKIAEXAMPLE" not in plan.to_json() and "secret" not in plan.to_json()
    parts = [rdblens.partial(plan, group, storage_options=storage_options) for group in plan.groups(1)]
    assert len(parts) == len(SHARDS) and rdblens.report(plan, parts) == night


def test_settings_are_checked_and_secrets_are_not_shown(storage_options: dict[str, str]) -> None:
    with pytest.raises(rdblens.UsageError, match='no setting of object stores "aws_regoin".*AWS_REGION'):
        rdblens.analyze(PREFIX, storage_options={"aws_regoin": "eu-west-1"})
    wrong = {**storage_options, "aws_endpoint_url": "http://127.0.0.1:1", "rdblens_remote_retries": "0"}
    with pytest.raises(rdblens.Error, match="backup/night") as refused:
        rdblens.analyze(PREFIX, storage_options=wrong)
    assert "secret" not in str(refused.value) and "AKIAEXAMPLE" not in str(refused.value)
