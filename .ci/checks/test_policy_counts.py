"""Counts of `rdblens analyze --policy PRESET` compared with the truth tables of the corpus.

For every folder and preset: how many keys break each rule about names and sizes, counted here from what the server said about
its keys, and how many the report says.
"""

import base64
import collections
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.inputs import snapshots
from checks.policy_rules import ALL_MUST_EXPIRE, PRESETS, Key, count, ttl_missing
from checks.program import Program

ALL = "all keys"
# Rules of the groups counted here that do not count keys by their own facts alone.
NOT_COUNTED = {"big.total", "key.name-cost", "key.registered"}


def truth(folder: Path) -> list[Key]:
    """Returns the keys that the RDB part of a folder's file holds, as the server described them."""
    preamble = folder / "truth_preamble.tsv.zst"
    table = preamble if preamble.exists() else folder / "truth.tsv.zst"
    header, *lines = subprocess.run(["zstd", "-dcq", table], check=True, capture_output=True).stdout.decode("ascii").splitlines()
    columns = header.split("\t")
    server = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    # Servers before 4.0 do not write keys that are past their expiry.
    drops_expired = server["flavor"] == "redis" and server["version"].split(".")[0] in ("2", "3")
    keys = []
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=True))
        if not (drops_expired and row["expired"] == "1"):
            length = int(row["length"]) if row["length"] else 0
            expires = row["expire_ms"] not in ("", "-1")
            # A hash whose fields all expire goes with the last of them.
            fields = json.loads(row["extra"]).get("fields_with_ttl") if row["type"] == "hash" and row["extra"] else None
            keys.append(Key(base64.b64decode(row["key_b64"]), row["type"], length, expires, expires or fields == length))
    return keys


@pytest.fixture(scope="module")
def keys(folder: Path) -> list[Key]:
    return truth(folder)


class Sums:
    """Keys that break each rule, over all folders, and the number of comparisons."""

    def __init__(self) -> None:
        self.presets = {preset: collections.Counter() for preset in PRESETS}
        self.reports = 0
        self.counts = 0

    def table(self) -> Iterator[str]:
        """Yields a line per rule, with a column per preset."""
        rules = sorted({rule for counts in self.presets.values() for rule in counts} - {ALL})
        rows = [["keys that break", *self.presets]]
        rows += [[rule, *(str(counts[rule]) if rule in counts else "-" for counts in self.presets.values())] for rule in [ALL, *rules]]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            yield "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))])


@pytest.fixture(scope="module")
def sums(summary: list[str]) -> Iterator[Sums]:
    """Counts of all folders, printed at the end."""
    found = Sums()
    yield found
    summary.extend(found.table())
    summary.append(f"{found.counts} counts of {found.reports} reports compared")


@pytest.mark.parametrize("preset", PRESETS)
def test_counts_are_the_servers(folder: Path, keys: list[Key], preset: str, program: Program, sums: Sums) -> None:
    report = program.report(snapshots(folder)[0], "--policy", preset, "--threads", 1)
    checked = report["findings"]["checked"]
    found = collections.Counter()
    for finding in report["findings"]["list"]:
        found[finding["rule"], finding["severity"]] += finding["keys"]
    expected = count(keys, preset)
    said = {pair: found[pair] for pair in expected}
    totals, their_totals = {ALL: report["totals"]["keys"]}, {ALL: len(keys)}
    if preset in ALL_MUST_EXPIRE and "ttl.missing" in checked:
        totals["ttl.missing"] = sum(number for (rule, _), number in found.items() if rule == "ttl.missing")
        their_totals["ttl.missing"] = sum(map(ttl_missing, keys))

    sums.reports += 1
    sums.counts += len(expected) + len(totals)
    sums.presets[preset].update(their_totals)
    for (rule, _), number in expected.items():
        sums.presets[preset][rule] += number

    assert [rule for rule, _ in expected if rule not in checked] == [], "rules that are not in force"
    assert said == expected
    assert totals == their_totals
    counted_here = {pair for pair in found if pair[0].startswith(("key.", "big.")) and pair[0] not in NOT_COUNTED}
    assert sorted(counted_here - expected.keys()) == [], "rules that are found, and no part of the preset"
