"""The slot plan of `rdblens capacity`, carried out on a real cluster on loopback.

Three nodes hold keys whose sizes differ by slot. Their dumps and `CLUSTER NODES` give a plan; its commands are run as they are
printed. Afterwards each node holds exactly the slots that the plan gives it, and the memory of all nodes is even.
"""

import contextlib
import json
import random
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from server import Server

from checks.program import Program
from checks.servers import wait_for_cluster

KEYS = 30_000
SLOTS = 16_384
# Largest distance of a node from the mean, as a part of the mean.
EVEN = 0.02
SETTINGS = ["--cluster-enabled", "yes", "--hz", "100"]


def redis_cli(*words: object) -> str:
    path = shutil.which("redis-cli")
    assert path is not None, "redis-cli is not installed: apt-get install redis-tools"
    done = subprocess.run([path, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"redis-cli {words}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def cluster(nodes: int) -> Iterator[list[Server]]:
    """Starts a cluster with even numbers of slots."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(*SETTINGS)) for _ in range(nodes)]
        redis_cli("--cluster", "create", *(f"127.0.0.1:{server.port}" for server in servers), "--cluster-yes")
        for server in servers:
            wait_for_cluster(server.client)
        yield servers


def fill(servers: list[Server], seed: int) -> None:
    """Adds strings of up to 2 KB, four times as large in the lowest quarter of the slots, and some sets."""
    chance = random.Random(seed)
    commands = []
    for number in range(KEYS):
        key = f"item:{chance.randrange(10**9)}:{number}"
        slot = key_slot(key)
        size = chance.randrange(100, 2000) * (4 if slot < SLOTS // 4 else 1)
        commands.append((slot, ("SADD", key, *range(size // 4)) if number % 100 == 0 else ("SET", key, "x" * size)))
    for server in servers:
        [(first, last)] = own_slots(server)
        server.client.pipeline(command for slot, command in commands if first <= slot <= last)


def key_slot(key: str) -> int:
    """CRC16 (XMODEM) of a key without a hash tag, modulo the number of slots."""
    crc = 0
    for byte in key.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % SLOTS


def own_slots(server: Server) -> list[tuple[int, int]]:
    """Returns the ranges of slots that a node says it has."""
    [line] = [line for line in server.client.call("CLUSTER", "NODES").decode().splitlines() if "myself" in line]
    ranges = [word.partition("-") for word in line.split()[8:] if not word.startswith("[")]
    return [(int(first), int(last or first)) for first, _, last in ranges]


def saved(servers: list[Server]) -> list[str]:
    for server in servers:
        server.client.call("SAVE")
    return [server.dump for server in servers]


def memory(server: Server) -> int:
    server.wait_until_idle()
    facts = server.info("memory")
    return int(facts["used_memory"]) - int(facts["used_memory_startup"])


@pytest.mark.parametrize("target", [3, 4, 2], ids=["even-out", "grow", "shrink"])
def test_commands_even_out_a_real_cluster(program: Program, seed: int, tmp_path, target: int, summary: list[str]) -> None:
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(cluster(3))
        fill(servers, seed)
        nodes = tmp_path / "nodes.txt"
        nodes.write_bytes(servers[0].client.call("CLUSTER", "NODES"))
        words = ["--node-memory", "1GB", "--nodes", target, "--cluster-nodes", nodes, "--format", "json"]
        plan = json.loads(program.run("capacity", *saved(servers), *words))["slots"]
        assert not plan["owners_guessed"] and plan["moves"]

        new = [stack.enter_context(Server(*SETTINGS)) for _ in range(target - 3)]
        by_address = {f"127.0.0.1:{server.port}": server for server in [*servers, *new]}
        # The list of nodes is in an order of its own.
        own = {server.client.call("CLUSTER", "MYID").decode(): server for server in by_address.values()}
        in_order = [own[node["id"]] if node["id"] else None for node in plan["nodes"]]
        in_order = [server or new[at - len(servers)] for at, server in enumerate(in_order)]
        for step in plan["commands"]:
            command = step["command"]
            for number, server in enumerate(in_order, 1):
                command = command.replace(f"ADDRESS_OF_NODE_{number}", f"127.0.0.1:{server.port}")
                command = command.replace(f"ID_OF_NODE_{number}", server.client.call("CLUSTER", "MYID").decode())
            name, *rest = command.split()
            assert name == "redis-cli"
            redis_cli(*rest)
            settle(in_order)

        stays = [(server, node) for server, node in zip(in_order, plan["nodes"], strict=True) if node["slots"]]
        assert len(stays) == target
        for server, node in stays:
            planned = [(span["first"], span["last"]) for span in node["ranges"]]
            assert own_slots(server) == planned, "the commands made other moves than the plan"
        sizes = [memory(server) for server, _ in stays]
        mean = sum(sizes) / len(sizes)
        worst = max(abs(size - mean) / mean for size in sizes)
        summary.append(f"{target} nodes of {mean / 2**20:.1f} MiB: {worst:.2%} from the mean, {plan['moved_slots']} slots moved")
        assert worst <= EVEN, sizes


def settle(servers: list[Server]) -> None:
    """Waits until all nodes of the cluster agree on the slots."""
    for _ in range(200):
        views = set()
        for server in servers:
            lines = server.client.call("CLUSTER", "NODES").decode().splitlines()
            known = [line.split() for line in lines]
            if len(known) > 1:
                wait_for_cluster(server.client)
                views.add(tuple(sorted((fields[0], *fields[8:]) for fields in known if "master" in fields[2])))
        if len(views) == 1 and not any("[" in slot for view in views for fields in view for slot in fields):
            return
        time.sleep(0.1)
    raise TimeoutError("the nodes do not agree")
