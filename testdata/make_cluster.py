#!/usr/bin/env python3
"""Creates cluster/: the snapshots of an invented cluster of six shards, for capacity plans.

    python3 testdata/make_cluster.py

The files are written from the format's description, without a server: values are runs of one letter, compressed, so that
shards of some megabytes are files of some kilobytes. Slots were divided evenly by number, as `redis-cli --cluster create`
does, and bytes are not: one tenant has its items under one hash tag, and feeds of one shard grew. Idle times say that old
orders and abandoned carts are out of use. `nodes.txt` is what CLUSTER NODES answers, `owners.toml` a dictionary with owners.
"""

import random
from pathlib import Path

SHARDS, SLOTS, DAY = 6, 16384, 86400
NIGHT = 1795219200  # 2026-11-21 00:00:00 UTC


def slot_of(key: bytes) -> int:
    """Returns the slot by CRC16 (XMODEM) of the name, or of its hash tag."""
    begin = key.find(b"{")
    end = key.find(b"}", begin + 1)
    tag = key[begin + 1 : end] if begin >= 0 and end > begin + 1 else key
    crc = 0
    for byte in tag:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc % SLOTS


def length(number: int) -> bytes:
    if number < 64:
        return bytes([number])
    if number < 16384:
        return bytes([0x40 | number >> 8, number & 0xFF])
    return b"\x80" + number.to_bytes(4, "big")


def text(value: bytes) -> bytes:
    return length(len(value)) + value


def run(size: int) -> bytes:
    """Returns a string of that many letters x, compressed by LZF: a letter, then references one byte back."""
    packed, left = b"\x00x", size - 1
    while left >= 3:
        part = min(left, 264)
        rest = part - 2
        packed += bytes([rest << 5, 0]) if rest < 7 else bytes([7 << 5, rest - 7, 0])
        left -= part
    packed += b"".join(b"\x00x" for _ in range(left))
    return b"\xc3" + length(len(packed)) + length(size) + packed


def keys(chance: random.Random):
    """Yields name, size, days without access and days to live of each key."""
    for user in range(420):
        yield f"session:{user:05}", chance.randrange(900, 1500), 0, 1
        yield f"profile:{user:05}", chance.randrange(5_000, 9_000), chance.choice([0, 0, 0, 12, 45]), None
    for cart in range(260):
        yield f"cart:{cart:05}", chance.randrange(7_000, 12_000), chance.choice([0, 9, 20, 33]), None
    for order in range(180):
        yield f"archive:order:{order:06}", chance.randrange(18_000, 30_000), chance.choice([95, 120, 200]), None
    for feed in range(240):
        name = f"feed:{feed:05}"
        # The feeds of the fifth shard belong to users who post much.
        heavy = slot_of(name.encode()) * SHARDS // SLOTS == 4
        yield name, chance.randrange(60_000, 90_000) if heavy else chance.randrange(6_000, 10_000), 0, 3
    for item in range(60):
        yield f"tenant:{{acme}}:item:{item:04}", chance.randrange(30_000, 60_000), chance.choice([0, 1]), None


def dump(rows) -> bytes:
    out = b"REDIS0011"
    for name, value in [(b"redis-ver", b"7.2.4"), (b"redis-bits", b"\xc0\x40"), (b"ctime", str(NIGHT).encode())]:
        out += b"\xfa" + text(name) + (value if value[:1] == b"\xc0" else text(value))
    expiring = sum(1 for row in rows if row[3] is not None)
    out += b"\xfe\x00\xfb" + length(len(rows)) + length(expiring)
    for name, size, idle, lives in rows:
        if lives is not None:
            out += b"\xfc" + ((NIGHT + lives * DAY) * 1000).to_bytes(8, "little")
        out += b"\xf8" + length(idle * DAY) + b"\x00" + text(name.encode()) + run(size)
    return out + b"\xff" + bytes(8)


def main() -> None:
    folder = Path(__file__).parent / "cluster"
    folder.mkdir(exist_ok=True)
    shards, nodes = [[] for _ in range(SHARDS)], []
    for row in keys(random.Random(18)):
        shards[slot_of(row[0].encode()) * SHARDS // SLOTS].append(row)
    for shard, rows in enumerate(shards):
        (folder / f"shard-{shard + 1}.rdb").write_bytes(dump(rows))
        owned = [slot for slot in range(SLOTS) if slot * SHARDS // SLOTS == shard]
        address = f"10.0.0.{shard + 1}:6379@16379"
        nodes.append(f"{shard + 1:040x} {address} master - 0 0 {shard + 1} connected {owned[0]}-{owned[-1]}\n")
    (folder / "nodes.txt").write_text("".join(nodes))
    owners = [("session:*", "accounts"), ("profile:*", "accounts"), ("cart:*", "shop"), ("archive:**", "shop")]
    owners += [("feed:*", "social"), ("tenant:**", "partners")]
    lines = ['name = "cluster"\n']
    lines += [f'\n[[dictionary]]\npattern = "{pattern}"\nowner = "{owner}"\n' for pattern, owner in owners]
    (folder / "owners.toml").write_text("".join(lines))


if __name__ == "__main__":
    main()
