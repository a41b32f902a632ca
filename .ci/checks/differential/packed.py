"""Packed encodings: taken apart into entries, and put together again with a header that fits."""

import struct


def split_listpack(blob: bytes) -> list[bytes]:
    """Returns the entries of a sound listpack, without their backlens."""
    entries, at = [], 6
    while blob[at] != 0xFF:
        size = listpack_size(blob, at)
        entries.append(blob[at : at + size])
        at += size + len(backlen(size))
    return entries


def listpack_size(blob: bytes, at: int) -> int:
    first = blob[at]
    if first < 0x80:
        return 1
    if first < 0xC0:
        return 1 + (first & 63)
    if first < 0xE0:
        return 2
    if first < 0xF0:
        return 2 + ((first & 15) << 8 | blob[at + 1])
    return {0xF0: 5 + struct.unpack_from("<I", blob + b"\0\0\0\0", at + 1)[0], 0xF1: 3, 0xF2: 4, 0xF3: 5, 0xF4: 9}[first]


def backlen(size: int) -> bytes:
    count = 1 if size <= 127 else 2 if size < 16383 else 3 if size < 2097151 else 4
    groups = [size >> 7 * index & 127 for index in reversed(range(count))]
    return bytes([groups[0]]) + bytes(group | 128 for group in groups[1:])


def join_listpack(entries: list[bytes]) -> bytes:
    body = b"".join(entry + backlen(len(entry)) for entry in entries)
    return struct.pack("<IH", len(body) + 7, min(len(entries), 65535)) + body + b"\xff"


def listpack_text(text: bytes) -> bytes:
    if len(text) < 64:
        return bytes([0x80 | len(text)]) + text
    if len(text) < 4096:
        return bytes([0xE0 | len(text) >> 8, len(text) & 255]) + text
    return b"\xf0" + struct.pack("<I", len(text)) + text


def listpack_int(number: int) -> bytes:
    """Encodes an integer, not always in the shortest form that there is."""
    if 0 <= number < 128:
        return bytes([number])
    if -4096 <= number < 4096:
        return struct.pack(">H", number & 0x1FFF | 0xC000)
    return b"\xf4" + struct.pack("<q", number) if number >= -(1 << 63) else listpack_text(b"x")


def listpack_number(entry: bytes) -> int | None:
    first = entry[0]
    if first < 0x80:
        return first
    if 0xC0 <= first < 0xE0:
        raw = struct.unpack(">H", entry)[0] & 0x1FFF
        return raw if raw < 4096 else raw - 8192
    return int.from_bytes(entry[1:], "little", signed=True) if 0xF1 <= first <= 0xF4 else None


def split_ziplist(blob: bytes) -> list[bytes]:
    """Returns the entries of a sound ziplist, without their prevlens."""
    entries, at = [], 10
    while blob[at] != 0xFF:
        at += 5 if blob[at] == 254 else 1
        first = blob[at]
        if first < 0x40:
            size = 1 + first
        elif first < 0x80:
            size = 2 + ((first & 63) << 8 | blob[at + 1])
        elif first < 0xC0:
            size = 5 + struct.unpack_from(">I", blob, at + 1)[0]
        else:
            size = {0xC0: 3, 0xD0: 5, 0xE0: 9, 0xF0: 4, 0xFE: 2}.get(first, 1)
        entries.append(blob[at : at + size])
        at += size
    return entries


def join_ziplist(entries: list[bytes]) -> bytes:
    body, previous, tail = b"", 0, 10
    for entry in entries:
        tail = 10 + len(body)
        link = bytes([previous]) if previous < 254 else b"\xfe" + struct.pack("<I", previous)
        body += link + entry
        previous = len(link) + len(entry)
    return struct.pack("<IIH", len(body) + 11, tail, min(len(entries), 65535)) + body + b"\xff"


def ziplist_text(text: bytes) -> bytes:
    return bytes([len(text)]) + text if len(text) < 64 else struct.pack(">H", 0x4000 | len(text)) + text


def split_intset(blob: bytes) -> list[bytes]:
    width = struct.unpack_from("<I", blob)[0]
    return [blob[at : at + width] for at in range(8, len(blob), width)]


def join_intset(entries: list[bytes]) -> bytes:
    width = len(entries[0]) if entries else 2
    return struct.pack("<II", width, len(entries)) + b"".join(entries)


def split_zipmap(blob: bytes) -> list[bytes]:
    """Returns fields and values in turn, each with its length, values with the unused bytes behind them."""
    entries, at = [], 1
    while blob[at] != 0xFF:
        for free in (0, 1):
            head = 5 if blob[at] == 254 else 1
            size = struct.unpack_from("<I", blob, at + 1)[0] if head == 5 else blob[at]
            size += head + (free + blob[at + head] if free else 0)
            entries.append(blob[at : at + size])
            at += size
    return entries


def join_zipmap(entries: list[bytes]) -> bytes:
    return bytes([min(len(entries) // 2, 254)]) + b"".join(entries) + b"\xff"


# By the kind of a piece without its digit: split, join, offsets of the header's fields, text of an entry.
CODECS = {
    "listpack": (split_listpack, join_listpack, (0, 4), listpack_text),
    "node": (split_listpack, join_listpack, (0, 4), listpack_text),
    "ziplist": (split_ziplist, join_ziplist, (0, 4, 8), ziplist_text),
    "intset": (split_intset, join_intset, (0, 4), lambda text: text[:2]),
    "zipmap": (split_zipmap, join_zipmap, (0,), lambda text: bytes([len(text)]) + text),
}
