"""Arguments as the native functions take them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypedDict

from ._errors import UsageError

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Iterable[Path]
Texts: TypeAlias = str | Iterable[str]
Time: TypeAlias = datetime | int | float


class Reading(TypedDict, total=False):
    """Options that all functions take; `docs/python.md` explains them."""

    db: int | Iterable[int] | None
    regex: Texts | None
    no_expired: bool
    at: Time | None
    server: str | None
    server_config: Mapping[str, object] | None
    allocator: str | None
    separators: Texts | None
    salvage: bool
    allow_same: bool
    checksum: bool
    mmap: bool
    threads: int
    temp_dir: Path | None


# With their defaults; `None` leaves it to the library.
DEFAULTS: dict[str, Any] = {
    "db": None, "types": None, "match": None, "regex": None, "no_expired": False, "limit": None, "at": None,
    "server": None, "server_config": None, "allocator": None, "separators": None, "salvage": False,
    "allow_same": False, "checksum": True, "mmap": False, "threads": 0, "temp_dir": None, "policy": None, "top": None,
    "depth": None, "min_share": None, "what_if": None, "maxmemory": None, "maxmemory_policy": None,
    "inspect_values": False, "now": None, "baseline": None, "mask": False, "mask_key": None, "patterns": None,
    "breaking": None, "owners": None, "storage_options": None,
}  # fmt: skip

LISTS = {"types", "match", "regex", "separators", "what_if", "patterns", "breaking", "owners"}
TIMES = {"at", "now"}
PATHS = {"policy", "temp_dir", "baseline"}
PAIRS = {"server_config", "storage_options"}


def paths_of(paths: Paths) -> list[str]:
    """One path or several, as text."""
    listed: Iterable[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    texts = [os.fspath(path) for path in listed]
    for text in texts:
        if text == "-":
            raise UsageError("standard input belongs to the interpreter: give a file")
    return texts


def options_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """All options, with those that were asked for in the form that the native functions take."""
    unknown = sorted(set(asked) - set(DEFAULTS))
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; the options are {', '.join(sorted(DEFAULTS))}")
    return {name: _form(name, asked.get(name, default)) for name, default in DEFAULTS.items()}


def _form(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in LISTS:
        return [value] if isinstance(value, str) else list(value)
    if name == "db":
        return [value] if isinstance(value, int) else list(value)
    if name in TIMES:
        return _milliseconds(value)
    if name in PATHS:
        return os.fspath(value)
    if name in PAIRS:
        return [(str(key), str(setting)) for key, setting in value.items()]
    if name == "mask_key":
        return bytes(value)
    return value


def _milliseconds(time: Time) -> int:
    """Seconds since the epoch, or a time with its zone, in milliseconds."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise UsageError("a time needs its zone: datetime(..., tzinfo=timezone.utc)")
        return round(time.timestamp() * 1000)
    return round(time * 1000)
