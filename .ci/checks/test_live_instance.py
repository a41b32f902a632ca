"""The section `instance` of `rdblens analyze` compared with running servers.

Each server is filled with random keys of every type and size and saves, with default settings and as the only node of a
cluster. Another one is started on exactly that file. When it is idle, its `used_memory` without `used_memory_startup` is
compared with the total of the report, and the part of the databases in `used_memory_overhead` with the overhead.
"""

import dataclasses
import shutil
import time
from pathlib import Path

import pytest
from server import ReplyError, Server, free_port

from checks.instance_keys import fill
from checks.program import Program
from checks.servers import ServerBinary, wait_for_cluster

KEYS = 80_000
TOLERANCE = 0.01
MODES = {"default": [(0, 0.7), (3, 0.3)], "cluster": [(0, 1.0)]}
SLOTS = 16_384
# Tables that grew while the file was loaded are moved by the server's cron, a part at a time: ten times as often as usual
# it is done ten times earlier, and the tables are the same in the end.
CRON = ["--hz", "100"]


def pairs(flat: list) -> dict:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def tables(server: Server) -> dict[str, int]:
    """Returns what the server counts as overhead of its databases: main tables, tables of expiries, links of slots."""
    sums = dict.fromkeys(("main", "expires", "slot-to-keys"), 0)
    for name, value in pairs(server.client.call("MEMORY", "STATS")).items():
        if name.startswith(b"db.") and isinstance(value, list):
            for part, size in pairs(value).items():
                sums[part.decode().removeprefix("overhead.hashtable.")] += size
    return sums


def is_rehashing(server: Server) -> bool:
    """Whether entries are being moved, which the sizes of the tables do not show. Redis 7.0 does not say."""
    return pairs(server.client.call("MEMORY", "STATS")).get(b"db.dict.rehashing.count", 0) > 0


def wait_until_settled(server: Server) -> None:
    """Waits until no table is being moved and all stay as they are for a second: on a busy machine that takes long."""
    server.wait_until_idle()
    before = None
    for _ in range(120):
        now = tables(server)
        if now == before and not is_rehashing(server):
            return
        before = now
        time.sleep(1)
    raise TimeoutError("the server does not come to an end with its tables")


def take_slots(server: Server) -> None:
    try:
        server.client.call("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
    except ReplyError:
        server.client.call("CLUSTER", "ADDSLOTS", *range(SLOTS))
    wait_for_cluster(server.client)


@dataclasses.dataclass
class Loaded:
    """What a server said that had loaded a dump, and the report on it."""

    keys: int
    # Without what it takes when it has started, in bytes.
    used: int
    used_early: int
    dataset: int
    clients: int
    tables: dict[str, int]
    report: dict

    @property
    def instance(self) -> dict:
        return self.report["instance"]

    def table(self) -> list[str]:
        """Returns lines with our figures and those of the server."""
        ours = self.instance["overhead"]
        rows = [
            ("used_memory - startup", self.instance["total"], self.used),
            ("overhead of databases", sum(ours.values()), sum(self.tables.values())),
            ("overhead, main", ours["main"], self.tables["main"]),
            ("overhead, expires", ours["expires"], self.tables["expires"]),
            ("overhead, slots", ours["slots"], self.tables["slot-to-keys"]),
            ("dataset", self.instance["dataset"], self.dataset),
            ("right after loading", self.instance["after_load"] or self.instance["total"], self.used_early),
            ("of it clients", 0, self.clients),
        ]
        return [f"  {what:<24} {ours:>12} ours {theirs:>12} theirs {100 * apart(ours, theirs):+7.2f} %" for what, ours, theirs in rows]


def apart(ours: int, theirs: int) -> float:
    return (ours - theirs) / theirs if theirs else 0.0


@pytest.fixture(scope="module", params=MODES)
def loaded(
    request: pytest.FixtureRequest,
    binary: ServerBinary,
    program: Program,
    seed: int,
    summary: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Loaded:
    """Fills a server, starts another on its dump, and asks both it and rdblens."""
    folder: Path = tmp_path_factory.mktemp("instance")
    cluster = request.param == "cluster"
    options = ["--dir", str(folder)] + (["--cluster-enabled", "yes", "--cluster-port", str(free_port())] if cluster else [])
    start = time.monotonic()
    with Server(*options, binary=binary.path) as server:
        if cluster:
            take_slots(server)
        fill(server.client, seed, request.config.option.keys or KEYS, MODES[request.param])
        server.client.call("SAVE")
    filled = time.monotonic() - start
    with Server(*options, *CRON, binary=binary.path) as server:
        server.wait_until_loaded()
        early = server.info("memory")
        facts = server.info("server")
        wait_until_settled(server)
        memory = server.info("memory")
        startup = int(memory["used_memory_startup"])
        keyspace = server.info("keyspace").values()
        said = {
            "keys": sum(int(value.split(",")[0].split("=")[1]) for value in keyspace),
            "used": int(memory["used_memory"]) - startup,
            "used_early": int(early["used_memory"]) - startup,
            "dataset": int(memory["used_memory_dataset"]),
            "clients": int(memory["mem_clients_normal"]),
            "tables": tables(server),
        }
    settled = time.monotonic() - start - filled
    report = program.report(
        folder / "dump.rdb", "--allocator", binary.allocator, *(["--server-config", "cluster-enabled=yes"] if cluster else [])
    )
    found = Loaded(**said, report=report)
    version = facts.get("valkey_version", facts["redis_version"])
    summary.append(
        f"{binary.name} {version}, {request.param}, seed {seed}: {found.keys} keys, filled in {filled:.0f} s, settled in {settled:.0f} s"
    )
    summary.extend(found.table())
    shutil.rmtree(folder)
    return found


def test_keys_are_counted(loaded: Loaded) -> None:
    assert loaded.keys == loaded.report["totals"]["keys"] > 0


def test_used_memory(loaded: Loaded) -> None:
    assert abs(apart(loaded.instance["total"], loaded.used)) <= TOLERANCE, "\n".join(loaded.table())


def test_overhead_of_databases(loaded: Loaded) -> None:
    ours = sum(loaded.instance["overhead"].values())
    assert abs(apart(ours, sum(loaded.tables.values()))) <= TOLERANCE, "\n".join(loaded.table())
