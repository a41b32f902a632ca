"""Damages the commands of append-only files that real servers wrote: `rdblens check` calls ok what the server loads, and nothing else.

The files have a manifest, a snapshot and one file of commands. Servers also refuse commands that they do not know, which `check` does not
look at: copies refused for that reason are left out.
"""

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server import Server

from checks.program import Program
from checks.servers import ServerBinary

COPIES = 14
# The gate damages the same places each time; `--seed` tries others.
SEED = 1
SETTINGS = ["--appendonly", "yes", "--appendfsync", "always", "--aof-load-truncated", "yes"]


@pytest.fixture(scope="module")
def written(binary: ServerBinary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the append-only files of a server."""
    folder = tmp_path_factory.mktemp(binary.name)
    with Server(*SETTINGS, binary=str(binary.path)) as server:
        server.client.pipeline(("SET", f"key:{i}", "v" * i) for i in range(30))
        server.client.call("BGREWRITEAOF")
        while server.info("persistence")["aof_rewrite_in_progress"] != "0":
            time.sleep(0.05)
        server.client.pipeline(("RPUSH", f"list:{i}", "a", "b\r\n*1\r\n") for i in range(20))
        shutil.copytree(Path(server.directory) / "appendonlydir", folder / "appendonlydir")
    return folder


def flip(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def zero(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    part = data[at : at + rng.randrange(1, 60)]
    data[at : at + len(part)] = bytes(len(part))


def insert(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.randrange(1, 9))


def drop(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.randrange(1, 9)]


def append(rng: random.Random, data: bytearray) -> None:
    data += rng.choice([bytes(100), b"\n", b"#TS:1\r\n", b"#x", b"junk", b"*3\r\n$3", b"*", b"*0\r\n"])


def repeat(rng: random.Random, data: bytearray) -> None:
    data += data[rng.randrange(len(data)) :]


COMMANDS: list[Callable[[random.Random, bytearray], None]] = [flip, cut, zero, insert, drop, append]
MANIFEST: list[Callable[[random.Random, bytearray], None]] = [flip, cut, append, repeat]


def refusal(folder: Path, binary: ServerBinary) -> str | None:
    """Returns what a server says that does not load the files."""
    try:
        with Server(*SETTINGS, binary=str(binary.path), folder=folder):
            return None
    except RuntimeError as error:
        return str(error)


def test_what_servers_load_is_ok(binary: ServerBinary, written: Path, program: Program, summary: list[str], seed: int, pytestconfig, tmp_path):
    rng = random.Random(SEED if pytestconfig.option.seed is None else seed)
    (commands,) = written.glob("appendonlydir/*.incr.aof")
    (manifest,) = written.glob("appendonlydir/*.manifest")
    differences, loaded, left_out = [], 0, 0
    for number in range(COPIES):
        copy = tmp_path / str(number)
        shutil.copytree(written, copy)
        file, ways = rng.choices([(commands, COMMANDS), (manifest, MANIFEST)], [4, 1])[0]
        data, way = bytearray(file.read_bytes()), rng.choice(ways)
        way(rng, data)
        (copy / file.relative_to(written)).write_bytes(data)
        said = refusal(copy, binary)
        if said is not None and "unknown command" in said.lower():
            left_out += 1
            continue
        done = subprocess.run([program.path, "check", copy / "appendonlydir"], capture_output=True, check=False)
        loaded += said is None
        if (done.returncode == 0) != (said is None):
            told = (done.stdout + done.stderr).decode(errors="replace")
            differences.append(f"{copy}: {way.__name__} of {file.name}: the server says {said}, rdblens {told}")
    assert differences == []
    assert 0 < loaded < COPIES - left_out, "damage of both kinds"
    summary.append(f"{binary.name}: {COPIES - left_out} damaged append-only files, of which the server loads {loaded}")
