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


# --- Dragonfly: .dfs, a summary and a file a shard; .rdb ----------------------------------------------------------------


def zstd_frame(data):
    """A frame of raw blocks with its content size."""
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    for at in range(0, len(data), 1 << 17):
        block = data[at : at + (1 << 17)]
        last = at + len(block) >= len(data)
        frame += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return frame


def block(data, codec="lz4"):
    """`RdbSerializer::CompressBlob`: 201 or 202, length, frame."""
    frame = lz4_frame(data, content_size=True) if codec == "lz4" else zstd_frame(data)
    return (b"\xca" if codec == "lz4" else b"\xc9") + length(len(frame)) + frame


def chunk(number, data):
    """`MemBufController::PushTagHeader`."""
    return b"\xe0" + struct.pack("<II", number, len(data)) + data


def number_text(number):
    """`SaveLongLongAsString`."""
    if -128 <= number < 128:
        return b"\xc0" + struct.pack("<b", number)
    if -32768 <= number < 32768:
        return b"\xc1" + struct.pack("<h", number)
    return b"\xc2" + struct.pack("<i", number)


def dragonfly_head(shard=None, summary=False, identity="1fa2b3c4d5e6f70819"):
    """`RdbSaver::SaveAux`."""
    head = b"REDIS0009" + (aux("snapshot-id", identity) if identity else b"")
    head += aux("redis-ver", "6.2.11") + aux("df-ver", "df-v1.34.2") + aux("redis-bits", "64") + aux("ctime", "1790000000")
    head += aux("used-mem", "9876543") + aux("aof-preamble", "0")
    if summary:
        head += aux("lua", "return 1") + aux("search-index", "idx ON HASH SCHEMA f TEXT")
        head += aux("shard-count", "2") + aux("table-mem", "65536")
    return head + (aux("shard-id", str(shard)) if shard is not None else b"")


def dragonfly_end(data):
    """`SaveEpilog`: no checksum, and what `AlignedBuffer::Flush` pads with."""
    data += b"\xff" + bytes(8)
    return data + b"\x5a" * (-len(data) % 4096)


def sketches():
    bloom = length(0) + f64(2.0) + f64(0.01) + length(0) + length(3) + length(1000)
    yield "bloom:old", "MBbloom--", record(33, "bloom:old", bloom + length(1) + length(7) + string(bytes(range(64))))
    chunks = length(64) + length(40) + bytes(40) + length(24) + bytes(24)
    yield "bloom", "MBbloom--", record(34, "bloom", bloom + length(1) + length(7) + chunks)
    yield "cms", "CMSk-TYPE", record(35, "cms", length(10) + length(5) + length(77) + struct.pack("<50q", *range(50)))
    top = length(0) + length(3) + length(8) + length(7) + f64(0.9) + length(2)
    top += string("item one") + length(12) + string("item two") + length(300) + length(224) + bytes(224)
    yield "top", "TopK-TYPE", record(36, "top", top)
    yield "cuckoo", "MBbloomCF", record(37, "cuckoo", b"\x02\x14\x01\x10\x05\x00\x01" + length(32) + length(32) + bytes(32))


