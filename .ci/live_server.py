#!/usr/bin/env python3
"""Holds `rdblens keys` against running servers, key by key.

    python3 .ci/live_server.py [--rdblens PATH] [--server NAME=PATH,ALLOCATOR]... [--seed N] [--keys N]

Without --server all that .ci/servers.py finds are taken. Each fills itself with random keys of every type, size, encoding
and database and saves; rdblens reads the dump; then servers are started on exactly that file, twice, and asked about every
key. Rounds: default limits, other limits, a dump of the first loaded under the second, cluster mode.

Encoding, length, expiry, idle time, groups: any difference ends with status 1. Memory: a key of which the servers say the
same each time, and whose encoding draws no lots, has to be exact; of the others those with 100 elements and more have to be
near, and the sum within 1 %. What malloc of the C library hands out is a matter of chance: there only the sum counts.
Python's standard library only.
"""

import argparse
import base64
import collections
import json
import math
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # a run leaves nothing in the tree
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "testdata"), os.path.join(ROOT, ".ci")]

from random_keys import DATABASES, fill  # noqa: E402
from server import Server  # noqa: E402
from servers import Found, servers  # noqa: E402

LENGTH = {b"string": "STRLEN", b"list": "LLEN", b"set": "SCARD", b"zset": "ZCARD", b"hash": "HLEN", b"stream": "XLEN"}

DEFAULT = {}
OTHER = {
    "hash-max-listpack-entries": "32",
    "list-max-listpack-size": "20",
    "set-max-intset-entries": "64",
    "zset-max-listpack-value": "24",
}
SETS = {"set-max-listpack-entries": "60", "set-max-listpack-value": "20"}
CLUSTER = {"cluster-enabled": "yes", "cluster-require-full-coverage": "no", "cluster-allow-reads-when-down": "yes"}
# Title, settings of the server that fills and saves, of those that load.
ROUNDS = [
    ("default limits", DEFAULT, DEFAULT),
    ("other limits", {**OTHER, "list-compress-depth": "2"}, {**OTHER, "list-compress-depth": "2"}),
    ("default limits, loaded under others", DEFAULT, OTHER),
    ("cluster mode", CLUSTER, CLUSTER),
]
SHOWN = 20

# As in tests/it/memory.rs: what a key of many elements that draws lots may be off, and what all such keys together.
MANY = 100
TOLERANCE = 0.02
BUCKETS = 3 * 64
NODE_DEVIATION = 3 * 13
TOTAL_TOLERANCE = 0.01
# A figure that was the same twice by chance differs sooner or later: whether a small table has just been moved when loading
# ends is decided by the hash seed, at worst 6 : 4.
MORE_STARTS = 20


def options(settings):
    return ["--maxmemory-policy", "allkeys-lru", *(word for name, value in settings.items() for word in (f"--{name}", value))]


def known(settings, found):
    """The settings of a round, with those that not every server has."""
    return {**settings, **(SETS if OTHER.items() <= settings.items() and found.line >= (7, 2) else {})}


def serve(client):
    """Makes the only node of a cluster take keys of all slots."""
    client.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    while b"cluster_state:ok" not in client.call("CLUSTER", "INFO"):
        time.sleep(0.05)


def ask(client, databases):
    """What the server says of every key."""
    answers = {}
    for db in sorted(set(databases)):
        client.call("SELECT", db)
        keys = client.call("KEYS", "*")
        columns = {
            "type": client.pipeline(("TYPE", key) for key in keys),
            "encoding": client.pipeline(("OBJECT", "ENCODING", key) for key in keys),
            "idle": client.pipeline(("OBJECT", "IDLETIME", key) for key in keys),
            "memory": client.pipeline(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys),
            "expires_at": client.pipeline(("PEXPIRETIME", key) for key in keys),
        }
        for index, key in enumerate(keys):
            answers[db, key] = {name: column[index] for name, column in columns.items()}
    # Asking for a length touches the key's clock, and that of all keys with the same small number, whatever their database.
    for db in sorted(set(databases)):
        client.call("SELECT", db)
        keys = [key for at, key in answers if at == db]
        for key, length in zip(keys, client.pipeline((LENGTH[answers[db, key]["type"]], key) for key in keys)):
            answer = answers[db, key]
            answer["length"] = length
            answer["encoding"] = answer["encoding"].decode()
            answer["type"] = answer["type"].decode()
            answer["expires_at"] = None if answer["expires_at"] == -1 else answer["expires_at"]
            if answer["type"] == "stream":
                groups = [dict(zip(group[::2], group[1::2])) for group in client.call("XINFO", "GROUPS", key)]
                answer["groups"] = len(groups)
                answer["pending"] = sum(group[b"pending"] for group in groups)
    return answers


def ask_memory(client, places):
    """MEMORY USAGE of these keys."""
    figures = {}
    for db in sorted({db for db, _ in places}):
        client.call("SELECT", db)
        keys = [key for at, key in places if at == db]
        figures.update(zip(((db, key) for key in keys), client.pipeline(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys)))
    return figures


def read(rdblens, dump, settings, allocator):
    """What rdblens says of every key."""
    command = [rdblens, "keys", dump, "--allocator", allocator]
    for name, value in settings.items():
        if not name.startswith("cluster-") or name == "cluster-enabled":
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


