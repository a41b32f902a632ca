"""Keys of a typical instance, as commands to a server: many small ones of every type, a third of which expire."""

import random
from collections.abc import Iterator

from checks.random_keys import knows
from server import Client

# Number of keys of each kind per 100 keys.
KINDS = {"text": 50, "number": 14, "long": 2, "list": 8, "ints": 5, "set": 6, "zset": 6, "hash": 8, "stream": 1}
# Hashes that share their field names, where the server knows them: so many per 100 other keys.
COMPACT = 10
FIELD_SETS = [3, 5, 12, 40]
# Number of elements of collections: mostly few, now and then more than any packed encoding takes.
SIZES = [1, 2, 3, 5, 8, 12, 20, 30]
LARGE = [130, 200, 300, 520, 700]
EXPIRING = 0.33


def texts(rng: random.Random, count: int, most: int) -> set[bytes]:
    """Returns distinct short strings."""
    return {b"%x:%s" % (n, b"v" * rng.randrange(most)) for n in rng.sample(range(1 << 30), count)}


def commands(rng: random.Random, kind: str, key: bytes) -> Iterator[tuple]:
    """Yields the commands that make one key."""
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
    elif kind == "compact":
        fields = rng.choice(FIELD_SETS)
        yield ("HIMPORT", "SET", key, f"fields-{fields}", *(b"v" * rng.choice([3, 20, 70]) for _ in range(fields)))
    else:
        yield from stream(rng, key, size)


def stream(rng: random.Random, key: bytes, size: int) -> Iterator[tuple]:
    """Yields the commands of a stream with groups and consumers."""
    for number in range(1, size + 1):
        yield ("XADD", key, f"{1_700_000_000_000 + number * 7}-{number % 3}", "field", rng.randbytes(rng.randrange(40)))
    for group in range(rng.randrange(3)):
        yield ("XGROUP", "CREATE", key, f"group-{group}", "0")
        for consumer in range(rng.randrange(3)):
            yield ("XREADGROUP", "GROUP", f"group-{group}", f"consumer-{consumer}", "COUNT", rng.randrange(1, 9), "STREAMS", key, ">")


def fill(client: Client, seed: int, count: int, databases: list[tuple[int, float]]) -> None:
    """Makes the keys, divided over databases by share."""
    rng = random.Random(seed)
    shares = dict(KINDS)
    if knows(client, "HIMPORT"):
        shares["compact"] = COMPACT
        client.pipeline(("HIMPORT", "PREPARE", f"fields-{size}", *(f"field:{n}" for n in range(size))) for size in FIELD_SETS)
    kinds = rng.choices(list(shares), shares.values(), k=count)
    last = int(client.call("TIME")[0]) * 1000
    for db, share in databases:
        if db > 0:
            client.call("SELECT", db)
        part, kinds = kinds[: int(count * share)], kinds[int(count * share) :]
        names = [f"{kind}:{rng.choice(['', 'a:', 'tenant:user:'])}{n}:{'k' * rng.randrange(30)}".encode() for n, kind in enumerate(part)]
        client.pipeline(command for name, kind in zip(names, part, strict=True) for command in commands(rng, kind, name))
        client.pipeline(("PEXPIREAT", name, last + rng.randrange(10**8, 10**11)) for name in names if rng.random() < EXPIRING)
