#!/usr/bin/env python3
"""Holds `rdblens analyze --what-if` against the servers that it speaks of.

    python3 .ci/live_what_if.py [--rdblens PATH] [--server NAME=PATH,ALLOCATOR]... [--seed N] [--keys N]

Debian's redis-server fills itself with random keys of every type, size and encoding and saves. From that file alone rdblens
tells what it takes there, on every --server (NAME is one that --what-if takes, such as redis-8.2 or valkey-9.1), and under
other settings. Then each of these is started on exactly that file and asked about every key. The sums over all keys have to
be within 0.1 % of each other, with glibc within 1 %, and the totals (keys and tables) within 1 % of `used_memory` without
`used_memory_startup`, or the status is 1; the difference of each type is printed. Python's standard library only.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # a run leaves nothing in the tree
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "testdata"), os.path.join(ROOT, ".ci")]

from server import Server, free_port  # noqa: E402

from random_keys import Filler  # noqa: E402

# Of Debian's redis-server, which fills and saves.
BASE_ALLOCATOR = "jemalloc-q16"
# Limits below and above those that the file was written under, of every type; each line is one question.
SETTINGS = [
    {"hash-max-listpack-entries": "32"},
    {"hash-max-listpack-entries": "5000", "hash-max-listpack-value": "400"},
    {"list-max-listpack-size": "20"},
    {"set-max-intset-entries": "64"},
    {"zset-max-listpack-entries": "3000", "zset-max-listpack-value": "400"},
    {"zset-max-listpack-value": "24", "hash-max-ziplist-value": "10"},
    {"cluster-enabled": "yes"},
]
# For other servers at once with the change of server.
OTHER = {"hash-max-listpack-entries": "64", "zset-max-listpack-entries": "40", "set-max-listpack-entries": "30", "set-max-listpack-value": "12"}
TYPES = ["string", "list", "set", "zset", "hash", "stream"]
# Settings that came with a version: earlier servers refuse to start with them.
SINCE = {"set-max-listpack-entries": (7, 2), "set-max-listpack-value": (7, 2)}
# As many as rdblens takes in one run.
AT_ONCE = 8
# Levels of skiplists are random, and what malloc of the C library hands out depends on what was freed before.
TOLERANCE = 0.001
GLIBC_TOLERANCE = 0.01
# Of the whole server: an empty one takes 50 to 100 KB more than it says it started with.
TOTAL_TOLERANCE = 0.01


def fill(client, seed, count):
    """Random keys in database 0: a cluster has no other."""
    filler = Filler(seed)
    now = int(client.call("TIME")[0]) * 1000
    keys = [filler.name() for _ in range(count)]
    client.pipeline(command for key in keys for command in filler.commands(key))
    for key in keys:
        if filler.random.random() < 0.4:
            client.call("PEXPIREAT", key, now + filler.random.randrange(3_600_000, 10**11))


def memory_by_type(client):
    """What the server says of all keys, summed up."""
    keys = client.call("KEYS", "*")
    kinds = client.pipeline(("TYPE", key) for key in keys)
    figures = client.pipeline(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys)
    sums = collections.Counter()
    for kind, figure in zip(kinds, figures):
        sums[kind.decode()] += figure
    return len(keys), sums


def wait_for_cluster(client):
    """A node answers for its keys only some seconds after it started."""
    for _ in range(300):
        if b"cluster_state:ok" in client.call("CLUSTER", "INFO"):
            return
        time.sleep(0.1)
    raise SystemExit("the node of the cluster does not come up")


def loaded(binary, dump, settings):
    """The same, by a server that is started on the dump, and what all of it takes there."""
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    if settings.get("cluster-enabled") == "yes":
        # The usual one is ten thousand above the port, which may be no port at all.
        options += ["--cluster-port", str(free_port()), "--cluster-require-full-coverage", "no"]
    place = ["--dir", os.path.dirname(dump), "--dbfilename", os.path.basename(dump)]
    with Server(*place, *options, binary=binary) as server:
        if settings.get("cluster-enabled") == "yes":
            wait_for_cluster(server.client)
        server.wait_until_loaded()
        server.wait_until_idle()
        memory = server.info("memory")
        total = int(memory["used_memory"]) - int(memory["used_memory_startup"])
        return *memory_by_type(server.client), total


def predicted(rdblens, dump, asked):
    """From the file alone: number of keys, and sums by type and total of the base, then of each question."""
    sums = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        command = [rdblens, "analyze", dump, "--allocator", BASE_ALLOCATOR, "--format", "json", "--quiet"]
        command += [word for ask in some for word in ("--what-if", ask)]
        output = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if output.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {output.returncode}\n{output.stderr.decode(errors='replace')}")
        report = json.loads(output.stdout)
        types = report["what_if"]["types"]
        if not sums:
            sums.append(({row["type"]: row["memory"] for row in types}, report["what_if"]["base"]["total"]))
        for at, alternative in enumerate(report["what_if"]["alternatives"]):
            by_type = {row["type"]: row["alternatives"][at] for row in types}
            if sum(by_type.values()) != alternative["memory"]:
                raise SystemExit(f"{alternative['ask']}: the types do not add up to the whole")
            sums.append((by_type, alternative["total"]))
    return report["totals"]["keys"], sums


def apart(ours, theirs):
    return (ours - theirs) / theirs if theirs else 0.0


def compare(title, base, ours, theirs):
    """Prints two lines; returns whether sums and totals agree."""
    (now, _), (ours, our_total), (theirs, their_total) = base, ours, theirs
    total, truth, now = sum(ours.values()), sum(theirs.values()), sum(now.values())
    away, total_away = apart(total, truth), apart(our_total, their_total)
    types = "  ".join(f"{kind} {100 * apart(ours.get(kind, 0), theirs.get(kind, 0)):+.3f}" for kind in TYPES)
    change, real = 100 * apart(total, now), 100 * apart(truth, now)
    print(f"{title}\n    predicted {total:>11,} ({change:+6.2f} %)  real {truth:>11,} ({real:+6.2f} %)  apart {100 * away:+.3f} %:  {types}")
    print(f"    in total  {our_total:>11,}             real {their_total:>11,}             apart {100 * total_away:+.3f} %")
    sums_agree = abs(away) <= (GLIBC_TOLERANCE if "glibc" in title else TOLERANCE)
    return sums_agree and abs(total_away) <= TOTAL_TOLERANCE


def known(name, settings):
    """Those of the settings that a server of this name and version knows."""
    family, _, version = name.partition("-")
    line = tuple(int(part) for part in version.split(".")[:2])
    return {key: value for key, value in settings.items() if family != "redis" or line >= SINCE.get(key, line)}


def questions(servers):
    """Title, binary, settings and what is asked of rdblens."""
    text = lambda settings: ",".join(f"{name}={value}" for name, value in settings.items())  # noqa: E731
    for settings in SETTINGS:
        yield text(settings), None, settings
    for name, binary, allocator in servers:
        yield f"{name},{allocator}", binary, {}
        yield f"{name},{allocator},cluster-enabled=yes", binary, {"cluster-enabled": "yes"}
        other = known(name, OTHER)
        yield f"{name},{allocator},{text(other)}", binary, other


def server(text):
    """NAME=PATH,ALLOCATOR"""
    name, _, rest = text.partition("=")
    binary, _, allocator = rest.rpartition(",")
    if not (name and binary and allocator):
        raise argparse.ArgumentTypeError(f"{text}: expected NAME=PATH,ALLOCATOR")
    if not os.access(binary, os.X_OK):
        raise argparse.ArgumentTypeError(f"{binary} is no program")
    return name, binary, allocator


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    parser.add_argument("--server", type=server, action="append", default=[], metavar="NAME=PATH,ALLOCATOR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--keys", type=int, default=3000)
    arguments = parser.parse_args()
    if not os.path.exists(arguments.rdblens):
        raise SystemExit(f"{arguments.rdblens} is missing: cargo build --release")
    asked = list(questions(arguments.server))
    with Server() as writer:
        fill(writer.client, arguments.seed, arguments.keys)
        writer.client.call("SAVE")
        keys, (base, *predictions) = predicted(arguments.rdblens, writer.dump, [ask for ask, _, _ in asked])
        version = writer.client.call("INFO", "server").split(b"redis_version:")[1].split(b"\r\n")[0].decode()
        print(f"{keys} keys of redis-server {version}, {BASE_ALLOCATOR}, seed {arguments.seed}; by type: percent apart")
        rounds = [("as it is", None, {}, base)]
        rounds += [(ask, binary, settings, ours) for (ask, binary, settings), ours in zip(asked, predictions, strict=True)]
        wrong = 0
        for title, binary, settings, ours in rounds:
            found, *theirs = loaded(binary, writer.dump, settings)
            if found != keys:
                raise SystemExit(f"{title}: the server has {found} keys, the file {keys}")
            wrong += not compare(title, base, ours, theirs)
    if wrong:
        raise SystemExit(f"{wrong} of {len(rounds)} predictions are off")


if __name__ == "__main__":
    main()
