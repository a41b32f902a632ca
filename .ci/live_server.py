#!/usr/bin/env python3
"""Holds `rdblens keys` against a running redis-server.

    python3 .ci/live_server.py [--rdblens target/release/rdblens] [--seed N] [--keys N]

Fills a server of its own on loopback with random keys of every type, size, encoding and database, saves, has rdblens read
the dump, loads that same dump with DEBUG RELOAD and asks the server about every key. Two rounds: with the default limits,
and with others that rdblens is told by --server-config. Any difference ends with status 1; how many memory figures are
exact is printed, for information. Python's standard library only.
"""

import argparse
import base64
import collections
import json
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # a run leaves nothing in the tree
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "testdata"))

from server import Server  # noqa: E402

DATABASES = [0, 0, 0, 1, 3, 9, 15]
LENGTH = {b"string": "STRLEN", b"list": "LLEN", b"set": "SCARD", b"zset": "ZCARD", b"hash": "HLEN", b"stream": "XLEN"}
# Where encodings change: the limits of both rounds and their neighbours.
SIZES = [1, 2, 3, 7, 20, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 300, 511, 512, 513, 1000, 2500]
WIDTHS = [0, 1, 3, 10, 12, 19, 20, 21, 24, 25, 43, 44, 45, 60, 63, 64, 65, 100, 300]

ROUNDS = {
    "default limits": {},
    "other limits": {
        "hash-max-listpack-entries": "32",
        "list-max-listpack-size": "20",
        "set-max-intset-entries": "64",
        "zset-max-listpack-value": "24",
        "list-compress-depth": "2",
    },
}
# Debian's jemalloc; the servers' own has another quantum. It decides memory, not what is compared.
ALLOCATOR = "jemalloc-q16"
SHOWN = 20