def draws_lots(found, answer):
    """The server's figure depends on what it draws at each start."""
    valkey = found.family == "valkey"
    return {
        ("zset", "skiplist"): True,
        ("set", "hashtable"): valkey and found.line >= (8, 0),
        ("hash", "hashtable"): valkey and found.line >= (8, 1),
    }.get((answer["type"], answer["encoding"]), False)


def near(ours, theirs, answer):
    """Whether a figure of a key that draws lots is as near as can be asked for."""
    luck = NODE_DEVIATION * math.isqrt(answer["length"]) if answer["encoding"] == "skiplist" else BUCKETS
    return abs(ours - theirs) <= max(TOLERANCE * theirs, luck)


class Memory:
    """What two starts or more said of each key, and what we say."""

    def __init__(self, found, rows, answers):
        self.found = found
        self.rows = rows
        self.answers = {place: answer for place, answer in answers.items() if place in rows}
        self.draws = {place: [answer["memory"]] for place, answer in self.answers.items()}

    def drawn(self, figures):
        for place, figure in figures.items():
            if place in self.draws:
                self.draws[place].append(figure)

    def is_fixed(self, place):
        return len(set(self.draws[place])) == 1 and not draws_lots(self.found, self.answers[place])

    def ours(self, place):
        return self.rows[place]["memory"]

    def mean(self, place):
        return sum(self.draws[place]) / len(self.draws[place])

    def missed(self):
        """Keys whose figure is fixed, as far as is known, and that we do not hit."""
        return [place for place in self.draws if self.is_fixed(place) and self.ours(place) != self.draws[place][0]]

    def faults(self):
        """Each figure that is not what it has to be, as text."""
        if self.found.allocator != "glibc":
            for place in self.missed():
                yield self.fault(place)
            for place, draws in self.draws.items():
                answer = self.answers[place]
                if not self.is_fixed(place) and answer["length"] >= MANY and not any(near(self.ours(place), draw, answer) for draw in draws):
                    yield self.fault(place)
        ours, theirs = (sum(map(of, (place for place in self.draws if self.is_loose(place)))) for of in (self.ours, self.mean))
        if abs(ours - theirs) > TOTAL_TOLERANCE * theirs:
            yield f"memory of all keys that draw lots: {ours}, the server says {theirs:.0f}"

    def is_loose(self, place):
        return self.found.allocator == "glibc" or not self.is_fixed(place)

    def fault(self, place):
        answer, row = self.answers[place], self.rows[place]
        what = f"{answer['type']}/{answer['encoding']} of {answer['length']}"
        return f"{place} {what}: memory {row['memory']}, the servers say {sorted(set(self.draws[place]))}"

    def table(self):
        """Prints by type and encoding how many figures are fixed, how many of those are exact, and how far the sum is off."""
        cells = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
        for place, answer in self.answers.items():
            fixed = self.is_fixed(place)
            for kind in (f"{answer['type']}/{answer['encoding']}", "all"):
                cell = cells[kind]
                cell[0] += 1
                cell[1] += fixed
                cell[2] += fixed and self.ours(place) == self.draws[place][0]
                cell[3] += self.ours(place)
                cell[4] += self.mean(place)
        for kind, (keys, fixed, exact, ours, theirs) in sorted(cells.items(), key=lambda item: (item[0] == "all", item[0])):
            share = f"{100 * exact / fixed:6.2f} %" if fixed else "       -"
            print(f"  {kind:<20} {keys:>5} keys, {fixed:>5} fixed, {share} exact, sum {100 * (ours - theirs) / theirs:+.3f} %")


def play(found, title, made, loaded, rdblens, seed, count):
    """One round; returns the number of differences."""
    made, loaded = known(made, found), known(loaded, found)
    with Server(*options(made), binary=found.path) as server:
        databases = DATABASES
        if "cluster-enabled" in made:
            serve(server.client)
            databases = [0]
        gone = fill(server.client, seed, count, databases)
        start = time.monotonic()
        server.client.call("SAVE")
        rows = read(rdblens, server.dump, loaded, found.allocator)
        again = {"binary": found.path, "dump": server.dump}
        with Server(*options(loaded), **again) as one:
            answers = ask(one.client, databases)
            faults = list(differences(rows, answers, gone, int(time.monotonic() - start) + 1))
        memory = Memory(found, rows, answers)
        with Server(*options(loaded), **again) as another:
            memory.drawn(ask_memory(another.client, answers.keys()))
        for _ in range(MORE_STARTS):
            missed = memory.missed()
            if found.allocator == "glibc" or not missed:
                break
            with Server(*options(loaded), **again) as another:
                memory.drawn(ask_memory(another.client, missed))
    if not answers:
        raise SystemExit("the server holds no key: nothing was compared")
    faults += memory.faults()
    print(f"{found.name} ({found.allocator}), {title}, seed {seed}: {len(answers)} keys compared, {len(faults)} differences")
    for fault in faults[:SHOWN]:
        print("  " + fault)
    memory.table()
    return len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    parser.add_argument("--server", action="append", type=Found.parse, metavar="NAME=PATH,ALLOCATOR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--keys", type=int, default=2500)
    arguments = parser.parse_args()
    if not os.path.exists(arguments.rdblens):
        raise SystemExit(f"{arguments.rdblens} is missing: cargo build --release")
    faults = 0
    for found in arguments.server or servers():
        for number, (title, made, loaded) in enumerate(ROUNDS):
            faults += play(found, title, made, loaded, arguments.rdblens, arguments.seed + number, arguments.keys)
    if faults > 0:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