def dragonfly():
    keys, shards, of_first = [], [], []
    day = 1790000000 - 1675209600
    for shard in range(2):
        def key(db, name, kind, size, expiry=None):
            keys.append([db, name, kind, size, expiry])
            return name

        # A block of small records, as LZ4 or as zstd.
        small = b"\xfe\x00"
        for number in range(400):
            name, value = f"user:{shard}:{number}", f"profile of user {number % 9}"
            small += record(0, key(0, name, "string", len(value)), string(value))
        small += b"\xfc" + i64(1900000000000) + b"\xdc" + struct.pack("<I", 1)
        small += record(0, key(0, f"sticky:{shard}", "string", 1, 1900000000000), string("x"))
        small += b"\xdc" + struct.pack("<II", 2, 99) + record(0, key(0, f"memcached:{shard}", "string", 2), string("mc"))
        body = block(small, "lz4" if shard == 0 else "zstd")
        # Blocks below 256 bytes and those that do not shrink stay as they are; the database is selected anew.
        body += b"\xfe\x03" + record(30, key(3, f"json:{shard}", "ReJSON-RL", 1), string('{"a":[1,2,{"b":null}]}'))
        expiring = length(2) + string("f") + string("v") + number_text(day) + string("g") + string("w") + number_text(-1)
        body += record(31, key(3, f"hash:{shard}", "hash", 2), expiring)
        body += record(32, key(3, f"set:{shard}", "set", 2), length(2) + string("m") + number_text(day) + string("n") + number_text(-1))
        body += record(16, key(3, f"small:{shard}", "hash", 1), string(listpack("f", "v")))
        body += record(18, key(3, f"list:{shard}", "list", 2), length(1) + length(2) + string(listpack("a", "b")))
        if shard == 0:
            for name, kind, made in sketches():
                key(3, name, kind, None)
                body += made
        # A long set and a long hash in chunks, other records between them, another database in force at their end.
        members = [f"member:{number:06}" for number in range(3000)]
        long_set = record(2, key(0, f"long-set:{shard}", "set", 3000), length(3000)) + b"".join(map(string, members))
        cut = len(long_set) - 2000 * len(string(members[0]))
        pairs = b"".join(string(f"field:{number:05}") + string(f"value:{number:05}") for number in range(600))
        long_hash = b"\xfc" + i64(1900000000001) + record(4, key(1, f"long-hash:{shard}", "hash", 600, 1900000000001), length(600))
        half = len(pairs) // 2
        first = b"\xfe\x00" + record(0, key(0, f"before:{shard}", "string", 1), string("1")) + chunk(7, long_set[:cut])
        body += block(first)
        body += block(b"\xfe\x01" + chunk(8, long_hash + pairs[:half]))
        body += block(b"\xfe\x02" + record(0, key(2, f"between:{shard}", "string", 1), string("2")) + chunk(7, long_set[cut:]))
        body += b"\xfe\x02" + record(0, key(2, f"raw:{shard}", "string", 1), string("3"))
        body += chunk(8, pairs[half:]) + record(0, key(2, f"after:{shard}", "string", 1), string("4"))
        body += b"\xdf" + length(shard) + string("idx") + length(1) + string("doc:1") + length(1)
        body += b"\xde" + string("idx:v") + length(0) + length(1) + struct.pack("<IQIII", 0, 5, 0, 1, 0)
        of_first = of_first or list(keys)
        shards.append(dragonfly_end(dragonfly_head(shard) + body))
        write(f"dragonfly/dump-000{shard}.dfs", shards[-1])
    write("dragonfly/dump-summary.dfs", dragonfly_end(dragonfly_head(summary=True)))
    expect("dragonfly", "dragonfly 1.34.2", keys)
    write("dragonfly-shard.dfs", shards[0])
    expect("dragonfly-shard.dfs", "dragonfly 1.34.2", of_first)
    write("dragonfly-shard.dfs.gz", gzip.compress(shards[0], mtime=0))
    expect("dragonfly-shard.dfs.gz", "dragonfly 1.34.2", of_first)
    # `SAVE RDB`: one file that Redis 6 loads, but for Dragonfly's own types; the first releases wrote JSON as type 20.
    single = dragonfly_head(identity="") + b"\xfe\x00" + record(0, "plain", string("value")) + record(20, "json:old", string("[1]"))
    write("dragonfly.rdb", single + b"\xff" + bytes(8))
    expect("dragonfly.rdb", "dragonfly 1.34.2", [[0, "plain", "string", 5, None], [0, "json:old", "ReJSON-RL", 1, None]])


def main():
    os.makedirs(HERE, exist_ok=True)
    enterprise()
    valkey()
    dragonfly()


if __name__ == "__main__":
    main()
