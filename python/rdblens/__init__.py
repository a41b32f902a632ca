"""Reads Redis and Valkey RDB snapshots: rows of keys as Arrow, memory reports, merged reports of fleets.

>>> import rdblens
>>> report = rdblens.analyze("dump.rdb", policy="platform")          # doctest: +SKIP
>>> duckdb.sql("select type, sum(memory) from scan group by 1")      # doctest: +SKIP

`docs/python.md` shows how to use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path as _Path

from . import _native
from ._errors import DamagedError, Error, LimitError, ReadError, UnreadableError, UsageError
from ._native import VERSION as __version__
from ._native import Scan
from ._options import Path, Paths, Reading, Texts, Time, listed, options_of, path_of, paths_of, whole
from ._results import Comparison, FileCheck, Plan, Report

__all__ = [
    "Comparison",
    "DamagedError",
    "Error",
    "FileCheck",
    "LimitError",
    "Plan",
    "ReadError",
    "Reading",
    "Report",
    "Scan",
    "UnreadableError",
    "UsageError",
    "__version__",
    "analyze",
    "check",
    "compare",
    "merge_partials",
    "partial",
    "plan",
    "report",
    "scan",
]

try:  # Python 3.11
    from typing import Unpack
except ImportError:
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from typing_extensions import Unpack
    else:

        class Unpack:
            """Stands for the annotation, which is not evaluated."""


def scan(
    paths: Paths,
    columns: Texts | None = None,
    types: Texts | None = None,
    match: Texts | None = None,
    policy: Path | None = None,
    storage_options: Mapping[str, str] | None = None,
    *,
    patterns: Texts | None = None,
    breaking: Texts | None = None,
    owners: Texts | None = None,
    inspect_values: bool = False,
    limit: int | None = None,
    mask: bool = False,
    mask_key: bytes | None = None,
    **reading: Unpack[Reading],
) -> Scan:
    """Rows of keys, to be read by whatever takes Arrow: pyarrow, polars, pandas, DuckDB. Reads nothing yet.

    `columns` are those of `rdblens keys --format parquet`; fewer of them take less time. With `policy` rows have the columns
    `breaks`, `owner` and `class`; `inspect_values` has its rules look into values. A damaged file raises after the rows before the damage, unless `salvage` is set.
    """
    if inspect_values and policy is None and breaking is None and owners is None:
        raise UsageError("inspect_values needs rules: give a policy")
    options = options_of(
        dict(types=types, match=match, policy=policy, patterns=patterns, breaking=breaking, owners=owners, limit=limit,
             inspect_values=inspect_values, mask=mask, mask_key=mask_key, storage_options=storage_options), reading,
    )  # fmt: skip
    return Scan(paths_of(paths), None if columns is None else listed(columns), options)


def analyze(
    paths: Paths,
    policy: Path = "default",
    *,
    types: Texts | None = None,
    match: Texts | None = None,
    storage_options: Mapping[str, str] | None = None,
    top: int | None = None,
    depth: int | None = None,
    min_share: float | None = None,
    what_if: Texts | None = None,
    maxmemory: int | None = None,
    maxmemory_policy: str | None = None,
    inspect_values: bool = False,
    baseline: Path | None = None,
    now: Time | None = None,
    limit: int | None = None,
    mask: bool = False,
    mask_key: bytes | None = None,
    **reading: Unpack[Reading],
) -> Report:
    """One report on all inputs, as `rdblens analyze` makes it. `policy` is a preset or a path that ends in `.toml`.

    A damaged file gives a report on what is before the damage: `complete` is false, and `files` says why.
    """
    options = options_of(
        dict(policy=policy, types=types, match=match, top=top, depth=depth, min_share=min_share, what_if=what_if,
             maxmemory=maxmemory, maxmemory_policy=maxmemory_policy, inspect_values=inspect_values, baseline=baseline,
             now=now, limit=limit, mask=mask, mask_key=mask_key, storage_options=storage_options), reading,
    )  # fmt: skip
    return Report(_native.analyze(paths_of(paths), options))


def check(
    path: Path,
    *,
    storage_options: Mapping[str, str] | None = None,
    checksum: bool = True,
    mmap: bool = False,
    threads: int = 0,
    temp_dir: Path | None = None,
) -> FileCheck:
    """Verifies one file: framing, every value, checksum."""
    options = options_of(
        dict(checksum=checksum, mmap=mmap, threads=threads, temp_dir=temp_dir, storage_options=storage_options)
    )  # fmt: skip
    return FileCheck(_native.check(path_of(path), options))


def compare(
    reports: Iterable[Report | Path],
    *,
    storage_options: Mapping[str, str] | None = None,
    top: int | None = None,
    maxmemory: int | None = None,
    names: Iterable[str] | None = None,
) -> Comparison:
    """Compares reports, oldest first: `Report` objects, paths of stored reports (`.json`), or paths of dumps."""
    options = options_of(dict(top=top, maxmemory=maxmemory))
    many = [reports] if isinstance(reports, (str, os.PathLike)) else reports
    read = [_named_report(report, number, storage_options) for number, report in enumerate(many, 1)]
    if names is not None:
        read = [(name, text) for name, (_, text) in zip(names, read, strict=True)]
    return Comparison(_native.compare(read, options), read, options)


# Patterns of a dump that is compared, as the command line takes them.
_COMPARED = 10_000


def _named_report(report: Report | Path, number: int, stores: Mapping[str, str] | None) -> tuple[str, bytes]:
    if isinstance(report, Report):
        return f"report {number}", report.to_json().encode()
    path = os.fspath(report)
    if path.lower().endswith(".json") and "://" not in path:
        # A name that is not UTF-8 is shown with the bytes that are not.
        shown = os.fsencode(path).decode(errors="backslashreplace")
        return shown, _Path(path).read_bytes()
    read = analyze(path, top=_COMPARED, storage_options=stores)
    # As reports show it: an address without its query.
    given: list[str] = getattr(read.options, "inputs", None) or [file.name for file in read.source.files]
    return given[0], read.to_json().encode()


def plan(
    paths: Paths,
    policy: Path = "default",
    *,
    types: Texts | None = None,
    match: Texts | None = None,
    storage_options: Mapping[str, str] | None = None,
    top: int | None = None,
    what_if: Texts | None = None,
    maxmemory: int | None = None,
    maxmemory_policy: str | None = None,
    inspect_values: bool = False,
    **reading: Unpack[Reading],
) -> Plan:
    """Fixes what depends on all inputs, so that several processes can compute one report: see `docs/fleet.md`."""
    options = options_of(
        dict(policy=policy, types=types, match=match, top=top, what_if=what_if, maxmemory=maxmemory,
             maxmemory_policy=maxmemory_policy, inspect_values=inspect_values, storage_options=storage_options), reading,
    )  # fmt: skip
    return Plan(_native.plan(paths_of(paths), options))


def partial(
    plan: Plan,
    files: int | Iterable[int],
    *,
    storage_options: Mapping[str, str] | None = None,
    mmap: bool = False,
    threads: int = 0,
    temp_dir: Path | None = None,
) -> bytes:
    """The partial report of one or several files of a plan, by position from 0. Holds names of keys as they are."""
    options = options_of(dict(mmap=mmap, threads=threads, temp_dir=temp_dir, storage_options=storage_options))
    numbers = [whole("files", number) for number in listed(files)]
    if any(number < 0 for number in numbers):
        raise UsageError(f"there is no file {min(numbers)}: positions count from 0")
    return _native.partial(plan.to_json().encode(), numbers, options)


def merge_partials(plan: Plan, parts: Iterable[bytes]) -> bytes:
    """Merges partial reports of a plan into one, in any order."""
    return _native.merge(plan.to_json().encode(), _numbered(parts), True, options_of({}))


def report(
    plan: Plan,
    parts: bytes | Iterable[bytes],
    *,
    baseline: Path | None = None,
    now: Time | None = None,
    depth: int | None = None,
    min_share: float | None = None,
    mask: bool = False,
    mask_key: bytes | None = None,
) -> Report:
    """The report of a plan, of one or several partial reports. If files are missing it is incomplete and names them."""
    options = options_of(
        dict(baseline=baseline, now=now, depth=depth, min_share=min_share, mask=mask, mask_key=mask_key)
    )  # fmt: skip
    many = [bytes(parts)] if isinstance(parts, (bytes, bytearray, memoryview)) else parts
    return Report(_native.merge(plan.to_json().encode(), _numbered(many), False, options))


def _numbered(parts: Iterable[bytes]) -> list[tuple[str, bytes]]:
    return [(f"part {number}", part) for number, part in enumerate(parts, 1)]


