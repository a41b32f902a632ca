"""`rdblens compare --keys` after migrations between running servers.

A server fills itself with random keys. They move, by DUMP and RESTORE, to two shards that keep its limits, and to four that
pack nothing. The two deployments have to be equal, key by key; then one key of each type is changed, one expiry, one key is
added and one removed, and exactly these have to be found.
"""

import contextlib
import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from server import Client, Server

from checks.program import Place, Program, key_name
from checks.random_keys import DATABASES, fill
from checks.servers import ServerBinary

KEYS = 600
# Limits under which all collections are tables, and lists have nodes of three elements. Their older names do for all servers.
TABLES = {
    "hash-max-ziplist-entries": "0",
    "zset-max-ziplist-entries": "0",
    "set-max-intset-entries": "0",
    "set-max-listpack-entries": "0",
    "list-max-ziplist-size": "3",
    "rdbcompression": "no",
}
CHANGES = {
    b"string": lambda key: ("APPEND", key, "!"),
    b"list": lambda key: ("RPUSH", key, "one more"),
    b"set": lambda key: ("SADD", key, "one more"),
    b"zset": lambda key: ("ZADD", key, "12.5", "one more"),
    b"hash": lambda key: ("HSET", key, "one more", "value"),
    b"stream": lambda key: ("XADD", key, "*", "one more", "value"),
}
PACKED = {b"intset", b"listpack", b"ziplist"}
YEAR = 365 * 24 * 3600 * 1000


@contextlib.contextmanager
def shards(binary: ServerBinary, count: int, settings: dict[str, str]) -> Iterator[list[Server]]:
    words = [word for name, value in binary.known(settings).items() for word in (f"--{name}", value)]
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Server(*words, binary=str(binary.path))) for _ in range(count)]


def in_all(client: Client) -> Iterator[tuple[int, list[bytes]]]:
    """Yields the keys of each database, which is selected meanwhile."""
    for db in sorted(set(DATABASES)):
        client.call("SELECT", db)
        yield db, sorted(client.call("KEYS", "*"))


def migrate(source: Client, shards: list[Server]) -> None:
    for db, keys in in_all(source):
        dumps = source.pipeline(("DUMP", key) for key in keys)
        expiries = source.pipeline(("PEXPIRETIME", key) for key in keys)
        commands: list[list[tuple]] = [[("SELECT", db)] for _ in shards]
        for key, dump, at in zip(keys, dumps, expiries, strict=True):
            if dump is not None:
                commands[zlib.crc32(key) % len(shards)].append(("RESTORE", key, max(at, 0), dump, "ABSTTL"))
        for shard, of_shard in zip(shards, commands, strict=True):
            shard.client.pipeline(of_shard)


def save(shards: list[Server], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for number, shard in enumerate(shards):
        shard.client.call("SAVE")
        shutil.copyfile(shard.dump, folder / f"shard-{number}.rdb")
    return folder


def encodings(shards: list[Server]) -> set[bytes]:
    """Returns the encodings of all collections but lists, short ones of which are packed whatever the limits."""
    found = set()
    for shard in shards:
        for _, keys in in_all(shard.client):
            kinds = shard.client.pipeline(("TYPE", key) for key in keys)
            chosen = [key for key, kind in zip(keys, kinds, strict=True) if kind in (b"set", b"zset", b"hash")]
            found.update(shard.client.pipeline(("OBJECT", "ENCODING", key) for key in chosen))
    return found


def change(shards: list[Server]) -> dict[Place, list[str]]:
    """Changes a key of each type and more on the shards; returns how each differs now."""
    expected: dict[Place, list[str]] = {}
    left = dict(CHANGES)
    expiry, removal = True, True
    for shard in shards:
        for db, keys in in_all(shard.client):
            kinds = shard.client.pipeline(("TYPE", key) for key in keys)
            ttls = shard.client.pipeline(("PTTL", key) for key in keys)
            for key, kind, ttl in zip(keys, kinds, ttls, strict=True):
                if command := left.pop(kind, None):
                    shard.client.call(*command(key))
                    expected[db, key] = ["value"]
                elif expiry and ttl == -1:
                    shard.client.call("PEXPIRE", key, YEAR)
                    expected[db, key], expiry = ["expiry"], False
                elif removal and ttl == -1:
                    shard.client.call("DEL", key)
                    expected[db, key], removal = ["removed"], False
    shards[-1].client.call("SELECT", 0)
    shards[-1].client.call("SET", "a key that was not there", "value")
    expected[0, b"a key that was not there"] = ["added"]
    assert not left and not expiry and not removal
    return expected


def test_migrations_are_compared(program: Program, binary: ServerBinary, seed: int, summary: list[str], tmp_path: Path) -> None:
    with (
        shards(binary, 1, {}) as [source],
        shards(binary, 2, {}) as two,
        shards(binary, 4, TABLES) as four,
    ):
        fill(source.client, seed, KEYS)
        for target in (two, four):
            migrate(source.client, target)
        before, after = save(two, tmp_path / "two"), save(four, tmp_path / "four")
        equal = compare(program, before, after, "--fail-on-difference")
        assert equal["sums"]["differing"] == 0 and equal["sums"]["equal"] > KEYS // 2, f"seed {seed}: {equal['sums']}"
        assert encodings(two) & PACKED and not encodings(four) & PACKED

        expected = change(four)
        rows = tmp_path / "rows.ndjson"
        sums = compare(program, before, save(four, after), "--rows", rows)["sums"]
        found = {}
        for line in rows.read_text().splitlines():
            row = json.loads(line)
            found[row["db"], key_name(row)] = row["change"]
        assert found == expected, f"seed {seed}"
        assert sums["differing"] == len(expected) and sums["changed"] == len(CHANGES)
    summary.append(f"{binary.name}: {equal['sums']['equal']} keys equal in two packed shards and four with tables, {len(expected)} changes found")


def compare(program: Program, *words: object) -> dict:
    return json.loads(program.run("compare", "--keys", *words, "--quiet", "--format", "json"))
