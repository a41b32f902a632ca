"""Spark 4.1 and later: rows of keys as a data source, and reports that the executors compute.

>>> rdblens.spark.register(spark)                                                   # doctest: +SKIP
>>> spark.read.format("rdblens").load("s3a://backup/2026-11-21/*.rdb")              # doctest: +SKIP
>>> rdblens.spark.analyze(spark, "s3a://backup/2026-11-21/*.rdb", policy="platform")  # doctest: +SKIP

The executors read the files themselves, so a path must mean the same on each of them, and this package must be installed there.
`docs/engines.md` shows how to use it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, Filter, In, InputPartition, StringStartsWith
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from . import Plan, Report, Scan, UsageError, merge_partials, partial, plan, report, scan
from ._errors import ReadError
from ._options import Path, Paths, Time, options_of
from ._results import GROUP_BYTES

__all__ = ["analyze", "register"]

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession) -> None:
    """Makes the data source `rdblens` known to a session.

    Filters reach it if `spark.sql.python.filterPushdown.enabled` is true now: Spark refuses a source that takes filters while it is
    off. Call this again after changing it.
    """
    pushes = str(spark.conf.get(PUSHDOWN, "false")).lower() == "true"
    spark.dataSource.register(FilteredSource if pushes else RowSource)


def analyze(
    spark: SparkSession,
    paths: Paths,
    policy: Path = "default",
    *,
    storage_options: Mapping[str, str] | None = None,
    partition_bytes: int = GROUP_BYTES,
    temp_dir: Path | None = None,
    baseline: Path | None = None,
    now: Time | None = None,
    depth: int | None = None,
    min_share: float | None = None,
    mask: bool = False,
    mask_key: bytes | None = None,
    **options: Any,
) -> Report:
    """The report of `rdblens.analyze`, computed by the executors. `options` are those of `rdblens.plan`.

    A task reads several small files of `partition_bytes` in total, or one larger one. Needs a session with a Spark context, which a
    client of Spark Connect lacks.
    """
    choices: dict[str, Any] = dict(
        baseline=baseline, now=now, depth=depth, min_share=min_share, mask=mask, mask_key=mask_key
    )
    # A mistake in them is found before the work.
    options_of(choices)
    planned = plan(_paths(paths), policy, storage_options=storage_options, **options)
    groups = planned.groups(partition_bytes)
    if not groups:
        return report(planned, [], **choices)
    context = spark.sparkContext
    shared = context.broadcast(planned.to_json())
    # A task has as many processors as Spark gives it.
    threads = int(context.getConf().get("spark.task.cpus") or 1)

    def read(groups: Iterable[list[int]]) -> Iterator[bytes]:
        of_task = Plan.from_json(shared.value)
        for group in groups:
            yield partial(of_task, group, threads=threads, storage_options=storage_options, temp_dir=temp_dir)

    def merge(left: bytes, right: bytes) -> bytes:
        return merge_partials(Plan.from_json(shared.value), [left, right])

    try:
        merged = context.parallelize(groups, len(groups)).mapPartitions(read).treeReduce(merge)
    finally:
        shared.destroy()
    return report(planned, merged, **choices)


def _paths(paths: Paths) -> list[str]:
    """Paths as rdblens has them: Spark's names of the file system and of S3 are taken, too."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [_path(os.fspath(path)) for path in listed]


def _path(path: str) -> str:
    scheme, colon, rest = path.partition(":")
    if colon and scheme in ("s3a", "s3n"):
        return f"s3:{rest}"
    if colon and scheme == "file":
        return "/" + rest.lstrip("/")
    return path


@dataclass
class Files(InputPartition):  # type: ignore[misc]
    """Files of one task. Without any there are no rows."""

    paths: list[str]
    at: float | None


