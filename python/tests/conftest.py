"""Where the dumps and the program are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOP = ROOT / "testdata" / "dumps" / "shop.rdb"
LATER = ROOT / "testdata" / "dumps" / "shop-later.rdb"
SHARDS = sorted((ROOT / "testdata" / "servers" / "enterprise").glob("*.rdb.gz"))


def run(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess[bytes]:
    """Runs the command line of the package, which is that of the program."""
    command = [sys.executable, "-m", "rdblens", *map(os.fspath, arguments)]
    return subprocess.run(command, capture_output=True, check=False, cwd=ROOT)


def ndjson(*arguments: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Rows of `rdblens keys`, as far as it gets."""
    return [json.loads(line) for line in run("keys", *arguments, "--format", "ndjson", "--quiet").stdout.splitlines()]


def dumps() -> list[Path]:
    """All dumps of testdata that are read without an error."""
    folders = ("corpus", "dumps", "servers")
    found = [path for folder in folders for path in sorted((ROOT / "testdata" / folder).rglob("*.rdb"))]
    assert len(found) > 30
    return found


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of 300 000 strings: some twenty batches."""
    path = tmp_path_factory.mktemp("large") / "large.rdb"
    with path.open("wb") as out:
        out.write(b"REDIS0011\xfe\x00")
        for number in range(300_000):
            key = b"user:%d:name" % number
            out.write(b"\x00%c%s\x05value" % (len(key), key))
        # No checksum: its place is zero.
        out.write(b"\xff" + bytes(8))
    return path


@pytest.fixture(scope="session")
def copies(large: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Copies of the large dump, which take a second or more to read. Links to one file would be read once."""
    folder = tmp_path_factory.mktemp("copies")
    paths = [folder / f"{number:02}.rdb" for number in range(24)]
    for path in paths:
        shutil.copyfile(large, path)
    return paths
