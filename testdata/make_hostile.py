#!/usr/bin/env python3
"""Creates hostile/: small files, each with one fault (or one oddity that is no fault), and what to expect of them.

    python3 testdata/make_hostile.py

Beside NAME.rdb stands NAME.json:

    {"verdict": "corrupt", "exit": 4, "keys": 2, "note": "…"}

`verdict` is the word that `rdblens check` has to print: ok, truncated, checksum, corrupt, unsupported, not-a-snapshot,
incomplete. Where the format leaves more than one reading, the accepted ones are divided by `|`, and `exit` is a list. `keys`
is the number of keys read, or null where it does not matter. Checksums are right unless the name says otherwise. Files
named valid-* are sound: no reader may refuse them.

Python's standard library only; the same run always makes the same bytes.
"""

import gzip
import json
import os
import struct

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile")

# --- The format, byte by byte -----------------------------------------------------------------------------------------


def crc64(data):
    """CRC-64 with Jones' polynomial, reflected, from 0; bit by bit, to be comparable with its definition."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
    return crc


assert crc64(b"123456789") == 0xE9C6D914C4B8D9CA


def length(n):
    if n < 64:
        return bytes([n])
    if n < 16384:
        return bytes([0x40 | n >> 8, n & 255])
    if n < 1 << 32:
        return b"\x80" + struct.pack(">I", n)
    return b"\x81" + struct.pack(">Q", n)


def string(data):
    data = data if isinstance(data, bytes) else str(data).encode()
    return length(len(data)) + data


def lzf(block, size):
    """Encodes a compressed string; block and size are not checked."""
    return b"\xc3" + length(len(block)) + length(size) + block


def i64(n):
    return struct.pack("<q", n)


def f64(x):
    return struct.pack("<d", x)


def record(kind, key, value):
    return bytes([kind]) + (key if isinstance(key, bytes) else string(key)) + value


def text(key, value="value"):
    return record(0, string(key), string(value))


def aux(name, value):
    return b"\xfa" + string(name) + string(value)


SELECT = b"\xfe\x00"
NOW = 1_790_000_000
LATER = i64((NOW + 3600) * 1000)


def dump(*body, magic=b"REDIS0010", end=True, checksum=None):
    """A file: header, `body`, end, checksum (right unless given)."""
    data = magic + b"".join(body)
    if not end:
        return data
    data += b"\xff"
    if magic[:5] == b"REDIS" and int(magic[5:]) < 5:
        return data
    return data + struct.pack("<Q", crc64(data) if checksum is None else checksum)


def listpack(*elements, total=None, count=None, end=b"\xff"):
    body = b"".join(element + backlen(len(element)) for element in map(lp, elements))
    total = 6 + len(body) + len(end) if total is None else total
    return struct.pack("<IH", total, len(elements) if count is None else count) + body + end


def lp(element):
    """An element of a listpack, without its backlen."""
    if isinstance(element, int):
        if 0 <= element < 128:
            return bytes([element])
        return b"\xf4" + i64(element)
    data = element if isinstance(element, bytes) else element.encode()
    if len(data) < 64:
        return bytes([0x80 | len(data)]) + data
    return struct.pack(">H", 0xE000 | len(data)) + data


def backlen(size):
    assert size < 16383
    return bytes([size]) if size < 128 else bytes([size >> 7, size & 127 | 128])


def ziplist(*elements, total=None, tail=None, count=None, prevlens=None):
    body, previous, last = b"", 0, 10
    for index, element in enumerate(elements):
        last = 10 + len(body)
        data = b"\xfe" + struct.pack("b", element) if isinstance(element, int) else bytes([len(element)]) + element.encode()
        entry = bytes([prevlens[index] if prevlens else previous]) + data
        body, previous = body + entry, len(entry)
    size = 11 + len(body) if total is None else total
    tail = last if tail is None else tail
    return struct.pack("<IIH", size, tail, len(elements) if count is None else count) + body + b"\xff"


def intset(*values, width=2, count=None):
    pack = {2: "<h", 4: "<i", 8: "<q"}.get(width, "<h")
    return struct.pack("<II", width, len(values) if count is None else count) + b"".join(struct.pack(pack, v) for v in values)


def zipmap(*pairs, count=None):
    body = b"".join(bytes([len(f)]) + f.encode() + bytes([len(v), 0]) + v.encode() for f, v in pairs)
    return bytes([len(pairs) if count is None else count]) + body + b"\xff"


def module_id(name, version):
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for character in name:
        number = number << 6 | alphabet.index(character)
    return b"\x81" + struct.pack(">Q", number << 10 | version)


def stream_id(ms, seq=0):
    return struct.pack(">QQ", ms, seq)


def stream_node(count=1):
    """A listpack of `count` live entries with one field."""
    entries = [part for n in range(count) for part in (2, n, 0, "v", 4)]
    return listpack(count, 0, 1, "f", 0, *entries)


def stream(layout=3, node_id=None, nodes=None, entries=1, groups=b"\x00", producers=None):
    """A stream with one node; `groups` and `producers` are given as bytes."""
    data = length(1) + string(stream_id(1) if node_id is None else node_id) + string(stream_node(entries)) if nodes is None else nodes
    data += length(entries) + length(1) + length(entries - 1)
    if layout >= 2:
        data += length(1) + length(0) + length(0) + length(0) + length(entries)
    data += groups
    if layout >= 4:
        data += (length(100) + length(100) + length(0) + length(0) + length(0)) if producers is None else producers
    return data


def group(layout=3, pending=1, claimed=None):
    """One consumer group with one consumer, who owns all pending entries."""
    data = length(1) + string("workers") + length(1) + length(0)
    if layout >= 2:
        data += b"\x81" + b"\xff" * 8  # entries read: not known
    data += length(pending if claimed is None else claimed)
    data += b"".join(stream_id(1 + n) + i64(NOW * 1000) + length(1) for n in range(pending))
    data += length(1) + string("alice") + i64(NOW * 1000) + (i64(-1) if layout >= 3 else b"")
    # From layout 5 on the first one was returned to the group, so that nobody owns it.
    returned = int(layout >= 5)
    data += length(pending - returned) + b"".join(stream_id(1 + n) for n in range(returned, pending))
    if returned:
        data += length(1) + stream_id(1)
    return data


FUNCTION = "#!lua name=lib\nredis.register_function('f', function() return 1 end)\n"
JSON_ID = module_id("ReJSON-RL", 3)
OTHER_ID = module_id("mytype-01", 0)
# `ab`, then copies of the last two bytes: each three bytes expand to 264.
RUN = b"\x01ab" + b"\xe0\xff\x01" * 300
RUN_SIZE = 2 + 264 * 300
BEFORE = SELECT + text("before")
AFTER = text("after")

CASES = {}


def case(name, data, verdict, status=None, keys=None, note=""):
    assert name not in CASES, name
    if status is None:
        status = {"ok": 0, "not-a-snapshot": 3}.get(verdict, 4)
    CASES[name] = (data, {"verdict": verdict, "exit": status, "keys": keys, "note": note})


# --- Sound, though odd ------------------------------------------------------------------------------------------------


def valid():
    def ok(name, data, keys, note):
        case("valid-" + name, data, "ok", 0, keys, note)

    ok("no-keys", dump(), 0, "a header and an end")
    ok("same-key-two-databases", dump(SELECT, text("k"), b"\xfe\x01", text("k")), 2, "one name in two databases")
    empty = [record(kind, "l%d" % kind, length(0)) for kind in (1, 2, 3, 4, 5, 14, 18)]
    empty += [record(kind, "p%d" % kind, string(listpack())) for kind in (16, 17)]
    empty += [record(kind, "z%d" % kind, string(ziplist())) for kind in (10, 12, 13)]
    empty += [record(18, "n18", length(1) + length(2) + string(listpack())), record(14, "n14", length(1) + string(ziplist()))]
    ok("empty-packed-collections", dump(BEFORE, *empty, AFTER), 2, "collections without elements, which servers skip")
    node = length(1) + string(stream_id(1)) + string(listpack("1", 0, 1, "f", 0, 2, 0, 0, "v", 4, count=99))
    ok("stream-odd-counts", dump(SELECT, record(21, "s", stream(nodes=node, entries=120)), magic=b"REDIS0011"), 1, "a stream of another length than its node has, its count as text, under another count")
    ok("zset-score-rest", dump(SELECT, record(3, "z", length(1) + string("m") + string("1.5x")), record(17, "y", string(listpack("m", "abc")))), 2, "scores that are numbers in part, or not at all")
    ok("version-1", dump(SELECT, text("k"), record(1, "l", length(2) + string("a") + string("b")), magic=b"REDIS0001"), 2, "no checksum before version 5")
    ok("version-2-packed", dump(SELECT, record(9, "h", string(zipmap(("f", "v")))), record(10, "l", string(ziplist("a", 1))), record(11, "s", string(intset(1, 2))), magic=b"REDIS0002"), 3, "the packed encodings of Redis 2.4")
    ok("version-4-no-checksum", dump(SELECT, b"\xfc" + LATER, record(13, "h", string(ziplist("f", "v"))), magic=b"REDIS0004"), 1, "the last version without a checksum")
    ok(
        "historic-types-v6",
        dump(
            SELECT,
            record(1, "list", length(3) + string("a") + b"\xc0\x05" + string("c")),
            record(2, "set", length(2) + string("a") + string("b")),
            record(3, "zset", length(5) + string("a") + b"\x031.5" + string("n") + b"\x02-7" + string("i") + b"\xfe" + string("j") + b"\xff" + string("e") + b"\x051e+20"),
            record(4, "hash", length(1) + string("f") + string("v")),
            record(9, "zipmap", string(zipmap(("a", "1"), ("bb", "22")))),
            record(10, "ziplist", string(ziplist("a", -3, "ccc"))),
            record(11, "intset", string(intset(-1, 70000, width=4))),
            record(12, "small zset", string(ziplist("m", 1, "n", 2))),
            record(13, "small hash", string(ziplist("f", "v", "g", 2))),
            magic=b"REDIS0006",
        ),
        9,
        "every type of Redis 2.6, of which later servers write few",
    )
    ok("checksum-zero", dump(BEFORE, checksum=0), 1, "all zero: the writer did not compute it (rdbchecksum no)")
    ok("key-lzf", dump(SELECT, record(0, lzf(b"\x01ab" + b"\xe0\x15\x01", 32), string("v"))), 1, "a compressed key")
    ok("key-integer", dump(SELECT, record(0, b"\xc0\x7b", string("v")), record(0, b"\xc1\xd4\xfe", string("v")), record(0, b"\xc2\xa0\x86\x01\x00", string("v"))), 3, "keys 123, -300 and 100000 in integer form")
    ok("key-empty", dump(SELECT, text("")), 1, "the empty key is a key")
    ok("string-forms", dump(SELECT, record(0, "i8", b"\xc0\x7b"), record(0, "i16", b"\xc1\xd4\xfe"), record(0, "i32", b"\xc2\xa0\x86\x01\x00"), record(0, "lzf", lzf(b"\x00a\xe0\x5a\x00", 100)), record(0, "wide", b"\x80\x00\x00\x00\x01x"), record(0, "wider", b"\x81\x00\x00\x00\x00\x00\x00\x00\x01x")), 6, "every way to write a string; lengths may be longer than needed")
    ok("lzf-ratio-just-legal", dump(SELECT, record(0, "k", lzf(RUN, RUN_SIZE)), AFTER), 2, f"{len(RUN)} bytes make {RUN_SIZE}: close to the most LZF can")
    ok("list-plain-node-integer", dump(SELECT, record(18, "l", length(1) + length(1) + b"\xc0\x05")), 1, "a plain list node in integer form")
    ok("listpack-count-unknown", dump(SELECT, record(20, "s", string(listpack("a", "b", count=0xFFFF))), magic=b"REDIS0011"), 1, "65535 means: count by walking")
    ok("field-expiry-redis", dump(SELECT, record(24, "h", i64(NOW * 1000) + length(2) + length(1) + string("f") + string("v") + length(0) + string("g") + string("w")), record(25, "p", i64(NOW * 1000) + string(listpack("f", "v", NOW * 1000, "g", "w", 0))), magic=b"REDIS0012"), 2, "types 24 and 25 of Redis 7.4")
    ok("field-expiry-redis-rc", dump(SELECT, record(22, "h", length(2) + length(NOW * 1000) + string("f") + string("v") + length(0) + string("g") + string("w")), record(23, "p", string(listpack("f", "v", NOW * 1000))), magic=b"REDIS0012"), 2, "types 22 and 23 of a release candidate of 7.4")
    ok("field-expiry-valkey", dump(SELECT, record(22, "h", length(2) + string("f") + string("v") + i64(NOW * 1000) + string("g") + string("w") + i64(-1)), magic=b"VALKEY080"), 1, "type 22 means something else in Valkey")
    for layout, kind, version in ((1, 15, 9), (2, 19, 10), (3, 21, 11), (4, 26, 13), (5, 27, 14)):
        ok(f"stream-{layout}", dump(SELECT, record(kind, "s", stream(layout, entries=3, groups=group(layout, 2))), AFTER, magic=b"REDIS%04d" % version), 2, "a stream with a group, two pending entries and a consumer")
    ok("stream-producers", dump(SELECT, record(26, "s", stream(4, producers=length(100) + length(100) + length(1) + string("p") + length(2) + string("a") + length(1) + length(0) + string("b") + length(1) + length(1) + length(2) + length(1))), magic=b"REDIS0013"), 1, "idempotency ids of Redis 8.6")
    ok("array", dump(SELECT, record(28, "a", length(4) + length(1) + length(9) + length(0) + length(0) + string("text") + length(1) + length(1) + i64(-5) + length(7) + length(2) + f64(1.5) + length(8) + length(3) + string("short")), AFTER, magic=b"REDIS0014"), 2, "the array of the 8.8 line")
    ok("module", dump(SELECT, record(7, "m", OTHER_ID + b"\x02\x05\x01\x81" + b"\xff" * 8 + b"\x03\x00\x00\x80\x3f\x04" + f64(1.0) + b"\x05" + string("{}") + b"\x00"), AFTER), 2, "every mark of the module stream")
    ok("module-aux", dump(b"\xf7" + JSON_ID + b"\x02\x02" + b"\x05" + string("state") + b"\x00", BEFORE), 1, "what a module keeps outside of keys")
    ok("functions", dump(b"\xf5" + string(FUNCTION), BEFORE, magic=b"REDIS0010"), 1, "a function library")
    ok("function-pre-ga", dump(b"\xf6" + string("lib") + string("LUA") + b"\x01" + string("about") + string("return 1"), BEFORE, magic=b"REDIS0010"), 1, "a function of a release candidate of 7.0")
    ok("key-meta", dump(SELECT, b"\xf3\x01\x04\x00\x00\x00\x02\x07\x00", text("k"), AFTER, magic=b"REDIS0013"), 2, "metadata in front of a key (Redis 8.6)")
    ok("slot-info", dump(SELECT, b"\xf4" + length(12182) + length(1) + length(0), text("foo"), magic=b"REDIS0012"), 1, "slot sizes of a cluster")
    ok("slot-import-valkey", dump(b"\xf3" + string("j" * 40) + length(2) + length(0) + length(99) + length(200) + length(300), BEFORE, magic=b"VALKEY080"), 1, "byte 243 means something else in Valkey")
    ok("keydb-cron", dump(SELECT, record(64, "c", string("return 1") + i64(0) + i64(1000) + length(1) + string("k") + length(2) + string("a") + string("b")), AFTER, magic=b"REDIS0009"), 2, "a cron job of KeyDB")
    ok("keydb-aux-between-prefix-and-key", dump(SELECT, b"\xfc" + LATER, aux("mvcc-tstamp", 1768000000000), text("k"), magic=b"REDIS0009"), 1, "the expiry still binds to the key")
    ok("prefixes", dump(SELECT, b"\xfc" + LATER + b"\xf8" + length(70000), text("a"), b"\xfd" + struct.pack("<i", NOW) + b"\xf9\xff", text("b")), 2, "expiry, idle time, access counter")
    ok("expiry-negative", dump(SELECT, b"\xfc" + i64(-1), text("a"), b"\xfd" + struct.pack("<i", -(2**31)), text("b"), b"\xfc" + i64(-(2**63)), text("c"), b"\xfc" + i64(2**63 - 1), text("d")), 4, "expiries before the epoch and beyond all time")
    ok("many-selectdb", dump(*([b"\xfe" + length(n) for n in range(1500)] + [text("k")])), 1, "1500 switches of database, one key")
    ok("database-number-huge", dump(b"\xfe" + length(1 << 40), text("k")), 1, "a server would refuse it, a reader need not")
    ok("resizedb-lying", dump(SELECT, b"\xfb" + length(1 << 60) + length(1 << 60), text("k")), 1, "the sizes are a hint; nothing may be reserved for them")
    ok("same-value-two-keys", dump(SELECT, text("k", "1"), text("l", "1"), AFTER), 3, "two keys of one value")
    ok("empty-collections", dump(SELECT, *(record(kind, f"empty:{kind}", length(0)) for kind in (1, 2, 3, 4, 5, 14, 18)), AFTER), 1, "servers skip such keys with a warning")
    ok("empty-stream", dump(SELECT, record(21, "s", length(0) + length(0) + length(0) * 2 + length(0) * 5 + length(0)), magic=b"REDIS0011"), 1, "a stream may be empty")
    ok("later-version-known-types", dump(BEFORE, AFTER, magic=b"REDIS0015"), 2, "a version from the future that holds only what is known")
    ok("aux-bytes", dump(aux("redis-ver", "7.0.15"), aux("ctime", NOW), aux(b"\xff\x00\x1b[31m", b"\xfe\x1b]0;x\x07"), BEFORE), 1, "auxiliary fields with terminal escapes in them")
    ok("key-of-escapes", dump(SELECT, text(b"\x1b[2J\x1b]0;owned\x07\r\n=cmd|' /C calc'!A0\xff")), 1, "a name meant for the terminal and the spreadsheet")
    ok("junk-behind-checksum", dump(BEFORE) + b"\n\n", 1, "what follows the checksum belongs to the container")


# --- Cut short --------------------------------------------------------------------------------------------------------


def truncated():
    def cut(name, data, keys, note, verdict="truncated", status=4):
        case("truncated-" + name, data, verdict, status, keys, note)

    whole = dump(aux("redis-ver", "7.2.6"), BEFORE, AFTER)
    cut("at-0", b"", None, "an empty file", "not-a-snapshot|truncated", [3, 4])
    cut("in-magic", b"REDIS", None, "the first five bytes", "not-a-snapshot|truncated", [3, 4])
    cut("after-header", whole[:9], 0, "the header alone")
    cut("in-aux", whole[:14], 0, "in the name of an auxiliary field")
    cut("in-checksum", whole[:-3], 2, "five of the checksum's eight bytes")
    cut("no-checksum", whole[:-8], 2, "nothing behind the last opcode")
    cut("before-end", whole[:-9], 2, "all records, no end")
    cut("in-expiry", dump(BEFORE, b"\xfc\x00\x38\xd3", end=False), 1, "three of eight bytes")
    cut("after-expiry", dump(BEFORE, b"\xfc" + LATER, end=False), 1, "an expiry and no key")
    cut("in-key", dump(BEFORE, b"\x00\x05ab", end=False), 1, "two of a key's five bytes")
    cut("after-type", dump(BEFORE, b"\x00", end=False), 1, "a type byte and nothing else")
    cut("in-length", dump(BEFORE, b"\x00\x01k\x80\x00\x00", end=False), 1, "two of a length's four bytes")
    cut("in-string", dump(BEFORE, b"\x00\x01k\x05ab", end=False), 1, "two of a value's five bytes")
    cut("in-lzf", dump(BEFORE, b"\x00\x01k\xc3\x09\x40\x64\x01aa", end=False), 1, "three of a block's nine bytes")
    cut("in-integer", dump(BEFORE, b"\x00\x01k\xc2\x01\x02", end=False), 1, "two of four bytes")
    cut("in-list", dump(BEFORE, record(1, "l", length(3) + string("a") + string("b")), end=False), 1, "two of three elements")
    cut("in-hash", dump(BEFORE, record(4, "h", length(1) + string("f")), end=False), 1, "a field without its value")
    cut("in-score", dump(BEFORE, record(5, "z", length(1) + string("m") + b"\x00\x00\x00"), end=False), 1, "three of eight bytes")
    cut("in-listpack", dump(BEFORE, record(16, "h", string(listpack("f", "v"))[:-4]), end=False), 1, "a listpack without its end")
    cut("in-quicklist", dump(BEFORE, record(18, "l", length(2) + length(2) + string(listpack("a"))), end=False), 1, "one of two nodes")
    cut("in-stream", dump(BEFORE, record(21, "s", stream(groups=group())[:-9]), end=False), 1, "in a consumer's pending entries")
    cut("in-module", dump(BEFORE, record(7, "m", JSON_ID + b"\x05\x0aabc"), end=False), 1, "in a module's string")
    cut("module-without-end", dump(BEFORE, record(7, "m", JSON_ID + b"\x02\x01" * 40), end=False), 1, "a module's stream that never stops")
    cut("gzip", gzip.compress(dump(BEFORE, *(text(f"key:{n}", str(n * n)) for n in range(200))), mtime=0)[:600], None, "half of a gzip file", "truncated|incomplete|corrupt")


# --- Lies about sizes -------------------------------------------------------------------------------------------------


def lying():
    billion = length(1_000_000_000)

    def lie(name, value, note, verdict="truncated|corrupt", magic=b"REDIS0010"):
        case("lying-" + name, dump(BEFORE, value, magic=magic), verdict, 4, 1, note)

    lie("string-2-63", b"\x00\x01k\x81\x80" + b"\x00" * 7, "a string of 2^63 bytes")
    lie("string-2-64-1", b"\x00\x01k\x81" + b"\xff" * 8, "2^64-1 is the servers' mark for an error")
    lie("string-4-gib", b"\x00\x01k\x80\xff\xff\xff\xff", "a string of 4 GiB")
    lie("key-2-63", b"\x00\x81\x80" + b"\x00" * 7, "a key of 2^63 bytes")
    for kind, noun in ((1, "list"), (2, "set"), (3, "zset-text"), (4, "hash"), (5, "zset"), (14, "quicklist"), (18, "quicklist-2")):
        lie(f"{noun}-billion", record(kind, "k", billion), "a billion elements in ten bytes")
        lie(f"{noun}-2-62", record(kind, "k", length(1 << 62)), "2^62 elements: products of it overflow")
    lie("hash-expiries-billion", record(24, "k", i64(0) + billion), "a billion fields", magic=b"REDIS0012")
    lie("hash-expiries-valkey-billion", record(22, "k", billion), "a billion fields", magic=b"VALKEY080")
    lie("array-2-62", record(28, "k", length(1 << 62) + length(0)), "2^62 slots", magic=b"REDIS0014")
    lie("stream-nodes-billion", record(21, "k", billion), "a billion nodes")
    lie("stream-groups-billion", record(21, "k", stream(groups=billion)), "a billion groups")
    lie("stream-pending-billion", record(21, "k", stream(groups=group(claimed=1_000_000_000))), "a billion pending entries")
    lie("slot-import-billion", b"\xf3" + string("j" * 40) + billion, "a billion slot ranges", magic=b"VALKEY080")
    lie("update-billion", b"\xf2*1000000000\r\n$1\r\nx\r\n", "a command of a billion words", magic=b"VALKEY080")
    lie("update-word-2-63", b"\xf2*1\r\n$9223372036854775808\r\nx\r\n", "a word of 2^63 bytes", magic=b"VALKEY080")
    lie("cron-billion", record(64, "k", string("s") + i64(0) + i64(0) + billion), "a billion keys", magic=b"REDIS0009")
    lie("key-meta-classes", b"\xf3" + billion, "a billion classes; 7 is the most", magic=b"REDIS0013")


# --- Damaged compression ----------------------------------------------------------------------------------------------


def compressed():
    gib = 1 << 30

    def bad(name, value, note, verdict="corrupt", status=4, keys=None):
        case("lzf-" + name, dump(BEFORE, value, AFTER), verdict, status, keys, note)

    bad("bomb-string", record(0, "k", lzf(b"\x00a\xe0\xff\x00\xe0\xff\x00\x00b", gib)), "1 GiB of 10 bytes: no block of LZF expands so far")
    bad("bomb-key", record(0, lzf(b"\x00a\xe0\xff\x00\xe0\xff\x00\x00b", gib), string("v")), "a key of 1 GiB of 10 bytes")
    bad("bomb-listpack", record(16, "k", lzf(b"\x00a\xe0\xff\x00\xe0\xff\x00\x00b", gib)), "a listpack of 1 GiB of 10 bytes")
    elements = b"\x81a\x02" + b"\xe0\xff\x02" * 20_000
    packed_size = 6 + 3 + 264 * 20_000 + 1
    packed = lzf(b"\x05" + struct.pack("<IH", packed_size, 0xFFFF) + b"\x02" + elements + b"\x00\xff", packed_size)
    bad("bomb-set", record(20, "k", packed), "a set of 1.7 million times the same member in 60 KB")
    note = "a list node of 5 MB in 60 KB: small memory limits do not look into it"
    case("valid-lzf-large-node", dump(BEFORE, record(18, "k", length(1) + length(2) + packed), AFTER), "ok", 0, 3, note)
    bad("bomb-2-63", record(0, "k", lzf(b"\x00a", 1 << 63)), "2^63 bytes of 2")
    bad("size-zero", record(0, "k", lzf(b"\x00a", 0)), "a block that makes nothing; servers read it as an empty string", "ok|corrupt", [0, 4])
    bad("block-empty", record(0, "k", lzf(b"", 100)), "100 bytes of nothing")
    bad("key-distance", record(0, lzf(b"\x00a\x20\x09" + b"\x00" * 4, 10), string("v")), "a key's block copies from before its beginning")
    bad("key-short", record(0, lzf(b"\x01ab\xe0\x15\x01", 33), string("v")), "a key's block makes less than announced", keys=None)
    bad("key-long", record(0, lzf(b"\x01ab\xe0\x15\x01", 31), string("v")), "a key's block makes more than announced")
    bad("string-distance", record(0, "k", lzf(b"\x00a\x20\x09" + b"\x00" * 4, 10)), "in a plain string, which need not be decompressed", "ok|corrupt", [0, 4])
    bad("listpack-distance", record(16, "k", lzf(b"\x00\x0d\x20\x09" + b"\x00" * 4, 13)), "a listpack whose first bytes cannot be had", "corrupt|incomplete")
    bad("ziplist-literal-beyond", record(13, "k", lzf(b"\x1f\x00\x00", 11)), "32 literal bytes announced, two there", "corrupt|incomplete")


# --- Damaged blobs ----------------------------------------------------------------------------------------------------


def blobs():
    def bad(name, kind, blob, note, deep=False, magic=b"REDIS0010"):
        # Faults that only a walk over all elements finds: the key may be damaged or pass, as in servers by default.
        verdict, status = ("corrupt|incomplete|ok", [0, 4]) if deep else ("corrupt|incomplete", 4)
        case(name, dump(BEFORE, record(kind, "k", string(blob)), AFTER, magic=magic), verdict, status, None, note)

    bad("listpack-total-lying", 16, listpack("f", "v", total=4000), "says 4000 bytes")
    bad("listpack-total-small", 16, listpack("f", "v", total=7), "says 7 bytes")
    bad("listpack-count-high", 16, listpack("f", "v", count=60000), "says 60000 elements", deep=True)
    bad("listpack-count-low", 20, listpack("f", "v", "w", count=1), "says one element", deep=True)
    bad("listpack-odd-pairs", 16, listpack("f", "v", "g"), "a field without its value")
    bad("listpack-no-end", 16, listpack("f", "v", end=b"\x00"), "no end mark")
    bad("listpack-five-bytes", 16, b"\x05\x00\x00\x00\x00", "shorter than a header")
    bad("listpack-empty-blob", 16, b"", "no bytes at all")
    bad("listpack-backlen", 16, b"\x0d\x00\x00\x00\x02\x00\x81f\x07\x81v\x02\xff", "an element whose way back is wrong", deep=True)
    bad("listpack-element-beyond", 16, b"\x0d\x00\x00\x00\x02\x00\x81f\x02\xbfv\x02\xff", "an element longer than the blob", deep=True)
    bad("listpack-bad-encoding", 16, b"\x0d\x00\x00\x00\x02\x00\xf7f\x02\x81v\x02\xff", "encoding 0xf7", deep=True)
    bad("listpack-unknown-count-beyond", 20, b"\x0d\x00\x00\x00\xff\xff\x81f\x02\xbfv\x02\xff", "to be counted by walking, and broken there")
    bad("listpack-triples", 25, b"", "no bytes at all behind the earliest expiry", magic=b"REDIS0012")
    bad("ziplist-total-lying", 13, ziplist("f", "v", total=1 << 30), "says 1 GiB")
    bad("ziplist-tail-beyond", 13, ziplist("f", "v", tail=4000), "its tail is behind its end")
    bad("ziplist-tail-lying", 13, ziplist("f", "v", tail=10), "its tail is not the last entry", deep=True)
    bad("ziplist-prevlen", 13, ziplist("f", "v", prevlens=[0, 99]), "an entry whose way back is wrong", deep=True)
    bad("ziplist-count", 10, ziplist("f", "v", count=9), "says nine entries", deep=True)
    bad("ziplist-short", 10, b"\x0a\x00\x00\x00", "shorter than a header")
    bad("ziplist-odd-pairs", 12, ziplist("m"), "a member without its score")
    bad("intset-count-lying", 11, intset(1, 2, count=1 << 30), "says a billion numbers")
    bad("intset-count-low", 11, intset(1, 2, count=1), "says one number")
    bad("intset-width-3", 11, intset(1, 2, width=3), "numbers of three bytes")
    bad("intset-count-overflow", 11, intset(1, 2, width=8, count=(1 << 29) + 2)[:24], "8 + 8 * count wraps in 32 bits")
    bad("intset-unsorted", 11, intset(5, 1), "numbers out of order", deep=True)
    bad("intset-empty", 11, intset(), "no numbers", deep=True)
    bad("zipmap-length-beyond", 9, b"\x01\x7ff\x01\x00v\xff", "a field longer than the blob")
    bad("zipmap-wide-length", 9, b"\x01\xfe\xff\xff\xff\xfff\x01\x00v\xff", "a field of 4 GiB")
    bad("zipmap-no-end", 9, b"\x01\x01f\x01\x00v", "no end mark")
    bad("zipmap-count", 9, zipmap(("f", "v"), count=7), "says seven pairs", deep=True)
    bad("zipmap-empty-blob", 9, b"", "no bytes at all")

    # Servers refuse these if they sanitize what they load, and without that those of hash tables.
    def refused(name, kind, value, note, magic=b"REDIS0010"):
        case(name, dump(BEFORE, record(kind, "k", value), AFTER, magic=magic), "corrupt", 4, None, note)

    swallowing = b"\x86\x00\x00\x00\x01\x00\xe0\x7d" + b"s" * 125 + b"\xff"
    refused("listpack-swallows-end", 20, string(swallowing), "its end mark is the backlen of the last element", b"REDIS0011")
    refused("listpack-backlen-bit-7", 16, string(b"\x0d\x00\x00\x00\x02\x00\x81f\x82\x81v\x02\xff"), "a backlen that goes on in the element")
    refused("ziplist-tail-first", 13, string(ziplist("f", "v", tail=10)), "its tail is the first entry")
    refused("ziplist-swallows-end", 10, string(b"\x0d\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01\xff"), "its end mark is the last byte of an entry")
    refused("hash-field-twice", 4, length(2) + string("f") + string("a") + string("f") + string("b"), "one field twice")
    refused("hash-listpack-field-twice", 16, string(listpack("f", "v", "f", "w")), "one field twice, packed")
    refused("set-member-twice", 2, length(3) + string("1") + b"\xc0\x02" + b"\xc0\x01", "a member as text and as number")
    refused("set-listpack-member-twice", 20, string(listpack("a", "b", "a")), "one member twice, packed", b"REDIS0011")
    refused("zset-member-twice", 5, length(2) + string("m") + f64(1) + string("m") + f64(2), "one member twice")
    refused("zset-ziplist-member-twice", 12, string(ziplist("m", 1, "m", 2)), "one member twice, packed")
    refused("zipmap-field-twice", 9, string(zipmap(("f", "v"), ("f", "w"))), "one field twice, in the oldest packed form")
    refused("zset-score-text", 3, length(1) + string("m") + string("abc"), "a score that is a word")
    refused("zset-score-empty", 3, length(1) + string("m") + string(""), "a score of no characters")
    refused("hash-expiries-unordered", 25, i64(5) + string(listpack("f", "v", 9, "g", "w", 5)), "field expiries out of order", b"REDIS0012")
    refused("hash-expiry-text", 25, i64(5) + string(listpack("f", "v", "soon")), "a field expiry that is a word", b"REDIS0012")
    refused("hash-expiry-late", 24, i64(1 << 50) + length(1) + length(1) + string("f") + string("v"), "a field expiry beyond what servers have", b"REDIS0012")
    node = lambda *elements: stream(nodes=length(1) + string(stream_id(1)) + string(listpack(*elements)))
    refused("stream-entry-count", 21, node(2, 0, 1, "f", 0, 2, 0, 0, "v", 4), "a node of one entry says two", b"REDIS0011")
    refused("stream-entry-short", 21, node(1, 0, 1, "f", 0, 2, 0, 0, "v", 5), "an entry of four elements says five", b"REDIS0011")
    refused("stream-master-end", 21, node(1, 0, 1, "f", 1, 2, 0, 0, "v", 4), "no 0 behind the field names", b"REDIS0011")
    refused("stream-flags-text", 21, node(1, 0, 1, "f", 0, "x", 0, 0, "v", 4), "flags that are a word", b"REDIS0011")
    twice = length(2) + (string(stream_id(1)) + string(stream_node())) * 2
    refused("stream-node-twice", 21, stream(nodes=twice, entries=2), "two nodes of one id", b"REDIS0011")
    refused("stream-length-no-nodes", 21, stream(nodes=length(0)), "a length, but no nodes", b"REDIS0011")
    refused("stream-group-twice", 21, stream(groups=length(2) + group()[1:] * 2), "two groups of one name", b"REDIS0011")
    owner = group().rsplit(stream_id(1), 1)[0]
    refused("stream-pending-stranger", 21, stream(groups=owner + stream_id(9)), "a consumer has what its group does not", b"REDIS0011")
    refused("stream-pending-ownerless", 21, stream(groups=owner[:-1] + length(0)), "a group has what no consumer does", b"REDIS0011")
    newer = b"REDIS0014"
    refused("stream-idempotency-forever", 26, stream(layout=4, producers=length(0) + length(100) + length(0) * 3), "ids are kept for no time", newer)
    refused("stream-added-few", 27, stream(layout=5, entries=2).replace(length(0) + length(2) + b"\x00" + length(100), length(0) + length(1) + b"\x00" + length(100)), "two entries, of which one was added", newer)
    case("template-unsorted", dump(b"\xf2" + length(0) + length(2) + string("b") + string("a"), BEFORE, magic=b"REDIS0015"), "corrupt", 4, None, "field names of a template out of order")
    case("duplicate-keys", dump(SELECT, text("k", "1"), text("k", "2"), AFTER), "corrupt", 4, 3, "servers panic; to a reader these are two records")
    node = length(1) + length(7) + string(listpack("a"))
    case("quicklist-container-7", dump(BEFORE, record(18, "k", node)), "corrupt", 4, 1, "a node that is neither plain nor packed")
    node = length(1) + length(2) + string(b"")
    case("quicklist-empty-blob", dump(BEFORE, record(18, "k", node), AFTER), "corrupt|incomplete", 4, None, "a packed node of no bytes")


# --- Damaged records --------------------------------------------------------------------------------------------------


def records():
    def bad(name, body, verdict, note, magic=b"REDIS0010", status=4, keys=1):
        case(name, dump(BEFORE, body, AFTER, magic=magic), verdict, status, keys, note)

    case("checksum-wrong", dump(BEFORE, AFTER, checksum=0x0123456789ABCDEF), "checksum", 4, 2, "all is sound but the last eight bytes")
    flipped = bytearray(dump(BEFORE, AFTER))
    flipped[flipped.index(b"value")] ^= 1
    case("checksum-flipped-bit", bytes(flipped), "checksum", 4, 2, "one bit of a value: only the checksum can tell")
    bad("type-8", record(8, "k", string("v")), "corrupt", "a type byte that was never in use")
    bad("type-29", record(29, "k", length(5)), "unsupported", "a compact hash before there were any", magic=b"REDIS0014")
    small = lambda text: length(1) + length(0) + length(0) + length(3) + string(text)  # noqa: E731
    case("array-small-string-long", dump(SELECT, record(28, "a", small("12345678x")), AFTER, magic=b"REDIS0014"), "corrupt", 4, 2, "a small string of nine bytes: servers write at most seven")
    bad("array-empty", record(28, "a", length(0) + length(0)), "corrupt", "an array without items, which servers refuse", magic=b"REDIS0014")
    bad("array-flag-2", record(28, "a", length(1) + length(2) + length(1) + length(0) + length(3) + string("x")), "corrupt", "a flag that is neither 0 nor 1", magic=b"REDIS0014")
    bad("array-insert-index", record(28, "a", length(1) + length(1) + b"\x81" + b"\xff" * 8 + length(0) + length(3) + string("x")), "corrupt", "an insert index that is the servers' mark for an error", magic=b"REDIS0014")
    case("type-20-version-10", dump(SELECT, record(20, "s", string(listpack("a", "b"))), AFTER, magic=b"REDIS0010"), "corrupt", 4, 2, "a packed set before there were any")
    case("opcode-244-version-11", dump(SELECT, b"\xf4" + length(1) + length(1) + length(0), AFTER, magic=b"REDIS0011"), "corrupt", 4, 1, "a cluster slot before there were any")
    case("opcode-243-version-12", dump(SELECT, b"\xf3\x00" + record(0, "k", string("v")), AFTER, magic=b"REDIS0012"), "corrupt", 4, 2, "data of modules before a key, before there was any")
    bad("type-33-version-16", record(33, "k", string("v")), "unsupported", "a type from the future", magic=b"REDIS0016")
    new = b"REDIS0015"
    names = length(2) + string("id") + string("name")
    compact = b"\xf2" + length(0) + names
    case("template-undefined", dump(compact, BEFORE, record(30, "k", string(listpack(7, 1, 2))), AFTER, magic=new), "corrupt", 4, 3, "a compact hash of a template that is not there, in one listpack")
    bad("template-undefined-array", record(32, "k", length(7) + string("1") + string("2")), "corrupt", "the same value by value: its end cannot be found", magic=new)
    case("template-few-values", dump(compact, BEFORE, record(30, "k", string(listpack(0, 1))), AFTER, magic=new), "corrupt", 4, 3, "one value for two fields")
    case("template-many-values", dump(compact, BEFORE, record(30, "k", string(listpack(0, 1, 2, 3))), AFTER, magic=new), "corrupt", 4, 3, "three values for two fields")
    case("template-text-id", dump(compact, BEFORE, record(30, "k", string(listpack("a", 1, 2))), AFTER, magic=new), "corrupt", 4, 3, "a text where the number of the template belongs")
    case("template-twice", dump(compact, b"\xf2" + length(0) + length(1) + string("x"), BEFORE, magic=new), "corrupt", 4, None, "two templates of one number")
    case("template-empty", dump(b"\xf2" + length(0) + length(0), BEFORE, magic=new), "corrupt", 4, None, "a template without fields")
    case("template-lie", dump(b"\xf2" + length(0) + b"\x81" + b"\xff" * 7 + b"\xf0" + string("x"), BEFORE, magic=new), "truncated|corrupt", 4, None, "a template of nearly 2^64 fields")
    case("valid-templates", dump(compact, b"\xf2" + length(300) + length(1) + string("body"), BEFORE, record(30, "a", string(listpack(0, 1, "x"))), record(32, "b", length(0) + string("2") + string("y")), record(32, "c", length(300) + string("z")), record(29, "d", length(1) + names + string(listpack(0, 3, "x"))), record(29, "e", length(0) + string(listpack("id", "name")) + string(listpack(0, 4, "x"))), record(31, "f", length(1) + names + string("5") + string("x")), record(31, "g", length(0) + string(listpack("id", "name")) + string("6") + string("x")), AFTER, magic=new), "ok", 0, 9, "compact hashes in every layout")
    case("valid-template-late", dump(BEFORE, compact, record(30, "k", string(listpack(0, 1, 2))), AFTER, magic=new), "ok", 0, 3, "a template behind a key, which servers do not write and read all the same")
    bad("type-30-version-9", record(30, "k", string("v")), "unsupported", "Dragonfly's, in a file that claims version 9", magic=b"REDIS0009")
    bad("type-99", record(99, "k", string("v")), "unsupported|corrupt", "a type that nobody has")
    bad("type-23-valkey", record(23, "k", string("v")), "unsupported", "Valkey's next, whose payload is not known", magic=b"VALKEY080")
    bad("type-24-valkey", record(24, "k", i64(0) + length(0)), "unsupported", "Redis' hash with expiries, in a file of Valkey", magic=b"VALKEY080")
    bad("type-6-module-pre-ga", record(6, "k", JSON_ID + b"\x01\x02"), "unsupported", "undelimited data of a release candidate of 4.0", magic=b"REDIS0008")
    bad("opcode-240", b"\xf0", "unsupported|corrupt", "an opcode that nobody has")
    bad("opcode-242-redis", b"\xf2*1\r\n$4\r\nPING\r\n", "unsupported|corrupt", "Valkey's inlined command, in a file of Redis")
    bad("opcode-200-dragonfly", b"\xc8" + b"\x00" * 8, "unsupported", "Dragonfly's end of full sync", magic=b"REDIS0009")
    bad("opcode-220-dragonfly", b"\xdc\x01\x00\x00\x00", "unsupported", "Dragonfly's flags of a key", magic=b"REDIS0009")
    bad("length-0x82", b"\x00\x01k\x82\x00\x00\x00\x01v", "corrupt", "a length encoding that does not exist")
    bad("length-is-string-form", b"\x01\x01k\xc0\x05", "corrupt", "a number of elements in string form")
    bad("string-form-0xc4", b"\x00\x01k\xc4\x00", "corrupt", "a string form that does not exist")
    bad("module-mark-9", record(7, "m", JSON_ID + b"\x09\x00"), "corrupt", "a mark that does not exist")
    case("module-json-items", dump(SELECT, record(7, "m", JSON_ID + b"\x05" + string("{}") + b"\x02\x05\x00"), AFTER), "corrupt", 4, 2, "a number behind the text of a JSON document")
    bad("module-aux-mark", b"\xf7" + JSON_ID + b"\x05\x02\x00", "corrupt", "the moment has to be an unsigned number")
    bad("stream-id-15", record(21, "k", stream(node_id=stream_id(1)[:15])), "corrupt", "a node's id of 15 bytes", keys=None)
    bad("stream-id-integer", record(21, "k", stream(nodes=length(1) + b"\xc0\x05" + string(stream_node()))), "corrupt", "a node's id in integer form", keys=None)
    bad("stream-node-lying", record(21, "k", stream(nodes=length(1) + string(stream_id(1)) + string(listpack(1, 0, total=99)))), "corrupt|incomplete", "a node's listpack lies about its size", keys=None)
    bad("update-no-number", b"\xf2*x\r\n", "corrupt", "an inlined command without its number of words", magic=b"VALKEY080")
    nan = struct.pack("<Q", 0x7FF8000000000000)
    bad("zset-score-nan", record(5, "z", length(1) + string("m") + nan), "ok|corrupt|incomplete", "servers refuse it, the framing is sound", status=[0, 4], keys=None)
    bad("zset-text-score-nan", record(3, "z", length(1) + string("m") + b"\xfd"), "ok|corrupt|incomplete", "servers refuse it, the framing is sound", status=[0, 4], keys=None)
    bad("zset-text-score-no-number", record(3, "z", length(1) + string("m") + b"\x05hello"), "ok|corrupt|incomplete", "not a number", status=[0, 4], keys=None)
    bad("expiry-then-selectdb", b"\xfc" + LATER + SELECT, "ok", "an expiry that belongs to no key: go on, and bind it to none", status=0, keys=2)
    bad("key-meta-then-opcode", b"\xf3\x01\x04\x00\x00\x00\x02\x07\x00" + SELECT, "ok|corrupt", "metadata that belongs to no key", magic=b"REDIS0013", status=[0, 4], keys=None)


# --- Not ours ---------------------------------------------------------------------------------------------------------


def foreign():
    def refused(name, data, note, verdict="unsupported|not-a-snapshot|corrupt", status=3):
        case(name, data, verdict, status, None, note)

    refused("version-0", dump(BEFORE, magic=b"REDIS0000", checksum=0), "there is no version 0")
    refused("version-9999", dump(BEFORE, magic=b"REDIS9999", checksum=0), "no server will write it for long")
    refused("version-80-redis", dump(BEFORE, magic=b"REDIS0080", checksum=0), "from 80 on the magic is Valkey's")
    refused("version-79-valkey", dump(BEFORE, magic=b"VALKEY079", checksum=0), "up to 79 the magic is Redis'")
    refused("version-no-number", b"REDIS00x1" + BEFORE + b"\xff" + b"\x00" * 8, "digits are wanted")
    refused("magic-vkcs", b"VKCS\x01\x01\x00\x00" + b"\x04\x22\x4d\x18" + b"\x00" * 16, "Valkey's compressed envelope", "unsupported|not-a-snapshot")
    envelope = b"VCS\x01\x01\x00\x01"
    for at, field in [(3, "version"), (4, "codec"), (5, "reserved"), (6, "kind")]:
        other = envelope[:at] + b"\x07" + envelope[at + 1 :]
        refused(f"envelope-{field}", other + b"\x04\x22\x4d\x18" + bytes(16), "an envelope of a later Valkey", "unsupported")
    refused("envelope-cut", envelope[:5], "an envelope cut short", "truncated|incomplete")
    refused("envelope-without-frame", envelope + b"no frame at all", "no LZ4 frame", "corrupt|truncated|incomplete")
    refused("magic-lower-case", dump(BEFORE, end=False).lower(), "redis0011", "not-a-snapshot")
    refused("not-rdb-text", b"Dear Sir or Madam,\n", "a letter", "not-a-snapshot")
    refused("not-rdb-image", b"\x89PNG\r\n\x1a\n" + b"\x00" * 64, "an image", "not-a-snapshot")
    refused("not-rdb-zeros", b"\x00" * 512, "a file that was never written", "not-a-snapshot")
    refused("aof-without-preamble", b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n", "commands only", "not-a-snapshot|unsupported")
    refused("gzip-of-text", gzip.compress(b"Dear Sir or Madam,\n", mtime=0), "a compressed letter", "not-a-snapshot")
    refused("gzip-bomb", gzip.compress(b"\x00" * 20_000_000, mtime=0), "20 MB of zeros in 20 KB, and no snapshot", "not-a-snapshot")
    refused("gzip-header-only", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "a gzip header and nothing else", "not-a-snapshot|truncated|corrupt|incomplete", [3, 4])


def dragonfly():
    """Blocks and chunks of Dragonfly's own files; zstd frames of raw and repeated blocks need no compressor."""
    head = b"REDIS0009" + aux("redis-ver", "6.2.11") + aux("df-ver", "df-v1.34.2") + b"\xfe\x00" + text("before", "it")
    end = b"\xff" + bytes(8)

    def frame(data, size=None):
        size = len(data) if size is None else size
        return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size) + struct.pack("<I", len(data) << 3 | 1)[:3] + data

    def block(data, code=b"\xc9"):
        return code + length(len(data)) + data

    def chunk(number, data):
        return b"\xe0" + struct.pack("<II", number, len(data)) + data

    def bad(name, body, note, verdict="corrupt", keys=1):
        case("dragonfly-" + name, head + body + end, verdict, 4, keys, note)

    case("valid-dragonfly-block", head + block(frame(text("inside"))) + end, "ok", 0, 2, "a compressed block")
    case("valid-dragonfly-padding", (head + end).ljust(4096, b"\x7f"), "ok", 0, 1, "padded to a page")
    bomb = b"\x28\xb5\x2f\xfd\x00\x58" + b"\x02\x00\x10\x00" * 1023 + b"\x03\x00\x10\x00"
    bad("bomb", block(bomb), "a block of 128 MiB in 4 KB", "corrupt|incomplete|unsupported")
    bad("no-frame", block(b"no frame at all"), "a block that is no zstd frame")
    bad("lz4-no-frame", block(b"no frame at all", b"\xca"), "a block that is no LZ4 frame")
    bad("frame-cut", block(frame(text("inside"))[:-3]), "a frame cut short")
    bad("ends-inside", block(frame(text("inside")[:-2])), "a block that ends inside a record")
    bad("block-in-block", block(frame(block(frame(text("deep"))))), "a block in a block")
    bad("end-in-block", block(frame(end)), "the end of the snapshot in a block")
    bad("block-end", b"\xcb", "the end of a block outside of one")
    bad("prefix-in-block", block(frame(b"\xfc" + bytes(8) + b"\xfa\x01a\x01b")), "an expiry without a key at the end of a block")
    bad("type-in-block", block(frame(record(99, string("k"), b"\x01v"))), "an unknown type in a block", "corrupt|unsupported")
    bad("journal", b"\xd2\x01\x01x", "a journal, which files do not have", "unsupported")
    bad("chunk-zero", chunk(0, text("k")), "chunks count from 1")
    bad("chunk-empty", chunk(1, b""), "an empty chunk")
    bad("chunk-endless", chunk(1, record(2, string("s"), b"\x03\x01a\x01b")), "the last chunk is missing")
    bad("chunk-long", chunk(1, record(2, string("s"), b"\x01\x01a\x01b")), "a chunk goes on after its record")
    bad("chunk-divided", chunk(1, record(2, string("s"), b"\x02\x01a\x02b")), "a chunk ends inside an element")
    bad("chunk-string", chunk(1, record(0, string("k"), b"\x05abc")), "strings are never divided")
    bad("vector-index", b"\xde\x03idx\x00\x81" + b"\xff" * 8, "a search index of 2^64 nodes", "corrupt|truncated")
    bad("sketch", record(35, string("cms"), b"\x81" + b"\x7f" * 8 + b"\x81" + b"\x7f" * 8 + b"\x00"), "2^126 counters", "corrupt|truncated")
    cut = head + block(frame(text("inside") * 20))
    case("dragonfly-block-cut", cut[:-30], "truncated|incomplete|corrupt", 4, 1, "the file ends inside a block")


def main():
    for part in (valid, truncated, lying, compressed, blobs, records, foreign, dragonfly):
        part()
    os.makedirs(HERE, exist_ok=True)
    for stale in set(os.listdir(HERE)) - {name + end for name in CASES for end in (".rdb", ".json")}:
        os.remove(os.path.join(HERE, stale))
    for name, (data, expected) in CASES.items():
        with open(os.path.join(HERE, name + ".rdb"), "wb") as file:
            file.write(data)
        with open(os.path.join(HERE, name + ".json"), "w") as file:
            json.dump(expected, file)
            file.write("\n")
    print(f"{len(CASES)} files, {sum(len(data) for data, _ in CASES.values()):,} bytes")


if __name__ == "__main__":
    main()