class Filler:
    """Random keys as commands; the same seed gives the same ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = set()

    def name(self):
        rng = self.random
        while True:
            word = rng.choice(["user", "cart", "cache:page", "{tag}:x", "a", "läufer", "søk:tekst", "Q", "x y"])
            tail = rng.choice([str(rng.randrange(10**6)), f"{rng.getrandbits(64):016x}", "n" * rng.randrange(1, 90)])
            name = f"{word}:{tail}".encode() if rng.random() < 0.95 else bytes(rng.randrange(256) for _ in range(rng.randrange(1, 30)))
            if name not in self.names:
                self.names.add(name)
                return name

    def bytes(self, size, packable=None):
        packable = self.random.random() < 0.5 if packable is None else packable
        if packable:
            unit = b"abcdefghij" * (size // 10 + 1)
            return unit[:size]
        return self.random.randbytes(size)

    def value(self):
        """An element: a number, or text, now and then longer than a packed encoding takes."""
        rng = self.random
        roll = rng.random()
        if roll < 0.4:
            return str(rng.choice([rng.randrange(-10, 200), rng.randrange(-(2**15), 2**15), rng.randrange(-(2**63), 2**63)])).encode()
        return self.bytes(rng.choice(WIDTHS) if roll < 0.45 else rng.randrange(1, 16))

    def values(self, size, width=None):
        """So many distinct ones, all short or one of them of `width`."""
        found = {b"%d:%s" % (n, self.bytes(self.random.randrange(8))) for n in range(size - 1)}
        found.add(self.bytes(width, True) if width else b"last")
        return sorted(found)

    def commands(self, key):
        """What makes one key."""
        rng = self.random
        kind = rng.choice(["string", "string", "counter", "list", "ints", "set", "zset", "hash", "stream", "hll", "bits"])
        size, width = rng.choice(SIZES), rng.choice([None, None, *WIDTHS[8:]])
        if kind == "string":
            length = rng.choice([rng.choice(WIDTHS), rng.randrange(2000), rng.randrange(60000)])
            yield ("SET", key, self.bytes(length))
            if rng.random() < 0.1:
                yield ("APPEND", key, "more")
        elif kind == "counter":
            yield ("SET", key, rng.choice([rng.randrange(-5, 20000), rng.randrange(-(2**63), 2**63), "007", "-0", "9223372036854775808", "3.5"]))
        elif kind == "list":
            elements = [self.value() for _ in range(size)]
            if rng.random() < 0.1:
                elements.insert(rng.randrange(size), self.bytes(rng.choice([5000, 9000, 40000])))
            yield (rng.choice(["RPUSH", "LPUSH"]), key, *elements)
            yield from [("LPOP", key)] * (rng.randrange(3) if len(elements) > 3 else 0)
        elif kind == "ints":
            span = rng.choice([2**7, 2**15, 2**31, 2**63])
            yield ("SADD", key, *(rng.randrange(-span, span) for _ in range(size)))
            if rng.random() < 0.2:
                yield ("SADD", key, "x")
        elif kind == "set":
            yield ("SADD", key, *self.values(size, width))
        elif kind == "zset":
            scores = [rng.choice([rng.randrange(1000), round(rng.uniform(-1e6, 1e6), 3), rng.uniform(-1, 1), "inf", "-inf"]) for _ in range(size)]
            yield ("ZADD", key, *(part for pair in zip(scores, self.values(size, width)) for part in pair))
        elif kind == "hash":
            fields = self.values(size, width)
            yield ("HSET", key, *(part for field in fields for part in (field, self.value()[:60] or b"v")))
            yield from [("HDEL", key, *fields[: size // 3])] * (size > 3 and rng.random() < 0.2)
        elif kind == "stream":
            yield from self.stream(key, min(size, 600))
        elif kind == "hll":
            yield ("PFADD", key, *self.values(size))
        else:
            yield ("SETBIT", key, rng.randrange(8 * 3000), 1)

    def stream(self, key, size):
        rng = self.random
        for number in range(1, size + 1):
            extra = ("extra", self.bytes(rng.randrange(40))) if rng.random() < 0.1 else ()
            yield ("XADD", key, f"{1_700_000_000_000 + number * 7}-{number % 3}", "field", self.value() or b"v", *extra)
        for number in rng.sample(range(1, size + 1), size // 5):
            yield ("XDEL", key, f"{1_700_000_000_000 + number * 7}-{number % 3}")
        for group in range(rng.randrange(3)):
            yield ("XGROUP", "CREATE", key, f"group-{group}", "0")
            for consumer in range(rng.randrange(3)):
                yield ("XREADGROUP", "GROUP", f"group-{group}", f"c{consumer}", "COUNT", rng.randrange(1, 30), "STREAMS", key, ">")


def fill(client, seed, count):
    """Puts the keys in; returns the places of those that are past their expiry."""
    filler = Filler(seed)
    rng = filler.random
    now = int(client.call("TIME")[0]) * 1000
    places = [(rng.choice(DATABASES), filler.name()) for _ in range(count)]
    gone = set(rng.sample(places, 12))
    client.call("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for db in sorted(set(DATABASES)):
        keys = [key for at, key in places if at == db]
        client.call("SELECT", db)
        client.pipeline(command for key in keys for command in filler.commands(key))
        aged = rng.sample(keys, len(keys) // 2)
        expiries = {key: now + rng.randrange(3_600_000, 10**11) if rng.random() < 0.4 else 0 for key in keys}
        client.pipeline(("PEXPIREAT", key, at) for key, at in expiries.items() if at)
        dumps = client.pipeline(("DUMP", key) for key in aged)
        client.pipeline(
            ("RESTORE", key, expiries[key], dump, "REPLACE", "ABSTTL", "IDLETIME", rng.randrange(1, 10**7)) for key, dump in zip(aged, dumps)
        )
        client.pipeline(("PEXPIREAT", key, int(time.time() * 1000) + 400) for at, key in gone if at == db)
    time.sleep(0.8)
    return gone


def ask(client):
    """What the server says of every key. Lengths come last: asking for them touches the key's clock."""
    answers = {}
    for db in sorted(set(DATABASES)):
        client.call("SELECT", db)
        keys = client.call("KEYS", "*")
        kinds = client.pipeline(("TYPE", key) for key in keys)
        columns = {
            "encoding": client.pipeline(("OBJECT", "ENCODING", key) for key in keys),
            "idle": client.pipeline(("OBJECT", "IDLETIME", key) for key in keys),
            "memory": client.pipeline(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys),
            "expires_at": client.pipeline(("PEXPIRETIME", key) for key in keys),
            "length": client.pipeline((LENGTH[kind], key) for kind, key in zip(kinds, keys)),
        }
        for index, (kind, key) in enumerate(zip(kinds, keys)):
            answer = {name: column[index] for name, column in columns.items()}
            answer["encoding"] = answer["encoding"].decode()
            answer["type"] = kind.decode()
            answer["expires_at"] = None if answer["expires_at"] == -1 else answer["expires_at"]
            if kind == b"stream":
                groups = [dict(zip(group[::2], group[1::2])) for group in client.call("XINFO", "GROUPS", key)]
                answer["groups"] = len(groups)
                answer["pending"] = sum(group[b"pending"] for group in groups)
            answers[db, key] = answer
    return answers


