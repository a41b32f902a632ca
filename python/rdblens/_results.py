"""Results: JSON as the command line writes it, read as attributes or as dicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from . import _native
from ._errors import UsageError


# Bytes of files for a task of an engine: some seconds of reading, against a quarter of a second that a task costs.
GROUP_BYTES = 256 << 20


def _named(fields: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**fields)


class _Result:
    """JSON whose fields are attributes: `report.totals.keys`."""

    def __init__(self, text: bytes) -> None:
        self._json = text
        self._fields: SimpleNamespace | None = None

    def to_json(self) -> str:
        """The JSON that the command line writes."""
        return self._json.decode()

    def to_dict(self) -> dict[str, Any]:
        """The JSON as dicts and lists."""
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def __getattr__(self, name: str) -> Any:
        # Asked for only where there is no such attribute yet; copying asks before there are any.
        if name.startswith("_"):
            raise AttributeError(name)
        if self._fields is None:
            self._fields = json.loads(self._json, object_hook=_named)
        try:
            return getattr(self._fields, name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.to_dict()]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._json == getattr(other, "_json")

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._json,)


class Report(_Result):
    """A report. Its fields are those of the JSON form (`docs/report-schema.md`); a notebook shows the page."""

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Reads a stored report, of the command line or of `to_json`."""
        return cls(text.encode() if isinstance(text, str) else bytes(text))

    def to_html(self, *, lang: str = "en", title: str | None = None, environment: str | None = None) -> str:
        """One self-contained page, in English (`en`) or Chinese (`zh`)."""
        return _native.report_html(self._json, lang, title, environment)

    def _repr_html_(self) -> str:
        return frame(self.to_html())

    def __repr__(self) -> str:
        return f"<rdblens.Report: {self.totals.keys} keys, {self.totals.memory} bytes>"


class Comparison(_Result):
    """A comparison of reports, oldest first (`docs/compare.md`)."""

    def __init__(self, text: bytes, reports: list[tuple[str, bytes]], options: Mapping[str, Any]) -> None:
        super().__init__(text)
        self._reports, self._options = reports, dict(options)

    def to_html(self, *, lang: str = "en") -> str:
        """One self-contained page, in English (`en`) or Chinese (`zh`)."""
        return _native.comparison_html(self._reports, self._options, lang)

    def _repr_html_(self) -> str:
        return frame(self.to_html())

    def __repr__(self) -> str:
        return f"<rdblens.Comparison of {len(self._reports)} reports>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison, (self._json, self._reports, self._options)


class FileCheck(_Result):
    """The verdict on one file; true if it is sound."""

    def __bool__(self) -> bool:
        return bool(self.verdict == "ok")

    def __repr__(self) -> str:
        return f"<rdblens.FileCheck {self.name}: {self.verdict}>"


class Plan(_Result):
    """What all parts of a report have in common (`docs/fleet.md`)."""

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """Reads a plan, of the command line or of `to_json`."""
        return cls(text.encode() if isinstance(text, str) else bytes(text))

    def __len__(self) -> int:
        return len(self.files)

    def shard(self, number: int, count: int) -> list[int]:
        """Positions of the files of the part with this number (from 1) of several of similar size."""
        if not 1 <= number <= count:
            raise UsageError(f"there is no part {number} of {count}: parts are numbered from 1")
        return _native.shard(self._json, number, count)

    def groups(self, size: int = GROUP_BYTES) -> list[list[int]]:
        """Positions of files for tasks of an engine: several small files of `size` bytes in total, or one larger one.

        Every file that could be read is in one group; the groups are in the order of the files.
        """
        groups: list[list[int]] = []
        room = 0
        for number, file in enumerate(self.files):
            if file.unreadable is not None:
                continue
            # A file of unknown size is a task of its own.
            taken = size if file.size is None else file.size
            if not groups or taken > room:
                groups.append([])
                room = size
            groups[-1].append(number)
            room -= taken
        return groups

    def __repr__(self) -> str:
        return f"<rdblens.Plan of {len(self)} files>"


def frame(page: str) -> str:
    """A page within a notebook: its style and its script stay apart from those of the notebook."""
    from html import escape

    return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" style="width:100%;height:70vh;border:0"></iframe>'