class RowReader(DataSourceReader):  # type: ignore[misc]
    """Reads the columns of a schema."""

    def __init__(self, schema: StructType, paths: list[str], options: dict[str, Any], group_bytes: int) -> None:
        self.schema, self.paths, self.options, self.group_bytes = schema, paths, options, group_bytes
        self.nothing = False

    def partitions(self) -> list[InputPartition]:
        """Several small files each, or one large one."""
        if self.nothing:
            return [Files([], None)]
        # Which files there are and whether they belong together; all else is up to the scans.
        asked = {name: self.options[name] for name in ("allow_same", "storage_options") if name in self.options}
        planned = plan(self.paths, "none", **asked)
        for file in planned.files:
            if file.unreadable is not None:
                raise ReadError(f"{file.name}: {file.unreadable.errors[0].text}", file.name)
        groups = planned.groups(self.group_bytes)
        at = None if planned.reference_time is None else planned.reference_time / 1000
        return [Files(_without_summaries([planned.files[number].path for number in group]), at) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """The rows of a partition. A damaged file fails the task, after the rows before the damage."""
        assert isinstance(partition, Files)
        if not partition.paths:
            return
        # As Spark compares them with what it expects.
        schema = to_arrow_schema(self.schema, timezone="UTC")
        # The driver has seen all files, a task sees some.
        options = {"at": partition.at, **self.options, "allow_same": True}
        rows = scan(partition.paths, columns=schema.names, **options)
        for batch in pyarrow.RecordBatchReader.from_stream(rows):
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _without_summaries(paths: list[str]) -> list[str]:
    """Leaves out summaries of Dragonfly snapshots, which hold no keys: a scan would read all shards beside them."""
    return [path for path in paths if not path.endswith("-summary.dfs")]


class FilteringReader(RowReader):
    """Leaves out rows that filters exclude, as far as a scan can. Spark applies all filters again."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Takes what it can of each filter, and leaves all of them to Spark."""
        for pushed in filters:
            self._push(pushed)
        return filters

    def _push(self, pushed: Filter) -> None:
        attribute: tuple[str, ...] = getattr(pushed, "attribute", ())
        column = attribute[0] if len(attribute) == 1 else None
        if isinstance(pushed, StringStartsWith) and column == "key":
            self.options.setdefault("match", [_literal(pushed.value) + "*"])
        elif isinstance(pushed, (EqualTo, In)):
            values = list(pushed.value) if isinstance(pushed, In) else [pushed.value]
            if column == "key" and all(isinstance(value, str) for value in values):
                self.options.setdefault("match", [_literal(value) for value in values])
            elif column == "pattern" and all(isinstance(value, str) for value in values):
                self.options.setdefault("patterns", values)
            elif column == "type":
                self._restrict("types", [value for value in values if value in TYPES])
            elif column == "db" and all(isinstance(value, int) and value >= 0 for value in values):
                self._restrict("db", values)

    def _restrict(self, option: str, values: list[Any]) -> None:
        before = self.options.get(option)
        both = values if before is None else [value for value in values if value in before]
        self.nothing |= not both
        self.options[option] = both


def _literal(text: str) -> str:
    """A glob that matches this text alone."""
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in text)


TYPES = {"string", "list", "set", "zset", "hash", "stream", "array", "module"}

_Parse = Callable[[str], Any]


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UsageError(f"{text!r}: expected true or false")
    return text.lower() == "true"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _names(text)]


# Options of a scan by their names, which Spark takes in any case, with how their texts are read.
OPTIONS: dict[str, _Parse] = {
    "types": _names, "match": str, "regex": str, "db": _numbers, "no_expired": _flag, "at": float, "policy": str,
    "patterns": str, "breaking": _names, "owners": _names, "server": str, "allocator": str, "separators": _names,
    "salvage": _flag, "allow_same": _flag, "checksum": _flag, "threads": int, "temp_dir": str, "mmap": _flag,
}  # fmt: skip
STORES = ("aws_", "azure_", "azurite_", "google_", "oss_", "cos_", "alibaba_cloud_", "tencentcloud_", "rdblens_")


class RowSource(DataSource):  # type: ignore[misc]
    """The data source `rdblens`: one row per key."""

    @classmethod
    def name(cls) -> str:
        return "rdblens"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._paths: list[str] = []
        # Tasks have one processor unless they say otherwise.
        self._scanned: dict[str, Any] = {"threads": 1}
        self._group_bytes = GROUP_BYTES
        stores: dict[str, str] = {}
        for name, value in ((name.lower(), value) for name, value in options.items()):
            if name == "path":
                self._paths.append(_path(value))
            elif name == "paths":
                self._paths.extend(_path(path) for path in json.loads(value))
            elif name == "partition_bytes":
                self._group_bytes = int(value)
            elif name in OPTIONS:
                self._scanned[name] = OPTIONS[name](value)
            elif name.startswith(STORES):
                stores[name] = value
            else:
                known = ", ".join(sorted([*OPTIONS, "partition_bytes"]))
                raise UsageError(f"no option {name!r}; the options are {known}, and settings of object stores")
        if stores:
            self._scanned["storage_options"] = stores

    def schema(self) -> StructType:
        """All columns; those of a schema that the user gives are read alone."""
        return from_arrow_schema(pyarrow.schema(self._scan()))

    def reader(self, schema: StructType) -> DataSourceReader:
        return RowReader(schema, *self._reads())

    def _reads(self) -> tuple[list[str], dict[str, Any], int]:
        if not self._paths:
            raise UsageError("no path given: load(path)")
        return self._paths, dict(self._scanned), self._group_bytes

    def _scan(self) -> Scan:
        return scan(self._paths, **self._scanned)


class FilteredSource(RowSource):
    """`RowSource` with a reader that takes filters."""

    def reader(self, schema: StructType) -> DataSourceReader:
        return FilteringReader(schema, *self._reads())
