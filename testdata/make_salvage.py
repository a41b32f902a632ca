#!/usr/bin/env python3
"""Writes testdata/salvage: a small dump, and copies of it with damage.

    python3 testdata/make_salvage.py

Needs redis-server 7.0. The files are checked in: the dump differs from run to run in its creation time.
"""

from pathlib import Path

from server import Server

FOLDER = Path(__file__).parent / "salvage"
SECTOR = 512


def commands():
    for number in range(1, 301):
        yield ("SET", f"session:{number:08x}", f"token-{number * 7919:012x}", "PXAT", 2_000_000_000_000 + number)
        yield ("HSET", f"user:{number}", "name", f"customer {number}", "city", ("Oslo", "Lima", "Kyoto")[number % 3], "visits", number * 3)
    for number in range(1, 41):
        yield ("ZADD", f"board:{number}", *[word for place in range(8) for word in (place * number, f"player-{place}")])
        yield ("RPUSH", f"queue:{number}", *[f"job-{number}-{place}" for place in range(12)])
    yield ("SELECT", 3)
    for number in range(1, 121):
        yield ("SET", f"cart:{number}", f"{number} items")


def main():
    FOLDER.mkdir(exist_ok=True)
    with Server() as server:
        server.client.pipeline(commands())
        server.client.call("SAVE")
        dump = Path(server.dump).read_bytes()
    (FOLDER / "sound.rdb").write_bytes(dump)
    flipped = bytearray(dump)
    flipped[len(dump) // 3] ^= 0x20
    (FOLDER / "flipped.rdb").write_bytes(flipped)
    zeroed = bytearray(dump)
    zeroed[12 * SECTOR : 13 * SECTOR] = bytes(SECTOR)
    (FOLDER / "zeroed.rdb").write_bytes(zeroed)
    (FOLDER / "cut.rdb").write_bytes(dump[: len(dump) // 2])


if __name__ == "__main__":
    main()
