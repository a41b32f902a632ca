"""`rdblens analyze --what-if` compared with the servers and settings that it speaks of.

Debian's redis-server fills itself with random keys of every type, size and encoding and saves. From that file alone rdblens
tells what it takes there, on every other server, and under other settings. Then each of these is started on exactly that file
and asked about every key. Sums over all keys have to be within 0.1 % of each other, with glibc within 1 %, and totals (keys
and tables) within 1 % of `used_memory` without `used_memory_startup`.
"""

import collections
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from server import Client, Server, free_port

from checks.program import Program
from checks.random_keys import Filler
from checks.servers import ServerBinary, debian, identify, wait_for_cluster

KEYS = 3000
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
# What changes along with the server.
CHANGES = {
    "as it is": {},
    "cluster": {"cluster-enabled": "yes"},
    "other limits": {
        "hash-max-listpack-entries": "64",
        "zset-max-listpack-entries": "40",
        "set-max-listpack-entries": "30",
        "set-max-listpack-value": "12",
    },
}
# What Redis makes compact hashes of while it loads the file, from 8.10 on.
COMPACT = [
    {"hash-rdb-load-min-template-entries": "2"},
    {
        "hash-rdb-load-min-template-entries": "3",
        "hash-rdb-load-max-template-entries": "60",
        "hash-rdb-load-template-disassembly-threshold": "4",
        "hash-max-listpack-entries": "64",
    },
]
COMPACT_SINCE = (8, 10)
TYPES = ["string", "list", "set", "zset", "hash", "stream"]
# As many as rdblens takes in one run.
AT_ONCE = 8
# Levels of skiplists are random, and what malloc of the C library hands out depends on what was freed before.
TOLERANCE = 0.001
GLIBC_TOLERANCE = 0.01
# Of the whole server: an empty one takes 50 to 100 KB more than it says it started with.
TOTAL_TOLERANCE = 0.01


def text(settings: dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())


def asked(binary: ServerBinary, settings: dict[str, str]) -> str:
    """Returns a server with settings as --what-if takes it."""
    return ",".join(filter(None, [binary.name, binary.allocator, text(binary.known(settings))]))


@dataclasses.dataclass
class Sums:
    """Memory of all keys by type, and of the whole server, in bytes."""

    types: dict[str, int]
    total: int

    @property
    def memory(self) -> int:
        return sum(self.types.values())


@dataclasses.dataclass
class Saved:
    """A saved dump, and what rdblens says of it by question; `None` asks nothing."""

    dump: Path
    keys: int
    predictions: dict[str | None, Sums]


def fill(client: Client, seed: int, count: int) -> None:
    """Makes random keys in database 0: a cluster has no other."""
    filler = Filler(seed, shared="HSET")
    now = int(client.call("TIME")[0]) * 1000
    keys = [filler.name() for _ in range(count)]
    client.pipeline(command for key in keys for command in filler.commands(key))
    for key in keys:
        if filler.random.random() < 0.4:
            client.call("PEXPIREAT", key, now + filler.random.randrange(3_600_000, 10**11))


def predictions(program: Program, dump: Path, allocator: str, questions: list[str]) -> Iterator[tuple[int, str | None, Sums]]:
    """Yields number of keys, question and answer: of the dump as it is, then of each question."""
    for start in range(0, len(questions), AT_ONCE):
        some = questions[start : start + AT_ONCE]
        report = program.report(dump, "--allocator", allocator, *(word for question in some for word in ("--what-if", question)))
        keys, answer = report["totals"]["keys"], report["what_if"]
        yield keys, None, Sums({row["type"]: row["memory"] for row in answer["types"]}, answer["base"]["total"])
        for at, (question, alternative) in enumerate(zip(some, answer["alternatives"], strict=True)):
            sums = Sums({row["type"]: row["alternatives"][at] for row in answer["types"]}, alternative["total"])
            assert sums.memory == alternative["memory"], f"{question}: the types do not add up to the whole"
            yield keys, question, sums


@pytest.fixture(scope="module")
def newest(binaries: dict[str, ServerBinary]) -> ServerBinary:
    """The server that makes compact hashes."""
    found = [binary for binary in binaries.values() if binary.family == "redis" and binary.line >= COMPACT_SINCE]
    assert len(found) == 1, "one server is to know compact hashes"
    return found[0]


