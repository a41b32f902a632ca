#!/usr/bin/env python3
"""Holds the `instance` section of `rdblens analyze` against running servers.

    python3 .ci/live_instance.py --rdblens target/release/rdblens --server redis=/usr/bin/redis-server,jemalloc-q16

For each server two rounds, with default settings and as the only node of a cluster: the server is filled with random keys
of every type and size (a third of them expire), saves, and another one is started on exactly that file. When that one is
idle, its `used_memory` without `used_memory_startup` is held against our total, and the databases' part of
`used_memory_overhead` against our overhead. More than 1 % apart ends with status 1. Python's standard library only.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # a run leaves nothing in the tree
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "testdata"))

from server import ReplyError, Server, free_port  # noqa: E402

MOST = 1.0  # per cent
ROUNDS = ["default", "cluster"]
SLOTS = 16_384
# So many keys of each kind, per 100 keys.
KINDS = {"text": 50, "number": 14, "long": 2, "list": 8, "ints": 5, "set": 6, "zset": 6, "hash": 8, "stream": 1}
# How many elements collections have: mostly few, now and then more than any packed form takes.
SIZES = [1, 2, 3, 5, 8, 12, 20, 30]
LARGE = [130, 200, 300, 520, 700]


class Node(Server):
    """A server of a given binary in a given directory."""

    def __init__(self, binary, directory, *options):
        super().__init__("--dir", directory, *options, binary=binary)

    def tables(self):
        """What the server counts as overhead of its databases: main tables, expires tables, links of slots."""
        stats = pairs(self.client.call("MEMORY", "STATS"))
        sums = dict.fromkeys(("main", "expires", "slot-to-keys"), 0)
        for name, value in stats.items():
            if name.startswith(b"db.") and isinstance(value, list):
                for part, size in pairs(value).items():
                    sums[part.decode().removeprefix("overhead.hashtable.")] += size
        return sums

    def is_rehashing(self):
        """Whether entries are being moved, which the sizes of the tables do not show. Redis 7.0 does not say."""
        return pairs(self.client.call("MEMORY", "STATS")).get(b"db.dict.rehashing.count", 0) > 0

    def wait_until_settled(self):
        """Waits until no table is being moved and all stay as they are for a second: on a busy machine that takes long."""
        self.wait_until_idle()
        before = None
        for _ in range(120):
            now = self.tables()
            if now == before and not self.is_rehashing():
                return
            before = now
            time.sleep(1)
        raise SystemExit("the server does not come to an end with its tables")


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def texts(rng, count, most):
    """So many different short texts."""
    return {b"%x:%s" % (n, b"v" * rng.randrange(most)) for n in rng.sample(range(1 << 30), count)}


def commands(rng, kind, key):
    """What makes one key."""
    size = rng.choice(LARGE) if rng.random() < 0.02 else rng.choice(SIZES)
    if kind == "text":
        yield ("SET", key, rng.randbytes(rng.randrange(1, 120)))
    elif kind == "number":
        yield ("SET", key, rng.choice([rng.randrange(20_000), rng.randrange(-(2**63), 2**63)]))
    elif kind == "long":
        yield ("SET", key, rng.randbytes(rng.choice([300, 1500, 5000, 20_000])))
    elif kind == "list":
        yield ("RPUSH", key, *(rng.choice([rng.randrange(10**6), rng.randbytes(rng.randrange(60))]) for _ in range(size)))
    elif kind == "ints":
        yield ("SADD", key, *(rng.randrange(rng.choice([2**8, 2**30])) for _ in range(size)))
    elif kind == "set":
        yield ("SADD", key, *texts(rng, size, 40))
    elif kind == "zset":
        yield ("ZADD", key, *(part for text in texts(rng, size, 30) for part in (rng.randrange(1000), text)))
    elif kind == "hash":
        yield ("HSET", key, *(part for text in texts(rng, size, 20) for part in (text, b"x" * rng.choice([3, 20, 70]))))
    else:
        yield from stream(rng, key, size)


def stream(rng, key, size):
    for number in range(1, size + 1):
        yield ("XADD", key, f"{1_700_000_000_000 + number * 7}-{number % 3}", "field", rng.randbytes(rng.randrange(40)))
    for group in range(rng.randrange(3)):
        yield ("XGROUP", "CREATE", key, f"group-{group}", "0")
        for consumer in range(rng.randrange(3)):
            yield ("XREADGROUP", "GROUP", f"group-{group}", f"consumer-{consumer}", "COUNT", rng.randrange(1, 9), "STREAMS", key, ">")


def fill(client, seed, count, databases):
    rng = random.Random(seed)
    kinds = rng.choices(list(KINDS), KINDS.values(), k=count)
    last = int(client.call("TIME")[0]) * 1000
    for db, share in databases:
        if db > 0:
            client.call("SELECT", db)
        part, kinds = kinds[: int(count * share)], kinds[int(count * share) :]
        names = [f"{kind}:{rng.choice(['', 'a:', 'tenant:user:'])}{n}:{'k' * rng.randrange(30)}".encode() for n, kind in enumerate(part)]
        client.pipeline(command for name, kind in zip(names, part) for command in commands(rng, kind, name))
        client.pipeline(("PEXPIREAT", name, last + rng.randrange(10**8, 10**11)) for name in names if rng.random() < 0.33)


def take_slots(client):
    try:
        client.call("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
    except ReplyError:
        client.call("CLUSTER", "ADDSLOTS", *range(SLOTS))
    while b"cluster_state:ok" not in client.call("CLUSTER", "INFO"):
        time.sleep(0.1)


def analyze(rdblens, dump, allocator, cluster):
    command = [rdblens, "analyze", dump, "--allocator", allocator, "--format", "json"]
    if cluster:
        command += ["--server-config", "cluster-enabled=yes"]
    output = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if output.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {output.returncode}\n{output.stderr.decode(errors='replace')}")
    return json.loads(output.stdout)


def play(name, binary, allocator, title, rdblens, seed, count, keep):
    """One round; returns the rows (what, ours, theirs, whether it has to agree)."""
    cluster = title == "cluster"
    options = ["--cluster-enabled", "yes", "--cluster-port", str(free_port())] if cluster else []
    databases = [(0, 1)] if cluster else [(0, 0.7), (3, 0.3)]
    directory = tempfile.mkdtemp(prefix="rdblens-instance-")
    try:
        start = time.monotonic()
        with Node(binary, directory, *options) as node:
            if cluster:
                take_slots(node.client)
            fill(node.client, seed, count, databases)
            node.client.call("SAVE")
        filled = time.monotonic() - start
        dump = os.path.join(directory, "dump.rdb")
        with Node(binary, directory, *options) as node:
            node.wait_until_loaded()
            early = node.info("memory")
            version = node.info("server")
            node.wait_until_settled()
            memory, tables = node.info("memory"), node.tables()
            keys = sum(int(value.split(",")[0].split("=")[1]) for value in node.info("keyspace").values())
        version = version.get("valkey_version", version["redis_version"])
        report = analyze(rdblens, dump, allocator, cluster)
        if keep:
            shutil.copy(dump, f"{keep}/{name}-{title}.rdb")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    instance = report["instance"]
    if keys != report["totals"]["keys"]:
        raise SystemExit(f"{name}, {title}: the server holds {keys} keys, we found {report['totals']['keys']}")
    print(f"{name} {version}, {title}, seed {seed}: {keys} keys, filled in {filled:.0f} s")
    startup, clients = int(memory["used_memory_startup"]), int(memory["mem_clients_normal"])
    used = int(memory["used_memory"]) - startup
    ours = instance["overhead"]
    return [
        ("used_memory - startup", instance["total"], used, True),
        ("overhead of databases", sum(ours.values()), sum(tables.values()), True),
        ("overhead, main", ours["main"], tables["main"], False),
        ("overhead, expires", ours["expires"], tables["expires"], False),
        ("overhead, slots", ours["slots"], tables["slot-to-keys"], False),
        ("dataset", instance["dataset"], int(memory["used_memory_dataset"]), False),
        ("right after loading", instance["after_load"] or instance["total"], int(early["used_memory"]) - startup, False),
        ("of it clients", 0, clients, False),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    parser.add_argument("--server", action="append", required=True, metavar="NAME=PATH,ALLOCATOR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--keys", type=int, default=110_000)
    parser.add_argument("--keep", help="a directory for copies of the dumps")
    arguments = parser.parse_args()
    if not os.path.exists(arguments.rdblens):
        raise SystemExit(f"{arguments.rdblens} is missing: cargo build --release")
    faults = 0
    for server in arguments.server:
        name, rest = server.split("=", 1)
        binary, allocator = rest.rsplit(",", 1)
        for title in ROUNDS:
            rows = play(name, binary, allocator, title, arguments.rdblens, arguments.seed, arguments.keys, arguments.keep)
            for what, ours, theirs, has_to_agree in rows:
                off = 100 * (ours - theirs) / theirs if theirs else 0.0
                fault = has_to_agree and abs(off) > MOST
                faults += fault
                print(f"  {what:<24} {ours:>12} ours {theirs:>12} theirs {off:+7.2f} %{'  FAULT' if fault else ''}")
    if faults:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
