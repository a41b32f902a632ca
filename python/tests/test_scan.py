"""Rows of keys as Arrow, read by four libraries."""

from __future__ import annotations

import base64
import gc
import os
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import LATER, ROOT, SHARDS, SHOP, dumps, ndjson, run

import rdblens


def in_form_of_ndjson(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table as NDJSON has it: without what is absent, except where NDJSON says null."""
    row = dict(row)
    raw = row.pop("key_bytes")
    if raw is not None:
        row["key_base64"] = base64.b64encode(raw).decode()
    at: datetime | None = row["expires_at"]
    if at is not None:
        seconds = (at - datetime.fromisoformat("1970-01-01T00:00:00+00:00")).total_seconds()
        row["expires_at"] = round(seconds * 1000)
    always = {"key", "length", "memory", "expires_at", "idle", "freq", "owner", "class"}
    return {name: value for name, value in row.items() if value is not None or name in always}


def known(row: dict[str, Any]) -> dict[str, Any]:
    """A row of NDJSON with times in the range that readers of columns accept."""
    at = row["expires_at"]
    return row if at is None else dict(row, expires_at=min(max(at, -62_135_596_800_000), 253_402_300_799_999))


@pytest.mark.parametrize("dump", dumps(), ids=lambda path: str(path.relative_to(ROOT / "testdata")))
def test_rows_are_those_of_the_command_line(dump: Path) -> None:
    table = pyarrow.table(rdblens.scan(dump))
    assert [in_form_of_ndjson(row) for row in table.to_pylist()] == [known(row) for row in ndjson(dump)]


def test_labels_and_sources_are_those_of_the_command_line() -> None:
    table = pyarrow.table(rdblens.scan([SHOP, LATER], policy="platform", allow_same=True))
    expected = ndjson(SHOP, LATER, "--policy", "platform", "--allow-same")
    rows = [in_form_of_ndjson(row) for row in table.to_pylist()]
    assert [{**row, "owner": None, "class": None} for row in rows] == [
        {**row, "owner": None, "class": None} for row in expected
    ]
    assert any(row["breaks"] for row in rows) and {row["source"] for row in rows} == {str(SHOP), str(LATER)}


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"types": "hash"}, ["--type", "hash"]),
        ({"types": ["hash", "zset"], "match": "*:1*"}, ["--type", "hash", "--type", "zset", "--match", "*:1*"]),
        ({"match": ["user:*", "cart:*"], "no_expired": True}, ["--match", "user:*", "--match", "cart:*", "--no-expired"]),
        ({"regex": "[0-9]{3}$", "limit": 7}, ["--regex", "[0-9]{3}$", "--limit", "7"]),
        ({"server": "valkey-8.1"}, ["--server", "valkey-8.1"]),
        ({"db": 1}, ["--db", "1"]),
        ({"policy": "platform", "breaking": ["ttl.missing"]}, ["--policy", "platform", "--breaking", "ttl.missing"]),
    ],
)
def test_options_are_those_of_the_command_line(options: dict[str, Any], flags: list[str]) -> None:
    keys = pyarrow.table(rdblens.scan(SHOP, **options)).select(["key", "memory"]).to_pylist()
    assert keys == [{"key": row["key"], "memory": row["memory"]} for row in ndjson(SHOP, *flags)]


def test_schema_is_that_of_the_parquet_file(tmp_path: Path) -> None:
    import pyarrow.parquet

    file = tmp_path / "keys.parquet"
    assert run("keys", SHOP, "--format", "parquet", "-o", file).returncode == 0
    stored = pyarrow.parquet.read_table(file)
    table = pyarrow.table(rdblens.scan(SHOP))
    assert table.schema.equals(stored.schema)
    assert table.equals(stored)
    assert pyarrow.schema(rdblens.scan(SHOP)).equals(stored.schema)


def test_columns_are_chosen_and_keep_their_order() -> None:
    scan = rdblens.scan(SHOP, columns=["memory", "key"])
    assert scan.columns == ["memory", "key"]
    table = pyarrow.table(scan)
    assert table.column_names == ["memory", "key"]
    assert table.num_rows == 5257
    assert pyarrow.table(rdblens.scan(SHOP, columns=[])).num_rows == 5257
    with pytest.raises(rdblens.UsageError, match='no column "memroy".*did you mean.*memory'):
        rdblens.scan(SHOP, columns=["memroy"])


def test_duckdb_groups_and_opens_a_scan_again() -> None:
    scan = rdblens.scan(SHOP)
    query = "select type, sum(memory) from scan group by 1 order by 1"
    expected: dict[str, int] = {}
    for row in ndjson(SHOP):
        expected[row["type"]] = expected.get(row["type"], 0) + row["memory"]
    assert duckdb.sql(query).fetchall() == sorted(expected.items())
    assert duckdb.sql(query).fetchall() == sorted(expected.items())
    joined = duckdb.sql("select count(*) from scan a join scan b using (db, key)").fetchall()
    assert joined == [(sum(row["key"] is not None for row in ndjson(SHOP)),)]
    assert scan is not None


def test_polars_and_pandas_group_alike() -> None:
    scan = rdblens.scan(SHOP, columns=["type", "memory"])
    frame = polars.DataFrame(scan).group_by("type").agg(polars.col("memory").sum()).sort("type")
    table = pandas.DataFrame.from_arrow(scan).groupby("type")["memory"].sum().sort_index()
    assert frame.rows() == list(table.items())
    assert sum(memory for _, memory in frame.rows()) == rdblens.analyze(SHOP).totals.memory


@pytest.mark.parametrize("name", ["truncated-in-value.rdb", "checksum-wrong.rdb"])
def test_damage_raises_with_file_and_offset(name: str, tmp_path: Path) -> None:
    whole = SHOP.read_bytes()
    damaged = tmp_path / name
    damaged.write_bytes(whole[: len(whole) // 2] if name.startswith("truncated") else whole[:-1] + bytes([whole[-1] ^ 1]))
    fault = "byte 0x[0-9a-f]+: .*needs" if name.startswith("truncated") else "checksum mismatch"
    with pytest.raises(pyarrow.ArrowException, match=f"{name}: {fault}"):
        pyarrow.table(rdblens.scan(damaged))
    with pytest.raises(duckdb.Error, match=f"{name}: {fault}"):
        scan = rdblens.scan(damaged)
        duckdb.sql("select count(*) from scan").fetchall()
        assert scan is not None


def test_rows_before_the_damage_are_there(tmp_path: Path) -> None:
    cut = tmp_path / "cut.rdb"
    cut.write_bytes(SHOP.read_bytes()[:100_000])
    reader = pyarrow.RecordBatchReader.from_stream(rdblens.scan(cut))
    assert reader.read_next_batch().num_rows > 100
    with pytest.raises(Exception, match="cut.rdb"):
        reader.read_all()


def test_what_cannot_be_opened_raises_at_once(tmp_path: Path) -> None:
    with pytest.raises(rdblens.ReadError) as missing:
        pyarrow.table(rdblens.scan(tmp_path / "missing.rdb"))
    assert missing.value.errno == 2 and "missing.rdb" in str(missing.value)
    text = tmp_path / "text.rdb"
    text.write_text("hello, this is no snapshot at all")
    with pytest.raises(rdblens.UnreadableError) as unreadable:
        pyarrow.table(rdblens.scan(text))
    assert unreadable.value.file == str(text)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(rdblens.UsageError, match='no type "hsah"'):
        rdblens.scan(SHOP, types="hsah")
    with pytest.raises(ValueError, match="standard input"):
        rdblens.scan("-")
    with pytest.raises(TypeError, match="unknown option 'typ'"):
        rdblens.scan(SHOP, typ="hash")
    with pytest.raises(rdblens.UsageError, match='no setting of object stores "region"'):
        rdblens.scan("s3://bucket/dump.rdb", storage_options={"region": "eu-west-1"})


def open_files() -> set[str]:
    """Paths of the files that this process has open."""
    folder = Path("/proc/self/fd")
    return {os.readlink(file) for file in folder.iterdir() if file.exists()}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("mmap", [False, True])
def test_files_are_closed_when_a_stream_is_dropped(large: Path, mmap: bool) -> None:
    threads = threading.active_count()
    for _ in range(3):
        reader = pyarrow.RecordBatchReader.from_stream(rdblens.scan(large, mmap=mmap))
        reader.read_next_batch()
        del reader
        gc.collect()
        assert str(large) not in open_files()
        assert pyarrow.table(rdblens.scan(large, columns=["db"], mmap=mmap)).num_rows == 300_000
        assert str(large) not in open_files()
    assert threading.active_count() == threads
    maps = Path("/proc/self/maps").read_text()
    assert str(large) not in maps


def test_two_threads_read_at_the_same_time(large: Path) -> None:
    sums: list[int] = []

    def read() -> None:
        table = pyarrow.table(rdblens.scan(large, columns=["memory"]))
        sums.append(sum(table["memory"].to_pylist()))

    threads = [threading.Thread(target=read) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(sums) == 2 and sums[0] == sums[1] > 0


def test_other_threads_run_meanwhile(large: Path) -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    report = rdblens.analyze([large] * 1)
    pyarrow.table(rdblens.scan(large))
    done.set()
    other.join()
    assert report.totals.keys == 300_000
    assert counted > 5


@pytest.mark.parametrize(
    "call",
    [
        "rdblens.analyze(paths, allow_same=True)",
        "[rdblens.check(path) for path in paths]",
        "pyarrow.table(rdblens.scan(paths, allow_same=True))",
        "duckdb.sql('select max(pattern) from scan').fetchall()",
    ],
)
def test_interrupts_end_a_call(copies: list[Path], call: str) -> None:
    program = f"""
import signal, sys, duckdb, pyarrow, rdblens
signal.signal(signal.SIGINT, signal.default_int_handler)
paths = sys.argv[1:]
scan = rdblens.scan(paths, allow_same=True)
print("begin", flush=True)
try:
    try:
        {call}
    except Exception as error:
        assert "nterrupt" in str(error), error
        print("interrupted")
except KeyboardInterrupt:
    # Of the call, or behind the exception that a reader of the stream makes of it.
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", program, *map(os.fspath, copies)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        time.sleep(0.3)
        process.send_signal(2)
        began = time.monotonic()
        try:
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert "interrupted" in rest
    assert time.monotonic() - began < 15


def test_all_shards_of_a_night_are_one_scan() -> None:
    table = pyarrow.table(rdblens.scan(SHARDS, columns=["source", "memory"]))
    assert set(table["source"].to_pylist()) == {str(path) for path in SHARDS}
    assert table.num_rows == 1200
