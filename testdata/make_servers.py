#!/usr/bin/env python3
"""Creates servers/: small dumps in formats of servers that are not at hand, written from their sources, and what they hold.

    python3 testdata/make_servers.py

Beside each file or folder stands NAME.json with the keys that a reader must find, `[db, key, type, length, expiry]` each, and the
server that it must name. The writers here follow the servers' save functions, not our reader. Python's standard library only;
the same run always makes the same bytes.
"""

import gzip
import json
import os
import struct

from make_hostile import aux, crc64, f64, i64, length, listpack, record, string

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers")


def write(name, data):
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def expect(name, server, keys, **more):
    facts = {"server": server, "keys": sorted(keys), **more}
    with open(os.path.join(HERE, name + ".json"), "w") as file:
        json.dump(facts, file, separators=(",", ":"), ensure_ascii=False)
        file.write("\n")


def with_crc(body):
    return body + struct.pack("<Q", crc64(body))


# --- LZ4 frames, enough of them to be read by any decoder ---------------------------------------------------------------


def rotate(value, bits):
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF


def xxh32(data):
    """The hash of frame headers and blocks, with seed 0."""
    one, two, three, four, five = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask, at = 0xFFFFFFFF, 0
    if len(data) >= 16:
        lanes = [one + two & mask, two, 0, -one & mask]
        while at + 16 <= len(data):
            for lane in range(4):
                (word,) = struct.unpack_from("<I", data, at + 4 * lane)
                lanes[lane] = rotate(lanes[lane] + word * two & mask, 13) * one & mask
            at += 16
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & mask
    else:
        value = five
    value = value + len(data) & mask
    while at + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, at)
        value = rotate(value + word * three & mask, 17) * four & mask
        at += 4
    for byte in data[at:]:
        value = rotate(value + byte * five & mask, 11) * one & mask
    value = (value ^ value >> 15) * two & mask
    value = (value ^ value >> 13) * three & mask
    return value ^ value >> 16


assert xxh32(b"") == 0x02CC5D05 and xxh32(b"a" * 16) == xxh32(bytes([97] * 16))


def lz4_block(data):
    """Greedy matches of four bytes or more; the last five bytes are literals, and no match starts in the last twelve."""
    out, seen, start, at = bytearray(), {}, 0, 0

    def number(value):
        while value >= 255:
            out.append(255)
            value -= 255
        out.append(value)

    def sequence(literals, match=None):
        more = 0 if match is None else match[1] - 4
        out.append(min(len(literals), 15) << 4 | min(more, 15))
        if len(literals) >= 15:
            number(len(literals) - 15)
        out.extend(literals)
        if match is not None:
            out.extend(struct.pack("<H", match[0]))
            if more >= 15:
                number(more - 15)

    while at + 12 < len(data):
        word = data[at : at + 4]
        before, seen[word] = seen.get(word), at
        if before is None or at - before > 65535:
            at += 1
            continue
        size = 4
        while at + size < len(data) - 5 and data[before + size] == data[at + size]:
            size += 1
        sequence(data[start:at], (at - before, size))
        at += size
        start = at
    sequence(data[start:])
    return bytes(out)


def lz4_frame(data, content_size=False, block_checksums=False):
    """Independent blocks of at most 64 KiB."""
    flags = 0x60 | (0x08 if content_size else 0) | (0x10 if block_checksums else 0)
    header = bytes([flags, 0x40]) + (struct.pack("<Q", len(data)) if content_size else b"")
    frame = b"\x04\x22\x4d\x18" + header + bytes([xxh32(header) >> 8 & 255])
    for at in range(0, len(data), 65536):
        plain = data[at : at + 65536]
        block = lz4_block(plain)
        size = len(block)
        if size >= len(plain):
            block, size = plain, len(plain) | 0x80000000
        frame += struct.pack("<I", size) + block + (struct.pack("<I", xxh32(block)) if block_checksums else b"")
    return frame + bytes(4)


# --- Valkey 9.2: RDB 81, whole or in the VCS envelope -------------------------------------------------------------------


