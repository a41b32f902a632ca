"""Arguments as the native functions take them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from numbers import Real
from operator import index
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
# Least and greatest value of numbers, as for the flags of the command line.
RANGES: dict[str, tuple[float, float]] = {
    "limit": (0, 2**64 - 1), "maxmemory": (0, 2**64 - 1), "threads": (0, 1024), "top": (1, 10_000), "depth": (1, 16),
    "min_share": (0, 1),
}  # fmt: skip


def paths_of(paths: Paths) -> list[str]:
    """One path or several, as text."""
    listed: Iterable[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [path_of(path) for path in listed]


def path_of(path: Path) -> str:
    """One path, as text."""
    text = os.fspath(path)
    if text == "-":
        raise UsageError("standard input belongs to the interpreter: give a file")
    return text


def options_of(asked: Mapping[str, Any], reading: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All options, with those that were asked for in the form that the native functions take.

    `asked` are arguments of the function itself, `reading` those that say how files are read.
    """
    unknown = sorted(set(reading or {}) - set(Reading.__annotations__))
    if unknown:
        known = ", ".join(sorted({*asked, *Reading.__annotations__}))
        raise TypeError(f"unknown option {unknown[0]!r}; the options are {known}")
    given = {**asked, **(reading or {})}
    if given.get("mask_key") is not None and not given.get("mask"):
        raise UsageError("mask_key masks nothing without mask=True")
    return {name: _form(name, given.get(name, default)) for name, default in DEFAULTS.items()}


def listed(value: Any) -> list[Any]:
    """One value or several, as a list."""
    if isinstance(value, (str, bytes, int)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _form(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in LISTS:
        return listed(value)
    if name == "db":
        return [whole(name, one) for one in listed(value)]
    if name in TIMES:
        return _milliseconds(name, value)
    if name in PATHS:
        return os.fspath(value)
    if name in PAIRS:
        if not isinstance(value, Mapping):
            raise TypeError(f"{name}: a mapping of names to values, not {type(value).__name__}")
        return [(str(key), str(setting)) for key, setting in value.items()]
    if name == "mask_key":
        return _secret(value)
    if name in RANGES:
        return _within(name, value)
    return value


def _secret(key: Any) -> bytes:
    # `bytes(16)` would be sixteen zeros.
    if not isinstance(key, (bytes, bytearray, memoryview)):
        raise TypeError(f"mask_key: bytes, not {type(key).__name__}")
    if len(key) == 0:
        raise UsageError("mask_key: it is empty; give it secret bytes")
    return bytes(key)


def whole(name: str, value: Any) -> int:
    """A whole number, also of numpy."""
    if isinstance(value, bool):
        raise TypeError(f"{name}: a whole number, not bool")
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name}: a whole number, not {type(value).__name__}") from None


def _within(name: str, value: Any) -> float:
    least, most = RANGES[name]
    number = float(value) if name == "min_share" else whole(name, value)
    if not least <= number <= most:
        raise UsageError(f"{name}: {value} is not in {least}..={most}")
    return number


def _milliseconds(name: str, time: Time) -> int:
    """Seconds since the epoch, or a time with its zone, in milliseconds."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise UsageError("a time needs its zone: datetime(..., tzinfo=timezone.utc)")
        time = time.timestamp()
    if not isinstance(time, Real):
        raise TypeError(f"{name}: seconds or a datetime, not {type(time).__name__}")
    if not abs(time) < _LAST_SECOND:
        raise UsageError(f"{name}: {time} is no time in seconds since the epoch")
    return round(time * 1000)


# Beyond these seconds, milliseconds do not fit in 64 bits.
_LAST_SECOND = 2**63 // 1000
