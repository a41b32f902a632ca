"""Runs the program under test."""

import base64
import json
import subprocess
from pathlib import Path

# Database and name of a key.
Place = tuple[int, bytes]


class Program:
    """The rdblens binary under test; every run has to end with status 0."""

    def __init__(self, path: Path):
        self.path = path

    def run(self, *words: object) -> bytes:
        """Returns what the program writes to its standard output."""
        command = [str(self.path), *map(str, words)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stderr.decode(errors='replace')}"
        return done.stdout

    def report(self, *words: object) -> dict:
        """Returns the JSON report of `rdblens analyze`."""
        return json.loads(self.run("analyze", *words, "--quiet", "--format", "json"))

    def keys(self, *words: object) -> dict[Place, dict]:
        """Returns the rows of `rdblens keys`, each of which has to be there once."""
        rows: dict[Place, dict] = {}
        for line in self.run("keys", *words).splitlines():
            row = json.loads(line)
            place = (row["db"], key_name(row))
            assert place not in rows, f"a key came twice: {line!r}"
            rows[place] = row
        return rows


def key_name(row: dict) -> bytes:
    """Returns the name of a key as bytes: rows have it in Base64 where it is no text."""
    return row["key"].encode() if row["key"] is not None else base64.b64decode(row["key_base64"])
