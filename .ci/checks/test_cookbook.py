"""docs/cookbook.md run as it is written: every `sh` block in order, in one folder.

The folder has dump.rdb, yesterday.rdb, shards/*.rdb and team.toml, all from testdata. A comment before a block says what else it is:
`<!-- file: NAME -->` is saved, `<!-- status: N -->` ends with that status, `<!-- manifest -->` is checked against the schemas of
Kubernetes, the script of a `<!-- job -->` is run over a snapshot that passes and one that fails. YAML is parsed, lines of a crontab are
read as cron and sh do.
"""

import collections
import dataclasses
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from checks.inputs import LATER, ROOT, SHOP
from checks.program import Program

PAGE = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
KUBERNETES = "1.34"
BLOCK = re.compile(r"^(?:<!-- (?P<note>.*?) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# At least so many blocks of each kind are on the page.
LEAST = {"sh": 15, "yaml": 3, "crontab": 3}
# `redis-cli -h HOST --rdb FILE` without a server: HOST is the snapshot of one.
REDIS_CLI = """#!/bin/sh
[ $# = 4 ] && [ "$1 $3" = '-h --rdb' ] && cp "$2" "$4"
"""
# `duckdb -c SQL` by the Python package, which has no program: rows between bars.
DUCKDB = """#!{python}
import sys, duckdb
assert sys.argv[1] == "-c" and len(sys.argv) == 3
rows = duckdb.sql(sys.argv[2])
print(rows)
sys.exit(0 if rows.limit(1).fetchall() else "no rows")
"""


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of the page."""

    line: int
    note: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.kind}"


BLOCKS = [
    Block(PAGE.count("\n", 0, found.start()) + 1, found["note"] or "", found["kind"], found["text"]) for found in BLOCK.finditer(PAGE)
]


@dataclasses.dataclass(frozen=True)
class Shell:
    """The folder in which the page is run, and its environment."""

    folder: Path
    environment: dict[str, str]

    def run(self, text: str) -> subprocess.CompletedProcess:
        command = ["sh", "-eu", "-c", text]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def parse(self, text: str) -> None:
        """Lets sh read the text without running it."""
        done = subprocess.run(["sh", "-n", "-c", text], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def saved_with(shard: Path, other: Path) -> bytes:
    """Returns the dump `other` with the creation time of `shard`, as the shards of one night have it, and without a checksum."""
    field = b"\xfa\x05ctime\xc2"
    time = shard.read_bytes().split(field, 1)[1][:4]
    before, after = other.read_bytes().split(field, 1)
    return before + field + time + after[4:-8] + bytes(8)


@pytest.fixture(scope="module")
def shell(program: Program, tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Shell:
    """Dumps and programs that the page speaks of."""
    for name in ["jq", "promtool"]:
        tool(name)
    folder = tmp_path_factory.mktemp("cookbook")
    (folder / "shards").mkdir()
    for source, name in [(LATER, "dump.rdb"), (SHOP, "yesterday.rdb"), (SHOP, "shards/cache-1.rdb")]:
        shutil.copy(source, folder / name)
    (folder / "shards" / "cache-2.rdb").write_bytes(saved_with(SHOP, LATER))
    shutil.copy(ROOT / "testdata" / "policy" / "shop.toml", folder / "team.toml")
    programs = folder / ".programs"
    programs.mkdir()
    (programs / "rdblens").symlink_to(program.path)
    for name, text in [("duckdb", DUCKDB.format(python=sys.executable)), ("redis-cli", REDIS_CLI)]:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    counts = collections.Counter(block.kind for block in BLOCKS)
    summary.append(f"blocks of the cookbook: {dict(counts)}")
    return Shell(folder, {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})


def check_sh(block: Block, shell: Shell) -> None:
    done = shell.run(block.text)
    expected = int(block.note.removeprefix("status: ")) if block.note.startswith("status: ") else 0
    assert done.returncode == expected, done.stderr
    # Only promtool, which says what it checks, and a gate, which names the rules that failed or were not evaluated, may write there.
    of_gate = ("rdblens: not evaluated: ", "rdblens: gate failed: ")
    said = [line for line in done.stderr.splitlines() if not line.startswith(of_gate)]
    assert not said or "Checking" in done.stderr, done.stderr


def check_file(block: Block, shell: Shell) -> None:
    (shell.folder / block.note.removeprefix("file: ")).write_text(block.text)
    if block.kind == "sh":
        shell.parse(block.text)


def check_crontab(block: Block, shell: Shell) -> None:
    for line in block.text.splitlines():
        entry = re.fullmatch(r"(?:@reboot|(?:[\d*/,-]+\s+){4}[\d*/,-]+)\s+\w+\s+(.+)", line)
        assert entry is not None, f"no line of a crontab: {line}"
        assert "%" not in entry[1], f"cron takes a bare % for the end of the line: {line}"
        shell.parse(entry[1])


def check_yaml(block: Block) -> None:
    documents = list(yaml.safe_load_all(block.text))
    assert documents and all(isinstance(document, dict) for document in documents)
    if block.note == "manifest":
        for document in documents:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)


def check_job(block: Block, shell: Shell, tmp_path: Path) -> None:
    """Runs the script of a GitLab job in a folder with the files of its repository, on the accepted snapshot and on a worse one."""
    [job] = yaml.safe_load(block.text).values()
    for name in ["team.toml", "redis-baseline.json"]:
        shutil.copy(shell.folder / name, tmp_path)
    for server, status in [("yesterday.rdb", 0), ("dump.rdb", 1)]:
        runner = Shell(tmp_path, {**shell.environment, "REDIS_HOST": str(shell.folder / server)})
        done = runner.run("\n".join(job["script"]))
        assert done.returncode == status, done.stderr
        for name in job["artifacts"]["paths"]:
            (tmp_path / name).unlink()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block(block: Block, shell: Shell, tmp_path: Path) -> None:
    if block.kind == "yaml":
        check_yaml(block)
    if block.note == "job":
        check_job(block, shell, tmp_path)
    if block.note.startswith("file: "):
        check_file(block, shell)
    elif block.kind == "sh":
        check_sh(block, shell)
    elif block.kind == "crontab":
        check_crontab(block, shell)


def test_all_blocks_were_found() -> None:
    counts = collections.Counter(block.kind for block in BLOCKS)
    assert PAGE.count("```") == 2 * len(BLOCKS)
    assert {kind: number for kind, number in LEAST.items() if counts[kind] < number} == {}
    assert any(block.note == "job" for block in BLOCKS)