def read(rdblens, dump, settings):
    """What rdblens says of every key."""
    command = [rdblens, "keys", dump, "--allocator", ALLOCATOR]
    for name, value in settings.items():
        command += ["--server-config", f"{name}={value}"]
    output = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if output.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {output.returncode}\n{output.stderr.decode(errors='replace')}")
    rows = {}
    for line in output.stdout.splitlines():
        row = json.loads(line)
        key = base64.b64decode(row["key_base64"]) if row["key"] is None else row["key"].encode()
        if (row["db"], key) in rows:
            raise SystemExit(f"a key came twice: {line}")
        rows[row["db"], key] = row
    return rows


def differences(rows, answers, gone, elapsed):
    """Each fact on which the two do not agree, as text."""
    for place in sorted(rows.keys() | answers.keys() | gone):
        row, answer = rows.get(place), answers.get(place)
        if place in gone:
            if row is None or row["expires_at"] is None:
                yield f"{place}: past its expiry when saved; in the dump, but not in our rows"
            continue
        if row is None or answer is None:
            yield f"{place}: {'missing' if row is None else 'extra'}"
            continue
        for fact in ("type", "encoding", "length", "expires_at", "groups", "pending"):
            if fact in answer and row.get(fact) != answer[fact]:
                yield f"{place} {answer['type']} of {answer['length']}: {fact} {row.get(fact)!r}, the server says {answer[fact]!r}"
        if row["idle"] is None or not row["idle"] - 1 <= answer["idle"] <= row["idle"] + elapsed + 1:
            yield f"{place}: idle {row['idle']!r}, the server says {answer['idle']!r} up to {elapsed} s later"


def memory_table(rows, answers):
    """Prints by type and encoding how many memory figures are exact, and how far the sum is off."""
    cells = collections.defaultdict(lambda: [0, 0, 0, 0])
    for place in rows.keys() & answers.keys():
        row, answer = rows[place], answers[place]
        cell = cells[answer["type"], answer["encoding"]]
        cell[0] += 1
        cell[1] += row["memory"] == answer["memory"]
        cell[2] += row["memory"] or 0
        cell[3] += answer["memory"]
    for (kind, encoding), (keys, exact, ours, theirs) in sorted(cells.items()):
        print(f"  memory {kind + '/' + encoding:<20} {keys:>5} keys, {100 * exact / keys:5.1f} % exact, sum {100 * (ours - theirs) / theirs:+.2f} %")


def play(title, settings, rdblens, seed, count):
    """One round; returns the number of differences."""
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    with Server("--maxmemory-policy", "allkeys-lru", *options) as server:
        client = server.client
        version = client.call("INFO", "server").split(b"redis_version:")[1].split(b"\r\n")[0].decode()
        gone = fill(client, seed, count)
        start = time.monotonic()
        client.call("SAVE")
        rows = read(rdblens, server.dump, settings)
        client.call("DEBUG", "RELOAD", "NOSAVE")
        answers = ask(client)
        faults = list(differences(rows, answers, gone, int(time.monotonic() - start) + 1))
    if not answers:
        raise SystemExit("the server holds no key: nothing was compared")
    print(f"redis-server {version}, {title}, seed {seed}: {len(answers)} keys compared, {len(faults)} differences")
    for fault in faults[:SHOWN]:
        print("  " + fault)
    memory_table(rows, answers)
    return len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--keys", type=int, default=2500)
    arguments = parser.parse_args()
    if not os.path.exists(arguments.rdblens):
        raise SystemExit(f"{arguments.rdblens} is missing: cargo build --release")
    rounds = [(title, settings, arguments.rdblens, arguments.seed + n, arguments.keys) for n, (title, settings) in enumerate(ROUNDS.items())]
    if sum(play(*each) for each in rounds) > 0:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
