#!/usr/bin/env python3
"""Holds the counts of `rdblens analyze --policy PRESET` against the truth tables of a corpus.

    python3 .ci/policy_truth.py [--corpus ../shared/corpus] [--rdblens target/release/rdblens] [--preset NAME]

For every folder and preset: how many keys break each rule about names and sizes, counted here from what the servers said about
their keys, and how many the report says. Any difference ends with status 1. The rules are written here a second time, from the
standards' words, one key and one rule after the other. Python's standard library and the `zstd` program only.
"""

import argparse
import base64
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INPUTS = ["dump.rdb", "appendonly.aof", "appendonlydir"]
OWN_TYPES = ["string", "list", "set", "zset", "hash", "stream"]
SHOWN = 30

KB, MB = 1024, 1024 * 1024
MUST, SHOULD, HINT = "must", "should", "hint"

Key = collections.namedtuple("Key", "name type length expires")


# What a name is made of.


def segments(name):
    """The segments of a name; the braces of the tag that a cluster would hash belong to none."""
    tag = re.match(rb"([^{]*)\{([^}]+)\}(.*)", name, re.DOTALL)
    if tag:
        name = b"".join(tag.groups())
    return name.split(b":")


def characters(name):
    """The characters of a name; every byte that is no text is a surrogate."""
    return name.decode("utf-8", "surrogateescape")


def is_special(character):
    category = unicodedata.category(character)
    return category in ("Cc", "Cs", "Zs", "Zl", "Zp") or character in "\"'\\"


# The rules: each says whether a key breaks it.


def prefix(key):
    parts = segments(key.name)
    return len(parts) < 2 or not parts[0] or all(byte in b"0123456789" for byte in parts[0])


def levels(least):
    return lambda key: len(segments(key.name)) < least


def lowercase(key):
    return any(character.isupper() for character in characters(key.name))


def empty_segment(key):
    return b"" in segments(key.name)


def starts_with_letter(tags):
    def check(key):
        name = b":".join(segments(key.name)) if tags else key.name
        return re.match(rb"[A-Za-z]", name) is None

    return check


def special_chars(key):
    return any(is_special(character) for character in characters(key.name))


def charset(allowed):
    return lambda key: re.fullmatch(allowed, characters(key.name)) is None


def length(most):
    return lambda key: len(key.name) > most


SUFFIXES = {
    "string": ["string", "str", "bitmap", "hyperloglog", "hll"],
    "list": ["list"],
    "set": ["set"],
    "zset": ["zset", "sortedset", "sorted.set", "geo", "geospatial"],
    "hash": ["hash", "map"],
    "stream": ["stream"],
}


def type_suffix(key):
    words = SUFFIXES.get(key.type)  # None for modules
    last = segments(key.name)[-1].decode("latin-1")
    return words is not None and re.sub("[A-Z]", lambda letter: letter[0].lower(), last) not in words


def hash_tag(key):
    braces = re.sub(rb"[^{}]", b"", key.name)
    return braces not in (b"", b"{}") or b"{}" in key.name


def big_string(most):
    return lambda key: key.type == "string" and key.length > most


def big_elements(most):
    return lambda key: key.type in OWN_TYPES and key.type != "string" and key.length > most


def hash_fields(most):
    return lambda key: key.type == "hash" and key.length > most


def expiring(key):
    return key.expires and (big_string(10 * KB)(key) or big_elements(5000)(key))


def ttl_missing(key):
    return not key.expires


# The presets: (rule, [(severity, check), ...]), the gravest limit first; a key counts under the first that it breaks.

EVERYWHERE = {
    "key.empty-segment": [(MUST, empty_segment)],
    "key.prefix": [(MUST, prefix)],
    "key.special-chars": [(MUST, special_chars)],
    "big.elements": [(MUST, big_elements(5000))],
    "big.expiring": [(SHOULD, expiring)],
    "big.string": [(MUST, big_string(10 * KB))],
}
PRESETS = {
    "service": {
        **EVERYWHERE,
        "key.levels": [(SHOULD, levels(3))],
        "key.lowercase": [(MUST, lowercase)],
        "key.starts-with-letter": [(MUST, starts_with_letter(True))],
        "key.charset": [(MUST, charset(r"[a-z0-9:_.{}-]*"))],
        "key.length": [(SHOULD, length(128))],
        "key.hash-tag": [(HINT, hash_tag)],
        "big.string": [(MUST, big_string(MB)), (SHOULD, big_string(10 * KB))],
    },
    "hzero": {
        **EVERYWHERE,
        "key.levels": [(MUST, levels(2)), (HINT, levels(3))],
        "key.length": [(HINT, length(128))],
        "big.expiring": [(MUST, expiring)],
    },
    "platform": {
        **EVERYWHERE,
        "key.levels": [(SHOULD, levels(4))],
        "key.length": [(HINT, length(128))],
        "key.hash-tag": [(MUST, hash_tag)],
    },
    "strict": {
        **EVERYWHERE,
        "key.levels": [(MUST, levels(4))],
        "key.lowercase": [(MUST, lowercase)],
        "key.starts-with-letter": [(MUST, starts_with_letter(False))],
        "key.charset": [(MUST, charset(r"[a-z0-9.:]*"))],
        "key.length": [(SHOULD, length(128))],
        "key.type-suffix": [(MUST, type_suffix)],
        "big.hash-fields": [(SHOULD, hash_fields(100))],
        "big.collection-hard": [(SHOULD, big_elements(10000))],
    },
    "aliyun": {
        **EVERYWHERE,
        "key.prefix": [(HINT, prefix)],
        "key.levels": [(HINT, levels(2))],
        "key.charset": [(MUST, charset(r"[A-Za-z0-9_(){}\[\]:]*"))],
        "key.length": [(HINT, length(128))],
        "key.hash-tag": [(HINT, hash_tag)],
    },
    "default": {**EVERYWHERE, "key.length": [(SHOULD, length(128))]},
}
# Where every key has to expire, whatever the severity. Elsewhere classes decide, which a truth table does not know.
ALL_MUST_EXPIRE = ["service", "hzero", "strict", "aliyun"]


