"""The examples for Dask of docs/engines.md, on two workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BUCKET, DRAGONFLY, SHARDS, by_type, code, kill_one
from dask.distributed import Client, LocalCluster

import rdblens

EXAMPLE: dict[str, Any] = {"__name__": "example"}
exec(compile(code("Dask"), "docs/engines.md", "exec"), EXAMPLE)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def test_the_report_is_that_of_one_run(client: Client, dumps: list[Path], whole: rdblens.Report) -> None:
    paths = [str(path) for path in dumps]
    assert EXAMPLE["analyze"](client, paths, policy="platform", allow_same=True).to_json() == whole.to_json()


def test_rows_have_the_totals_of_analyze(client: Client) -> None:
    rows = EXAMPLE["rows"]([str(path) for path in SHARDS], columns=["type", "memory"])
    assert rows.groupby("type")["memory"].sum().compute().to_dict() == {
        name: memory for name, (_, memory) in by_type(rdblens.analyze(SHARDS)).items()
    }


def test_rows_refuse_what_cannot_be_read(tmp_path: Path) -> None:
    text = tmp_path / "notes.rdb"
    text.write_text("no snapshot")
    with pytest.raises(ValueError, match="notes.rdb"):
        EXAMPLE["rows"]([str(SHARDS[0]), str(text)], columns=["type"])


def test_rows_have_keys_of_dragonfly_once(client: Client) -> None:
    rows = EXAMPLE["rows"](str(DRAGONFLY), columns=["type", "memory"], group_bytes=1)
    assert len(rows) == rdblens.analyze(DRAGONFLY).totals.keys


def test_workers_read_from_a_store(client: Client, storage_options: dict[str, str], night: rdblens.Report) -> None:
    paths = f"s3://{BUCKET}/night/"
    report = EXAMPLE["analyze"](client, paths, policy="platform", storage_options=storage_options)
    assert report.to_json() == night.to_json()


def test_a_worker_that_is_killed_changes_nothing(client: Client, large: list[Path]) -> None:
    killed: list[int] = []

    def kill_midway() -> None:
        time.sleep(0.5)
        killed.append(kill_one(b"multiprocessing.spawn"))

    killer = threading.Thread(target=kill_midway)
    killer.start()
    paths = [str(path) for path in large]
    report = EXAMPLE["analyze"](client, paths, policy="platform", allow_same=True, group_bytes=1)
    killer.join()
    assert killed
    assert report.to_json() == rdblens.analyze(large, "platform", allow_same=True).to_json()
