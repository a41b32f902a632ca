"""The examples for Ray of docs/engines.md, on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from conftest import BUCKET, DRAGONFLY, SHARDS, by_type, code, kill_one

import rdblens

EXAMPLE: dict[str, Any] = {"__name__": "example"}
exec(compile(code("Ray"), "docs/engines.md", "exec"), EXAMPLE)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_the_report_is_that_of_one_run(dumps: list[Path], whole: rdblens.Report) -> None:
    paths = [str(path) for path in dumps]
    assert EXAMPLE["analyze"](paths, policy="platform", allow_same=True).to_json() == whole.to_json()


def test_rows_have_the_totals_of_analyze() -> None:
    rows = EXAMPLE["rows"]([str(path) for path in SHARDS], columns=["type", "memory"])
    totals = {row["type"]: row["sum(memory)"] for row in rows.groupby("type").sum("memory").take_all()}
    assert totals == {name: memory for name, (_, memory) in by_type(rdblens.analyze(SHARDS)).items()}


def test_rows_refuse_what_cannot_be_read(tmp_path: Path) -> None:
    text = tmp_path / "notes.rdb"
    text.write_text("no snapshot")
    with pytest.raises(ValueError, match="notes.rdb"):
        EXAMPLE["rows"]([str(SHARDS[0]), str(text)], columns=["type"])


def test_rows_have_keys_of_dragonfly_once() -> None:
    rows = EXAMPLE["rows"](str(DRAGONFLY), columns=["type", "memory"], group_bytes=1)
    assert rows.count() == rdblens.analyze(DRAGONFLY).totals.keys


def test_tasks_read_from_a_store(storage_options: dict[str, str], night: rdblens.Report) -> None:
    paths = f"s3://{BUCKET}/night/"
    report = EXAMPLE["analyze"](paths, policy="platform", storage_options=storage_options)
    assert report.to_json() == night.to_json()


def test_a_worker_that_is_killed_changes_nothing(large: list[Path]) -> None:
    killed: list[int] = []

    def kill_midway() -> None:
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            try:
                killed.append(kill_one(b"ray::read"))
            except AssertionError:
                time.sleep(0.05)

    killer = threading.Thread(target=kill_midway)
    killer.start()
    paths = [str(path) for path in large]
    report = EXAMPLE["analyze"](paths, policy="platform", allow_same=True, group_bytes=1)
    killer.join()
    assert killed, "no worker was seen at work"
    assert report.to_json() == rdblens.analyze(large, "platform", allow_same=True).to_json()