def keys_of(folder):
    """The keys that the RDB part of a folder's file holds, by what the server said."""
    preamble = os.path.join(folder, "truth_preamble.tsv.zst")
    table = preamble if os.path.exists(preamble) else os.path.join(folder, "truth.tsv.zst")
    text = subprocess.run(["zstd", "-dcq", table], check=True, capture_output=True).stdout.decode("ascii")
    header, *lines = text.splitlines()
    columns = header.split("\t")
    with open(os.path.join(folder, "server.json"), encoding="utf-8") as file:
        server = json.load(file)
    # Servers before 4.0 do not write keys that are past their expiry.
    drops_expired = server["flavor"] == "redis" and server["version"].split(".")[0] in ("2", "3")
    keys = []
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=True))
        if drops_expired and row["expired"] == "1":
            continue
        size = int(row["length"]) if row["length"] else 0
        keys.append(Key(base64.b64decode(row["key_b64"]), row["type"], size, row["expire_ms"] not in ("", "-1")))
    return keys


def expected(keys, rules):
    """How many keys break each rule, by severity."""
    counts = {(rule, severity): 0 for rule, limits in rules.items() for severity, _ in limits}
    for key in keys:
        for rule, limits in rules.items():
            broken = next((severity for severity, breaks in limits if breaks(key)), None)
            if broken:
                counts[rule, broken] += 1
    return counts


def report_on(program, folder, preset):
    path = next(path for name in INPUTS if os.path.exists(path := os.path.join(folder, name)))
    command = [program, "analyze", path, "--policy", preset, "--format", "json", "--quiet", "--threads", "1"]
    run = subprocess.run(command, capture_output=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {run.returncode}: {run.stderr.decode(errors='replace')}")
    return json.loads(run.stdout)


def compare(program, folder, presets):
    """Per preset: keys, counts that were compared, and where they differ."""
    keys = keys_of(folder)
    outcome = []
    for preset in presets:
        report = report_on(program, folder, preset)
        findings = report["findings"]
        found = collections.Counter()
        for finding in findings["list"]:
            found[finding["rule"], finding["severity"]] += finding["keys"]
        faults = []
        counts = expected(keys, PRESETS[preset])
        for (rule, severity), count in sorted(counts.items()):
            said = found[rule, severity]
            if rule not in findings["checked"]:
                faults.append(f"{rule} is not in force")
            elif said != count:
                faults.append(f"{rule} ({severity}): the report says {said}, the servers {count}")
        totals = [("all keys", report["totals"]["keys"], len(keys))]
        if preset in ALL_MUST_EXPIRE and "ttl.missing" in findings["checked"]:
            said = sum(count for (rule, _), count in found.items() if rule == "ttl.missing")
            totals.append(("ttl.missing", said, sum(map(ttl_missing, keys))))
        faults += [f"{what}: the report says {said}, the servers {count}" for what, said, count in totals if said != count]
        for rule, severity in found:
            known = rule.startswith(("key.", "big.")) and rule not in ("big.total", "key.name-cost", "key.registered")
            if known and (rule, severity) not in counts:
                faults.append(f"{rule} ({severity}) is found, and no part of the preset")
        broken = collections.Counter()
        for (rule, _), count in counts.items():
            broken[rule] += count
        broken.update({what: count for what, _, count in totals})
        outcome.append((preset, broken, len(counts) + len(totals), faults))
    return outcome


def table(sums):
    rules = sorted({rule for broken in sums.values() for rule in broken} - {"all keys"})
    rows = [["keys that break", *sums]]
    for rule in ["all keys", *rules]:
        rows.append([rule, *(str(broken[rule]) if rule in broken else "-" for broken in sums.values())])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print("  ".join(cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", default=os.path.join(ROOT, "..", "shared", "corpus"))
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    parser.add_argument("--preset", choices=PRESETS, action="append")
    arguments = parser.parse_args()
    presets = arguments.preset or list(PRESETS)

    folders = sorted(entry.path for entry in os.scandir(arguments.corpus) if entry.is_dir())
    if not folders:
        raise SystemExit(f"{arguments.corpus}: no folders")
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = [pool.submit(compare, arguments.rdblens, folder, presets) for folder in folders]
        outcomes = [(os.path.basename(folder), job.result()) for folder, job in zip(folders, jobs)]

    sums = {preset: collections.Counter() for preset in presets}
    compared, faults = 0, []
    for folder, outcome in outcomes:
        for preset, broken, counts, wrong in outcome:
            compared += counts
            for rule, count in broken.items():
                sums[preset][rule] += count
            faults += [f"{folder}, {preset}: {fault}" for fault in wrong]
    table(sums)
    print(f"\n{compared} counts of {len(folders)} folders and {len(presets)} presets compared, {len(faults)} differ")
    for fault in faults[:SHOWN]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