@pytest.fixture(scope="module")
def saved(
    request: pytest.FixtureRequest,
    binaries: dict[str, ServerBinary],
    newest: ServerBinary,
    program: Program,
    seed: int,
    summary: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Saved:
    """Lets Debian's server save random keys, and asks rdblens all questions."""
    base = identify(debian())
    questions = [text(settings) for settings in SETTINGS]
    questions += [asked(binary, settings) for binary in binaries.values() for settings in CHANGES.values()]
    questions += [asked(newest, settings) for settings in COMPACT]
    folder = tmp_path_factory.mktemp("what-if")
    with Server("--dir", str(folder), binary=base.path) as writer:
        fill(writer.client, seed, request.config.option.keys or KEYS)
        writer.client.call("SAVE")
    dump = folder / "dump.rdb"
    answers = list(predictions(program, dump, base.allocator, questions))
    keys = answers[0][0]
    summary.append(f"{keys} keys of {base.name}, {base.allocator}, seed {seed}; by type: percent apart")
    return Saved(dump, keys, {question: sums for _, question, sums in answers})


def load(binary: Path, dump: Path, settings: dict[str, str]) -> tuple[int, Sums]:
    """Starts a server on the dump; returns its number of keys, and what they and all of it take."""
    cluster = settings.get("cluster-enabled") == "yes"
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    if cluster:
        # The usual port of the cluster is ten thousand above the other, which may be no port at all.
        options += ["--cluster-port", str(free_port()), "--cluster-require-full-coverage", "no"]
    with Server(*options, binary=binary, dump=dump) as server:
        if cluster:
            wait_for_cluster(server.client)
        server.wait_until_loaded()
        server.wait_until_idle()
        memory = server.info("memory")
        total = int(memory["used_memory"]) - int(memory["used_memory_startup"])
        keys = server.client.call("KEYS", "*")
        kinds = server.client.pipeline(("TYPE", key) for key in keys)
        figures = server.client.pipeline(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys)
    types = collections.Counter()
    for kind, figure in zip(kinds, figures, strict=True):
        types[kind.decode()] += figure
    return len(keys), Sums(types, total)


def apart(ours: int, theirs: int) -> float:
    return (ours - theirs) / theirs if theirs else 0.0


def compare(
    saved: Saved,
    question: str | None,
    binary: Path,
    settings: dict[str, str],
    summary: list[str],
) -> None:
    """Loads the dump as asked, and compares what the server says with the prediction."""
    keys, real = load(binary, saved.dump, settings)
    base, ours = saved.predictions[None], saved.predictions[question]
    by_type = "  ".join(f"{kind} {100 * apart(ours.types.get(kind, 0), real.types.get(kind, 0)):+.3f}" for kind in TYPES)
    away, total_away = apart(ours.memory, real.memory), apart(ours.total, real.total)
    change, real_change = (100 * apart(sums.memory, base.memory) for sums in (ours, real))
    summary += [
        question or "as it is",
        f"    predicted {ours.memory:>11,} ({change:+6.2f} %)  real {real.memory:>11,} ({real_change:+6.2f} %)  apart {100 * away:+.3f} %:  {by_type}",
        f"    in total  {ours.total:>11,}             real {real.total:>11,}             apart {100 * total_away:+.3f} %",
    ]
    assert keys == saved.keys > 0
    assert abs(away) <= (GLIBC_TOLERANCE if "glibc" in (question or "") else TOLERANCE)
    assert abs(total_away) <= TOTAL_TOLERANCE


def test_base(saved: Saved, summary: list[str]) -> None:
    compare(saved, None, debian(), {}, summary)


@pytest.mark.parametrize("settings", SETTINGS, ids=text)
def test_other_settings(saved: Saved, settings: dict[str, str], summary: list[str]) -> None:
    compare(saved, text(settings), debian(), settings, summary)


@pytest.mark.parametrize("change", CHANGES)
def test_other_server(saved: Saved, binary: ServerBinary, change: str, summary: list[str]) -> None:
    settings = binary.known(CHANGES[change])
    compare(saved, asked(binary, settings), binary.path, settings, summary)


@pytest.mark.parametrize("settings", COMPACT, ids=text)
def test_compact_hashes(saved: Saved, newest: ServerBinary, settings: dict[str, str], summary: list[str]) -> None:
    compare(saved, asked(newest, settings), newest.path, settings, summary)
    assert saved.predictions[asked(newest, settings)].types["hash"] != saved.predictions[asked(newest, {})].types["hash"]
