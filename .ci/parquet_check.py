#!/usr/bin/env python3
"""Holds the Parquet files of `rdblens keys` against the reports of `rdblens analyze`, as DuckDB and pandas read them.

    python3 .ci/parquet_check.py [--corpus ../shared/corpus] [--rdblens target/release/rdblens]

For every dump of testdata and of the corpus: keys and memory in all and by type, encoding, and database, keys without TTL, and
the heaviest key, each by both readers. Any difference ends with status 1. DuckDB, pandas and pyarrow are installed into
target/parquet-python when they are not there yet.
"""

import base64
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # a run leaves nothing in the tree

from dumps import count_differences, dumps, options  # noqa: E402
from packages import run_with  # noqa: E402

PACKAGES = ["duckdb==2.0.0", "pandas==3.1.1", "pyarrow==26.0.1", "pytz==2026.6"]


def odd_dump(folder):
    """A dump of what readers are not used to: times beyond their calendars, and a name that is no text."""
    times = [struct.pack("<q", time) for time in (2**63 - 1, -(2**63), 1_900_000_000_000)]
    keys = [b"\xfc" + time + b"\x00" + bytes([len(name)]) + name + b"\x01v" for time, name in
            zip(times, [b"far", b"long ago", b"\xff\x00\xfe"])]
    last = b"\xfe\x0f\x00\x03end" + b"\x14" + b"v" * 20
    path = os.path.join(folder, "odd.rdb")
    with open(path, "wb") as file:
        file.write(b"REDIS0009\xfe\x00" + b"".join(keys) + last + b"\xff" + bytes(8))
    return path


def of_report(report):
    """What the report says of its keys."""
    totals, heaviest = report["totals"], report["top"]["by_memory"][0]
    name = heaviest["key"].encode() if heaviest["key"] is not None else base64.b64decode(heaviest["key_base64"])
    return {
        "keys": totals["keys"],
        "memory": totals["memory"],
        # A module's type stands where other types have their encoding.
        "types": {(row["type"], row["encoding"]): (row["keys"], row["memory"]) for row in report["types"]},
        "databases": {row["db"]: (row["keys"], row["memory"]) for row in report["databases"] if row["keys"]},
        "without TTL": report["no_ttl"]["keys"],
        "heaviest": (heaviest["memory"], name),
    }


def key(names):
    """The names of a group as a report's row has them: one alone is no tuple."""
    return names[0] if len(names) == 1 else tuple(names)


def of_duckdb(path):
    import duckdb

    rows = f"read_parquet('{path}')"

    def grouped(column):
        query = f"SELECT count(*), sum(memory)::BIGINT, {column} FROM {rows} GROUP BY {column}"
        found = duckdb.sql(query).fetchall()
        return {key(name): (keys, memory) for keys, memory, *name in found}

    keys, memory, forever = duckdb.sql(
        f"SELECT count(*), sum(memory)::BIGINT, count(*) FILTER (expires_at IS NULL) FROM {rows}"
    ).fetchall()[0]
    heaviest = duckdb.sql(
        f"SELECT memory, coalesce(encode(key), key_bytes) AS name FROM {rows} ORDER BY memory DESC, db, name LIMIT 1"
    ).fetchall()[0]
    # Times have to survive the way into Python, too.
    duckdb.sql(f"SELECT min(expires_at), max(expires_at) FROM {rows}").fetchall()
    return {
        "keys": keys,
        "memory": memory,
        "types": grouped("type, coalesce(module, encoding)"),
        "databases": grouped("db"),
        "without TTL": forever,
        "heaviest": heaviest,
    }


def of_pandas(path):
    import pandas

    frame = pandas.read_parquet(path)
    assert str(frame["expires_at"].dtype) == "datetime64[ms, UTC]", frame["expires_at"].dtype
    assert all(frame[name].dtype == "int64" for name in ["db", "memory", "disk"])

    def grouped(*columns):
        groups = frame.groupby(list(columns))["memory"]
        return {key(name): (int(rows.size), int(rows.sum())) for name, rows in groups}

    def name(row):
        return row["key"].encode() if isinstance(row["key"], str) else row["key_bytes"]

    memory = int(frame["memory"].max())
    heaviest = frame[frame["memory"] == memory]
    first = min((int(row["db"]), name(row)) for _, row in heaviest.iterrows())
    return {
        "keys": len(frame),
        "memory": int(frame["memory"].sum()),
        "types": grouped("type", frame["module"].fillna(frame["encoding"])),
        "databases": grouped("db"),
        "without TTL": int(frame["expires_at"].isna().sum()),
        "heaviest": (memory, first[1]),
    }


def differences(rdblens, dump, parquet):
    def run(*words):
        subprocess.run([rdblens, *words, "--quiet"], check=True)

    report_file = parquet + ".json"
    run("keys", dump, "--format", "parquet", "-o", parquet)
    run("analyze", dump, "--format", "json", "-o", report_file)
    with open(report_file) as file:
        said = of_report(json.load(file))
    for reader, read in [("DuckDB", of_duckdb(parquet)), ("pandas", of_pandas(parquet))]:
        for what in said:
            if read[what] != said[what]:
                yield f"{what}: the report has {said[what]}, {reader} {read[what]}"


def main():
    words = options()
    run_with("parquet-python", PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        runs = enumerate([("odd.rdb", odd_dump(folder)), *dumps(words.corpus)])
        cases = ((name, differences(words.rdblens, dump, os.path.join(folder, f"{at}.parquet"))) for at, (name, dump) in runs)
        status = count_differences("{} dumps read by DuckDB and pandas", cases)
    sys.exit(status)


if __name__ == "__main__":
    main()
