"""Makes mutants: one seed, one file, always the same."""

import dataclasses
import random
import struct

from checks.differential import packed
from checks.differential.dump import FIXED, Dump, Piece, Record, length, sealed

# Values of more bytes make a mutant slow without making it better.
LARGEST = 20_000
SCORES = [b"abc", b"1.5x", b" 1", b"1 ", b"0x10", b"1e999", b"-", b"", b"inf", b"-infinity", b"+1", b".5", b"1e", b"1_0", b"3\x00"]


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file, what was done to it, and the sound file that it was made of."""

    seed: int
    dump: str
    done: str
    types: frozenset[int]
    file: bytes
    sound: bytes


class Library:
    """Records of several dumps by type, so that rare types are drawn as often as common ones."""

    def __init__(self, dumps: list[Dump]):
        self.dumps = [dump for dump in dumps if dump.records]
        self.types = {
            dump.name: {
                kind: small
                for kind in sorted({record.type for record in dump.records})
                if (small := [record for record in dump.records if record.type == kind and len(record.bytes()) < LARGEST])
            }
            for dump in self.dumps
        }

    def mutant(self, seed: int) -> Mutant:
        rng = random.Random(seed)
        dump = rng.choice(self.dumps)
        types = self.types[dump.name]
        chosen = [rng.choice(types[rng.choice(list(types))]) for _ in range(rng.randint(1, 3))]
        chosen = list({record.key.value: record for record in chosen}.values())
        sound = sealed(dump.file(chosen))
        done, file = mutate(rng, dump, chosen)
        return Mutant(seed, dump.name, done, frozenset(record.type for record in chosen), file, sound)


def mutate(rng: random.Random, dump: Dump, records: list[Record]) -> tuple[str, bytes]:
    """Returns what was done, and the file with a checksum that is right."""
    records = list(records)
    at = rng.randrange(len(records))
    draw = rng.random()
    if draw < 0.1:
        done = between(rng, records, at)
        return done, sealed(dump.file(records))
    if draw < 0.2:
        done, file = framing(rng, dump.file(records))
        return done, sealed(file)
    done, records[at] = within(rng, records[at])
    if rng.random() < 0.1:
        more, records[at] = within(rng, records[at])
        done += "; " + more
    return f"type {records[at].type}: {done}", sealed(dump.file(records))


def between(rng: random.Random, records: list[Record], at: int) -> str:
    """Changes the order, number or type of records, or what stands before one."""
    record = records[at]
    match rng.randrange(5):
        case 0:
            records.append(record)
            return "a key twice"
        case 1:
            records.append(dataclasses.replace(record, key=Piece("text", record.key.value + b"2")))
            return "a value twice"
        case 2:
            other = rng.choice([0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21])
            records[at] = dataclasses.replace(record, type=other)
            return f"type {record.type} becomes {other}"
        case 3:
            records[at] = empty(rng, record)
            return f"type {records[at].type}: empty"
        case _:
            prefix = rng.choice([b"\xf9\x05", b"\xf8\x05", b"\xfc" + bytes(7) + b"\x70", b"\xfa\x01a\x01b", b"\xfe\x01", b"\xfb\x01\x00"])
            records[at] = dataclasses.replace(record, prefix=prefix)
            return f"prefix {prefix.hex()}"


def empty(rng: random.Random, record: Record) -> Record:
    """Returns a record without elements, in one of the forms that its type has for that."""
    nothing = {"listpack": packed.join_listpack([]), "ziplist": packed.join_ziplist([]), "intset": packed.join_intset([])}
    nothing |= {"zipmap": packed.join_zipmap([])}
    pieces = list(record.pieces)
    blobs = [index for index, piece in enumerate(pieces) if piece.kind[:-1] in nothing]
    if record.type in (15, 19, 21, 26, 27):
        return record
    if blobs and (pieces[0].kind != "len" or rng.random() < 0.5):
        for index in blobs:
            pieces[index] = pieces[index].changed(nothing[pieces[index].kind[:-1]])
    elif record.type == 24:
        pieces = [pieces[0], Piece("len", 0)]
    elif record.type in (1, 2, 3, 4, 5, 14, 18, 22):
        pieces = [Piece("len", 0)]
    else:
        pieces = [piece.changed(b"") if piece.kind == "text" else piece for piece in pieces]
    return dataclasses.replace(record, pieces=tuple(pieces))


def framing(rng: random.Random, file: bytes) -> tuple[str, bytes]:
    """Changes bytes of the file, whatever they are."""
    at = rng.randrange(9, len(file))
    match rng.randrange(5):
        case 0:
            return f"byte {at} flipped", flipped(rng, file, at)
        case 1:
            return f"byte {at} removed", file[:at] + file[at + 1 :]
        case 2:
            return f"byte {at} inserted", file[:at] + bytes([rng.randrange(256)]) + file[at:]
        case 3:
            end = min(len(file), at + rng.randint(1, 40))
            return f"bytes {at} to {end} removed", file[:at] + file[end:]
        case _:
            size = rng.randint(1, 16)
            other = rng.randrange(9, len(file))
            low, high = min(at, other), max(at, other)
            if low + size > high:
                return f"byte {at} flipped", flipped(rng, file, at)
            swapped = file[:low] + file[high : high + size] + file[low + size : high] + file[low : low + size] + file[high + size :]
            return f"{size} bytes at {low} and {high} swapped", swapped


def flipped(rng: random.Random, data: bytes, at: int) -> bytes:
    byte = data[at] ^ (1 << rng.randrange(8)) if rng.random() < 0.7 else rng.randrange(256)
    return data[:at] + bytes([byte]) + data[at + 1 :]


def within(rng: random.Random, record: Record) -> tuple[str, Record]:
    """Changes one piece of a value."""
    pieces = list(record.pieces)
    kinds = sorted({piece.kind for piece in pieces})
    if not kinds:
        return "nothing", record
    kind = rng.choice(kinds)
    alike = [index for index, piece in enumerate(pieces) if piece.kind == kind]
    at = rng.choice(alike)
    piece = pieces[at]
    draw = rng.random()
    if draw < 0.25 and len(alike) > 1:
        other = rng.choice(alike)
        if draw < 0.15:
            pieces[at] = pieces[other]
            done = f"{kind} {at} is that of {other}"
        else:
            pieces[at], pieces[other] = pieces[other], pieces[at]
            done = f"{kind} {at} and {other} swapped"
    elif draw < 0.3:
        del pieces[at]
        done = f"{kind} {at} removed"
    elif draw < 0.33:
        pieces.insert(at, piece)
        done = f"{kind} {at} twice"
    elif kind == "len":
        value = rng.choice([piece.value + 1, max(0, piece.value - 1), 0, rng.randrange(300), 1 << 40, (1 << 64) - 1, (1 << 63) + 5])
        pieces[at] = piece.changed(value)
        done = f"length {at}: {piece.value} becomes {value}"
        if rng.random() < 0.05 and piece.value < 64:
            pieces[at] = Piece("len", piece.value, bytes([0xC0 | piece.value]))
            done = f"length {at} in the form of a string"
    elif kind == "text-double":
        text = rng.choice(SCORES)
        pieces[at] = piece.changed(rng.choice([bytes([len(text)]) + text, b"\xfd", b"\xfe", b"\xff"]))
        done = f"score {at} becomes {pieces[at].value!r}"
    elif kind == "double" and rng.random() < 0.5:
        pieces[at] = piece.changed(struct.pack("<d", rng.choice([float("nan"), float("inf"), -0.0, -float("nan"), 1e300])))
        done = f"score {at} becomes {pieces[at].value.hex()}"
    elif kind in FIXED or kind == "text":
        pieces[at] = piece.changed(damaged(rng, piece.value, kind in FIXED))
        done = f"{kind} {at} changed"
    else:
        done, value = blob(rng, kind.rstrip("123"), piece.value, record.type)
        pieces[at] = piece.changed(value)
        done = f"{kind} {at}: {done}"
    return done, dataclasses.replace(record, pieces=tuple(pieces))


def damaged(rng: random.Random, value: bytes, fixed: bool) -> bytes:
    if value and (fixed or rng.random() < 0.6):
        return flipped(rng, value, rng.randrange(len(value)))
    return rng.choice([b"", value + b"x", value[:-1], b"123"])


def blob(rng: random.Random, kind: str, value: bytes, record: int) -> tuple[str, bytes]:
    """Changes a packed encoding: its bytes, its header, or its entries under a header that fits."""
    split, join, header, text = packed.CODECS[kind]
    match rng.randrange(10):
        case 0 | 1:
            if not value:
                return "bytes appended", b"\0" * rng.randint(1, 12)
            at = rng.randrange(len(value))
            return f"byte {at} flipped", flipped(rng, value, at)
        case 2:
            at = rng.choice(header)
            wide = 1 if kind == "zipmap" else 4 if at == 0 or kind == "intset" or (kind == "ziplist" and at == 4) else 2
            old = int.from_bytes(value[at : at + wide], "little")
            new = rng.choice([old + 1, max(0, old - 1), 0, 65535, rng.randrange(256), old ^ 2]) & (1 << 8 * wide) - 1
            return f"header at {at}: {old} becomes {new}", value[:at] + new.to_bytes(wide, "little") + value[at + wide :]
        case 3 if value:
            at = rng.randrange(len(value))
            return f"cut at {at}", value[:at]
        case 4 if len(value) > 12:
            # The last entry may swallow the end, links may lie about their neighbours.
            at = len(value) - 1 - rng.randrange(min(8, len(value)))
            return f"byte {at} flipped near the end", flipped(rng, value, at)
    try:
        entries = split(value)
    except (IndexError, KeyError, ValueError, struct.error):
        return "byte 0 flipped", flipped(rng, value or b"\0", 0)
    if kind == "listpack" and rng.random() < 0.05:
        return "the last entry swallows the end", swallowed(entries)
    done = entry(rng, kind, entries, text, record)
    return done, join(entries)


def swallowed(entries: list[bytes]) -> bytes:
    """Returns a listpack whose last entry has the end byte as its backlen."""
    whole = packed.join_listpack([*entries, packed.listpack_text(b"s" * 125)])
    whole = whole[:-2] + b"\xff"
    return struct.pack("<I", len(whole)) + whole[4:]


def entry(rng: random.Random, kind: str, entries: list[bytes], text, record: int) -> str:
    """Changes one entry in place, or the order or number of entries; returns what was done."""
    if not entries:
        entries.append(text(b"x"))
        return "an entry more"
    at, other = rng.randrange(len(entries)), rng.randrange(len(entries))
    if kind == "node" and rng.random() < 0.5:
        # What a node begins with says how the rest is to be read.
        at = min(rng.randrange(8), len(entries) - 1)
    number = packed.listpack_number(entries[at]) if kind in ("listpack", "node") else None
    match rng.randrange(9):
        case 0:
            entries[at] = entries[other]
            return f"entry {at} is that of {other}"
        case 1:
            entries[at], entries[other] = entries[other], entries[at]
            return f"entries {at} and {other} swapped"
        case 2:
            del entries[at]
            return f"entry {at} removed"
        case 3:
            entries.insert(at, entries[other])
            return f"entry {other} once more at {at}"
        case 4 | 5 if number is not None:
            new = rng.choice([number + 1, number - 1, 0, 1, 2, 3, -1, 1 << 62])
            entries[at] = packed.listpack_int(new)
            return f"entry {at}: {number} becomes {new}"
        case 6 if number is not None:
            entries[at] = rng.choice([packed.listpack_text(b"%d" % number), b"\xf4" + struct.pack("<q", number)])
            return f"entry {at}: {number} in another form"
        case 7 if kind != "intset":
            new = rng.choice(SCORES) if record in (12, 17) else rng.choice([b"", b"x", b"y" * 70])
            entries[at] = text(new)
            return f"entry {at} becomes {new!r}"
        case _:
            index = rng.randrange(len(entries[at]))
            entries[at] = flipped(rng, entries[at], index)
            return f"entry {at}: byte {index} flipped"
