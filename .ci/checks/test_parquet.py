"""Parquet files of `rdblens keys`, as DuckDB and pandas read them, compared with the reports of `rdblens analyze`.

For every dump of testdata and of the corpus: keys and memory in all and by type, encoding, and database, keys without TTL, and
the heaviest key.
"""

import collections
import dataclasses
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pandas
import pytest

from checks.inputs import ROOT
from checks.program import Program, key_name


def write_odd_dump(path: Path) -> None:
    """Writes a dump of what readers are not used to: times beyond their calendars, and a name that is no text."""
    times = [struct.pack("<q", time) for time in (2**63 - 1, -(2**63), 1_900_000_000_000)]
    names = [b"far", b"long ago", b"\xff\x00\xfe"]
    keys = [b"\xfc" + time + b"\x00" + bytes([len(name)]) + name + b"\x01v" for time, name in zip(times, names, strict=True)]
    last = b"\xfe\x0f\x00\x03end" + b"\x14" + b"v" * 20
    path.write_bytes(b"REDIS0009\xfe\x00" + b"".join(keys) + last + b"\xff" + bytes(8))


def of_report(report: dict) -> dict:
    """Returns what the report says of its keys."""
    totals, heaviest = report["totals"], next(iter(report["top"]["by_memory"]), None)
    return {
        "keys": totals["keys"],
        "memory": totals["memory"],
        # A module's type stands where other types have their encoding.
        "types": {(row["type"], row["encoding"]): (row["keys"], row["memory"]) for row in report["types"]},
        "databases": {row["db"]: (row["keys"], row["memory"]) for row in report["databases"] if row["keys"]},
        "without TTL": report["no_ttl"]["keys"],
        # None if the memory of all keys is unknown.
        "heaviest": heaviest and (heaviest["memory"], key_name(heaviest)),
    }


def group_key(names: tuple | list) -> object:
    """Returns the names of a group as a row of a report has them: one alone is no tuple."""
    return names[0] if len(names) == 1 else tuple(names)


def of_duckdb(path: Path) -> dict:
    """Returns what DuckDB says of the rows."""
    rows = f"read_parquet('{path}')"

    def grouped(column: str) -> dict:
        query = f"SELECT count(*), coalesce(sum(memory), 0)::BIGINT, {column} FROM {rows} GROUP BY {column}"
        found = duckdb.sql(query).fetchall()
        return {group_key(name): (keys, memory) for keys, memory, *name in found}

    keys, memory, forever = duckdb.sql(
        f"SELECT count(*), coalesce(sum(memory), 0)::BIGINT, count(*) FILTER (expires_at IS NULL) FROM {rows}"
    ).fetchall()[0]
    heaviest = duckdb.sql(
        f"SELECT memory, coalesce(encode(key), key_bytes) AS name FROM {rows} ORDER BY memory DESC NULLS LAST, db, name LIMIT 1"
    ).fetchall()[0]
    # Times have to survive the way into Python, too.
    duckdb.sql(f"SELECT min(expires_at), max(expires_at) FROM {rows}").fetchall()
    return {
        "keys": keys,
        "memory": memory,
        "types": grouped("type, coalesce(module, encoding)"),
        "databases": grouped("db"),
        "without TTL": forever,
        "heaviest": heaviest if heaviest[0] is not None else None,
    }


def of_pandas(path: Path) -> dict:
    """Returns what pandas says of the rows, whose columns have to have the right types."""
    frame = pandas.read_parquet(path)
    assert str(frame["expires_at"].dtype) == "datetime64[ms, UTC]", frame["expires_at"].dtype
    assert all(frame[name].dtype == "int64" for name in ["db", "disk"])
    # Unknown memory is null, which makes pandas read floats.
    assert frame["memory"].dtype == ("float64" if frame["memory"].isna().any() else "int64")
    frame["memory"] = frame["memory"].fillna(0).astype("int64")

    def grouped(*columns: object) -> dict:
        groups = frame.groupby(list(columns))["memory"]
        return {group_key(name): (int(rows.size), int(rows.sum())) for name, rows in groups}

    def name(row: pandas.Series) -> bytes:
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
        "heaviest": (memory, first[1]) if memory > 0 else None,
    }


READERS: dict[str, Callable[[Path], dict]] = {"DuckDB": of_duckdb, "pandas": of_pandas}


@dataclasses.dataclass
class Written:
    """A Parquet file, and what the report on the same dump says."""

    parquet: Path
    report: dict


def write(program: Program, dump: Path, folder: Path) -> Written:
    program.run("keys", dump, "--format", "parquet", "-o", folder / "keys.parquet", "--quiet")
    return Written(folder / "keys.parquet", of_report(program.report(dump)))


@pytest.fixture(scope="module")
def written(dump: Path, program: Program, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The Parquet file of a dump of testdata or of the corpus."""
    return write(program, dump, tmp_path_factory.mktemp("parquet"))


@pytest.fixture(scope="module")
def counted(summary: list[str]) -> Iterator[collections.Counter]:
    """Files and rows by reader, printed at the end."""
    counts = collections.Counter()
    yield counts
    summary += [f"{counts[reader, 'files']} files with {counts[reader, 'rows']} rows read by {reader}" for reader in READERS]


@pytest.mark.parametrize("reader", READERS)
def test_rows_are_those_of_the_report(reader: str, written: Written, counted: collections.Counter) -> None:
    read = READERS[reader](written.parquet)
    counted[reader, "files"] += 1
    counted[reader, "rows"] += read["keys"]
    assert read == written.report


@pytest.mark.parametrize("reader", READERS)
def test_odd_times_and_names(reader: str, program: Program, tmp_path: Path) -> None:
    write_odd_dump(tmp_path / "odd.rdb")
    odd = write(program, tmp_path / "odd.rdb", tmp_path)
    assert odd.report["keys"] == 4
    assert READERS[reader](odd.parquet) == odd.report


@pytest.mark.parametrize("reader", READERS)
def test_rules_that_keys_break_are_lists(reader: str, program: Program, tmp_path: Path) -> None:
    dump = ROOT / "testdata" / "dumps" / "shop.rdb"
    program.run("keys", dump, "--policy", "service", "--format", "parquet", "-o", tmp_path / "keys.parquet", "--quiet")
    if reader == "DuckDB":
        query = f"SELECT rule, count(*) FROM (SELECT unnest(breaks) AS rule FROM read_parquet('{tmp_path / 'keys.parquet'}')) GROUP BY rule"
        counted = dict(duckdb.sql(query).fetchall())
    else:
        counted = pandas.read_parquet(tmp_path / "keys.parquet")["breaks"].explode().dropna().value_counts().to_dict()
    findings = collections.Counter()
    for finding in program.report(dump, "--policy", "service")["findings"]["list"]:
        findings[finding["rule"]] += finding["keys"]
    # Rules about patterns and the snapshot are in no key's list until they are asked for.
    assert counted and {rule: findings[rule] for rule in counted} == counted
    assert {rule for rule in findings if rule.startswith("big.") or rule == "key.prefix"} <= counted.keys()