def valkey():
    """`VALKEY081`; with `rdbcompression lz4` in an envelope of seven bytes (`src/compression_stream.h`)."""
    body, keys = b"VALKEY081" + aux("valkey-ver", "9.2.0") + aux("redis-bits", "64") + aux("ctime", "1790000000"), []
    body += aux("used-mem", "1234567") + aux("aof-base", "0") + b"\xfe\x00\xfb" + length(902) + length(1)
    for number in range(900):
        value = f"value of the session {number % 7} " * 4
        body += record(0, f"session:{number}", string(value))
        keys.append([0, f"session:{number}", "string", len(value), None])
    members = b"".join(string(f"member:{number:04}") + f64(float(number)) for number in range(299, -1, -1))
    body += record(5, "board", length(300) + members)
    keys.append([0, "board", "zset", 300, None])
    body += b"\xfc" + i64(1900000000000) + record(22, "cart", length(2) + b"\x01f\x01v" + i64(-1) + b"\x01g\x01w" + i64(1900000000001))
    keys.append([0, "cart", "hash", 2, 1900000000000])
    whole = with_crc(body + b"\xff")
    for name, data in [
        ("valkey-9.2.rdb", whole),
        ("valkey-9.2-vcs.rdb", b"VCS\x01\x01\x00\x01" + lz4_frame(whole, block_checksums=True)),
        ("valkey-9.2-vcs.rdb.gz", gzip.compress(b"VCS\x01\x01\x00\x01" + lz4_frame(whole), mtime=0)),
    ]:
        write(name, data)
        expect(name, "valkey 9.2.0", keys)


# --- Redis Enterprise: one .rdb.gz a shard ----------------------------------------------------------------------------


def enterprise():
    """Opcodes 107 (before a key) and 121 as librdb reads them; auxiliary fields as in the dump among its tests."""
    keys = []
    for shard in range(2):
        body = b"REDIS0012" + aux("redis-ver", "7.4.2") + aux("redis-bits", "64") + aux("ctime", "1739277398")
        body += aux("used-mem", "11374993") + aux("repl-stream-db", "0") + aux("aof-base", "0")
        body += aux("big-used-ram", "11375256") + aux("big-used-disk", "0") + aux("big-ram-overhead", "11376324")
        body += aux("big-used-data", "0") + b"\xfe\x00" + aux("bigdb-ram-keys", "3") + aux("bigdb-disk-keys", "0")
        body += b"\xfb" + length(600) + length(1)
        for number in range(600):
            if number % 100 == 0:
                body += b"\x79" + length(8192 * shard + number)
            key, expiry = f"user:{shard}:{number}", None
            body += b"\x6b" + length(67 + number)
            if number == 7:
                expiry = 1900000000000
                body += b"\xfc" + i64(expiry)
            if number % 3 == 0:
                body += record(16, key, string(listpack("name", f"n{number}")))
                keys.append([0, key, "hash", 1, expiry])
            else:
                body += record(0, key, string(f"value {number}"))
                keys.append([0, key, "string", len(f"value {number}"), expiry])
        packed = gzip.compress(with_crc(body + b"\xff"), mtime=0)
        write(f"enterprise/redis-{shard + 1}.rdb.gz", packed)
    # As librdb's own test: a prefix whose key follows at once, before the first and the second key.
    plain = b"REDIS0012" + aux("redis-ver", "7.4.2") + b"\xfe\x00\xfb\x03\x00"
    plain += b"\x6b\x40\x43" + record(0, "a", string("b")) + b"\x6b\x40\x5c" + record(0, "e", string("f"))
    plain += b"\x6b\x32" + record(0, "c", string("d"))
    write("enterprise-opcodes.rdb", with_crc(plain + b"\xff"))
    expect("enterprise-opcodes.rdb", "redis-enterprise 7.4.2", [[0, key, "string", 1, None] for key in "ace"])
    expect("enterprise", "redis-enterprise 7.4.2", keys)


def main():
    os.makedirs(HERE, exist_ok=True)
    enterprise()
    valkey()


if __name__ == "__main__":
    main()
