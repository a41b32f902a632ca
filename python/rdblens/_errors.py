"""Exceptions. All are an `Error`; those that have a builtin counterpart are that, too."""

from __future__ import annotations

import os
from typing import Any


class Error(Exception):
    """What went wrong, with the file, the byte offset and what to do about it, as far as they are known."""

    file: str | None
    offset: int | None
    hint: str | None

    def __init__(
        self,
        message: str,
        file: str | None = None,
        offset: int | None = None,
        hint: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file, self.offset, self.hint = file, offset, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.file, self.offset, self.hint)


class UsageError(Error, ValueError):
    """A wrong argument."""


class DamagedError(Error):
    """A file is cut short, corrupt, or differs from its checksum."""


class UnreadableError(Error):
    """A file is no snapshot, or of a kind or version that rdblens does not read."""


class LimitError(Error):
    """A file needs more memory or temporary space than it may take."""


class ReadError(Error, OSError):
    """The operating system refused: `errno` says why."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        offset: int | None = None,
        hint: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message, file, offset, hint, errno)
        self.errno, self.filename = errno, file
        self.strerror = None if errno is None else os.strerror(errno)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.file, self.offset, self.hint, self.errno)

    def __str__(self) -> str:
        return str(self.args[0])
