"""Dumps in folders and in a bucket of moto, which engines of .ci/fleet read, and what `rdblens analyze` says of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import botocore.config
import pytest

import rdblens

ROOT = Path(__file__).resolve().parents[2]
SHARDS = sorted((ROOT / "testdata" / "servers" / "enterprise").glob("*.rdb.gz"))
DRAGONFLY = ROOT / "testdata" / "servers" / "dragonfly"
BUCKET = "backup"


def found_dumps() -> list[Path]:
    """Dumps of many servers: those of testdata, and those of the folders in RDBLENS_CORPUS."""
    others = map(Path, filter(None, os.environ.get("RDBLENS_CORPUS", "").split(":")))
    folders = [ROOT / "testdata" / "corpus", ROOT / "testdata" / "dumps", *others]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.rglob("*.rdb"))]
    return [path for path in found if rdblens.check(path)]


@pytest.fixture(scope="session")
def dumps() -> list[Path]:
    listed = found_dumps()
    assert len(listed) >= 20
    return listed


@pytest.fixture(scope="session")
def whole(dumps: list[Path]) -> rdblens.Report:
    """What one run says of all dumps."""
    return rdblens.analyze(dumps, "platform", allow_same=True)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Dumps that take a while: a tenth of a second or more each."""
    folder = tmp_path_factory.mktemp("large")
    paths = [folder / f"{number:02}.rdb" for number in range(24)]
    with paths[0].open("wb") as out:
        out.write(b"REDIS0011\xfe\x00")
        for number in range(200_000):
            key = b"user:%d:name" % number
            out.write(b"\x00%c%s\x05value" % (len(key), key))
        # No checksum: its place is zero.
        out.write(b"\xff" + bytes(8))
    for path in paths[1:]:
        shutil.copyfile(paths[0], path)
    return paths


@pytest.fixture(scope="session")
def storage_options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of a server of moto, which holds the shards of one night below `s3://backup/night/`."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    log = (tmp_path_factory.mktemp("moto") / "log").open("wb")
    command = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            wait_for(port, server)
            url = f"http://127.0.0.1:{port}"
            keys = {"aws_access_key_id": "AKIAEXAMPLE", "aws_secret_access_key": "secret"}
            config = botocore.config.Config(s3={"addressing_style": "path"})
            client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=config, **keys)
            client.create_bucket(Bucket=BUCKET)
            for shard in SHARDS:
                client.put_object(Bucket=BUCKET, Key=f"night/{shard.name}", Body=shard.read_bytes())
            yield {**keys, "aws_endpoint_url": url, "aws_region": "us-east-1"}
        finally:
            server.terminate()


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "moto ended"
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("moto does not listen")


@pytest.fixture(scope="session")
def night(storage_options: dict[str, str]) -> rdblens.Report:
    """What one run says of the shards in the bucket."""
    return rdblens.analyze(f"s3://{BUCKET}/night/", "platform", storage_options=storage_options)


def by_type(report: rdblens.Report) -> dict[str, tuple[int, int]]:
    """Keys and memory of each type."""
    totals: dict[str, tuple[int, int]] = {}
    for row in report.types:
        keys, memory = totals.get(row.type, (0, 0))
        totals[row.type] = (keys + row.keys, memory + row.memory)
    return totals


def program() -> list[str]:
    """The command line of the package, which is that of the program."""
    return [str(Path(sys.executable).with_name("rdblens"))]


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The environment with settings of stores."""
    return {**os.environ, **{name.upper(): value for name, value in settings.items()}}


def kill_one(command: bytes) -> int:
    """Kills a process that descends from this one and has this text in its command line, and returns its number."""
    parents, commands = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = int(fields[1])
                commands[int(folder.name)] = (folder / "cmdline").read_bytes()
            except OSError:
                continue

    def is_ours(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    found = [process for process, text in commands.items() if command in text and is_ours(process)]
    assert found, f"no process of {command!r}"
    os.kill(found[0], signal.SIGKILL)
    return found[0]


def code(heading: str, language: str = "python") -> str:
    """The blocks of a language below a heading of docs/engines.md."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks, f"no {language} below {heading}"
    return "\n".join(blocks)
