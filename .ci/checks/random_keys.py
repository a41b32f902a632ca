"""Random keys of every type, size, encoding and database, as commands to a server. Used by the live checks."""

import random
import time
from collections.abc import Iterable, Iterator

from server import Client

from checks.program import Place

DATABASES = [0, 0, 0, 1, 3, 9, 15]
# Where encodings change: the limits of all rounds and their neighbours.
SIZES = [1, 2, 3, 7, 20, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 300, 511, 512, 513, 1000, 2500]
# Groups and consumers of streams. Some begin with the names of others, which takes other nodes of a radix tree.
GROUPS = ["group", "group-1", "group-10"]
WIDTHS = [0, 1, 3, 10, 12, 19, 20, 21, 24, 25, 43, 44, 45, 60, 63, 64, 65, 100, 300]


# Bounds of hash-min-template-entries and hash-max-template-entries, within which a server makes hashes compact; 0, 0: none.
BOUNDS = [(0, 0), (0, 0), (2, 64), (5, 4000)]


class Filler:
    """Makes random keys as commands, the same for the same seed.

    With `field_expiries` some fields of hashes get an expiry. With `shared` some hashes have the same field names: those of
    HIMPORT, which Redis keeps compact from 8.10 on, or of HSET.
    """

    def __init__(self, seed: int, field_expiries: bool = False, now: int = 0, shared: str | None = None):
        self.random = random.Random(seed)
        self.names = set()
        self.field_expiries = field_expiries
        self.now = now
        self.field_sets: list[list[bytes]] = []
        self.kinds = ["string", "string", "counter", "list", "ints", "set", "zset", "hash", "stream", "hll", "bits"]
        self.shared = shared
        if shared is not None:
            self.kinds.append("shared")
            self.field_sets = [self.fields() for _ in range(40)]

    def name(self) -> bytes:
        """Returns a name that there was not yet."""
        rng = self.random
        while True:
            word = rng.choice(["user", "cart", "cache:page", "{tag}:x", "a", "läufer", "søk:tekst", "Q", "x y"])
            tail = rng.choice(
                [str(rng.randrange(10**6)), f"{rng.getrandbits(64):016x}", "n" * rng.choice([rng.randrange(1, 90), rng.randrange(90, 400)])]
            )
            name = f"{word}:{tail}".encode() if rng.random() < 0.95 else bytes(rng.randrange(256) for _ in range(rng.randrange(1, 30)))
            if name not in self.names:
                self.names.add(name)
                return name

    def blob(self, size: int, packable: bool | None = None) -> bytes:
        """Returns bytes that can be compressed, or random ones."""
        packable = self.random.random() < 0.5 if packable is None else packable
        if packable:
            unit = b"abcdefghij" * (size // 10 + 1)
            return unit[:size]
        return self.random.randbytes(size)

    def value(self) -> bytes:
        """Returns an element: a number, or text, now and then longer than a packed encoding takes."""
        rng = self.random
        roll = rng.random()
        if roll < 0.4:
            return str(rng.choice([rng.randrange(-10, 200), rng.randrange(-(2**15), 2**15), rng.randrange(-(2**63), 2**63)])).encode()
        return self.blob(rng.choice(WIDTHS) if roll < 0.45 else rng.randrange(1, 16))

    def values(self, size: int, width: int | None = None) -> list[bytes]:
        """Returns `size` distinct values, all short, or one of them of `width` bytes."""
        found = {b"%d:%s" % (n, self.blob(self.random.randrange(8))) for n in range(size - 1)}
        found.add(self.blob(width, True) if width else b"last")
        return sorted(found)

    def commands(self, key: bytes) -> Iterator[tuple]:
        """Yields the commands that make one key."""
        rng = self.random
        kind = rng.choice(self.kinds)
        size, width = rng.choice([*SIZES, rng.randrange(1, 1500)]), rng.choice([None, None, *WIDTHS[8:]])
        if kind == "string":
            length = rng.choice([rng.choice(WIDTHS), rng.randrange(2000), rng.randrange(60000)])
            yield ("SET", key, self.blob(length))
            if rng.random() < 0.1:
                yield ("APPEND", key, "more")
        elif kind == "counter":
            yield (
                "SET",
                key,
                rng.choice([rng.randrange(-5, 20000), rng.randrange(-(2**63), 2**63), "007", "-0", "9223372036854775808", "3.5"]),
            )
        elif kind == "list":
            elements = [self.value() for _ in range(size)]
            if rng.random() < 0.1:
                elements.insert(rng.randrange(size), self.blob(rng.choice([5000, 9000, 40000])))
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
            scores = [
                rng.choice([rng.randrange(1000), round(rng.uniform(-1e6, 1e6), 3), rng.uniform(-1, 1), "inf", "-inf"]) for _ in range(size)
            ]
            yield ("ZADD", key, *(part for pair in zip(scores, self.values(size, width), strict=True) for part in pair))
        elif kind == "hash":
            fields = self.values(size, width)
            yield ("HSET", key, *(part for field in fields for part in (field, self.value()[:60] or b"v")))
            yield from [("HDEL", key, *fields[: size // 3])] * (size > 3 and rng.random() < 0.2)
            if self.field_expiries and rng.random() < 0.4:
                yield from self.expiries(key, fields)
        elif kind == "shared":
            yield from self.with_shared_fields(key)
        elif kind == "stream":
            yield from self.stream(key, min(size, 600))
        elif kind == "hll":
            yield ("PFADD", key, *self.values(size))
        else:
            yield ("SETBIT", key, rng.randrange(8 * 3000), 1)

    def expiries(self, key: bytes, fields: list[bytes]) -> Iterator[tuple]:
        """Yields expiries for one field, for some or for all: at few times or at many, near each other or far."""
        rng = self.random
        some = rng.sample(fields, rng.choice([1, rng.randrange(1, len(fields) + 1), len(fields)]))
        span = rng.choice([10_000, 10**8, 10**11])
        group = rng.choice([1, 1, 7, 100])
        for start in range(0, len(some), group):
            part = some[start : start + group]
            yield ("HPEXPIREAT", key, self.now + 3_600_000 + rng.randrange(span), "FIELDS", len(part), *part)

    def fields(self) -> list[bytes]:
        """Returns names of fields that hashes share."""
        rng = self.random
        count, longest = rng.choice([1, 2, 3, 5, 8, 12, 30, 100, 250]), rng.choice([4, 12, 40, 300])
        return sorted({b"%d%s" % (n, b"f" * rng.randrange(longest)) for n in range(count)})

    def prepare(self) -> Iterator[tuple]:
        """Yields the commands after which HIMPORT SET has the fields, in this connection alone."""
        for number, fields in enumerate(self.field_sets):
            yield ("HIMPORT", "PREPARE", f"set-{number}", *fields)

    def with_shared_fields(self, key: bytes) -> Iterator[tuple]:
        """Yields the commands of a hash that shares its field names, some of them changed later."""
        rng = self.random
        number = min(int(rng.expovariate(0.1)), len(self.field_sets) - 1)
        fields = self.field_sets[number]
        if self.shared == "HIMPORT":
            yield ("HIMPORT", "SET", key, f"set-{number}", *(self.value() for _ in fields))
        else:
            yield ("HSET", key, *(part for field in fields for part in (field, self.value())))
        edit = rng.random()
        if edit < 0.15:
            yield ("HSET", key, rng.choice(fields), self.blob(rng.choice(WIDTHS), True))
        elif edit < 0.25:
            yield ("HSET", key, b"one more", self.value())
        elif edit < 0.35 and len(fields) > 2:
            yield ("HDEL", key, *rng.sample(fields, 2))
        elif edit < 0.4 and self.field_expiries:
            yield ("HPEXPIREAT", key, self.now + 10**10, "FIELDS", 1, rng.choice(fields))

    def stream(self, key: bytes, size: int) -> Iterator[tuple]:
        """Yields the commands of a stream with deleted entries, groups and pending entries."""
        rng = self.random
        for number in range(1, size + 1):
            extra = ("extra", self.blob(rng.randrange(40))) if rng.random() < 0.1 else ()
            yield ("XADD", key, f"{1_700_000_000_000 + number * 7}-{number % 3}", "field", self.value() or b"v", *extra)
        for number in rng.sample(range(1, size + 1), size // 5):
            yield ("XDEL", key, f"{1_700_000_000_000 + number * 7}-{number % 3}")
        for group in GROUPS[: rng.randrange(4)]:
            yield ("XGROUP", "CREATE", key, group, "0")
            for consumer in GROUPS[: rng.randrange(4)]:
                yield ("XREADGROUP", "GROUP", group, consumer, "COUNT", rng.randrange(1, 30), "STREAMS", key, ">")


def knows(client: Client, command: str) -> bool:
    return client.call("COMMAND", "INFO", command)[0] is not None


def fill(client: Client, seed: int, count: int, databases: Iterable[int] = DATABASES) -> set[Place]:
    """Makes the keys; returns the places of those that are past their expiry."""
    now = int(client.call("TIME")[0]) * 1000
    compact = knows(client, "HIMPORT")
    filler = Filler(seed, knows(client, "HPEXPIREAT"), now, "HIMPORT" if compact else None)
    if compact:
        client.pipeline(filler.prepare())
    rng = filler.random
    places = [(rng.choice(databases), filler.name()) for _ in range(count)]
    gone = set(rng.sample(places, 12))
    client.call("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for db in sorted(set(databases)):
        keys = [key for at, key in places if at == db]
        client.call("SELECT", db)
        if compact:
            least, most = rng.choice(BOUNDS)
            client.call("CONFIG", "SET", "hash-min-template-entries", least, "hash-max-template-entries", most)
        client.pipeline(command for key in keys for command in filler.commands(key))
        aged = rng.sample(keys, len(keys) // 2)
        expiries = {key: now + rng.randrange(3_600_000, 10**11) if rng.random() < 0.4 else 0 for key in keys}
        client.pipeline(("PEXPIREAT", key, at) for key, at in expiries.items() if at)
        dumps = client.pipeline(("DUMP", key) for key in aged)
        client.pipeline(
            ("RESTORE", key, expiries[key], dump, "REPLACE", "ABSTTL", "IDLETIME", rng.randrange(1, 10**7))
            for key, dump in zip(aged, dumps, strict=True)
        )
        client.pipeline(("PEXPIREAT", key, int(time.time() * 1000) + 400) for at, key in gone if at == db)
    time.sleep(0.8)
    return gone
