"""A second, slow reader of snapshots, which takes records apart into pieces that can be changed one by one."""

import dataclasses
import struct
from collections.abc import Callable, Iterator

CRC = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
    CRC.append(byte)


def crc64(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    return crc


def length(number: int) -> bytes:
    """Encodes a length in its shortest form; one beyond 64 bits wraps around."""
    number &= (1 << 64) - 1
    if number < 64:
        return bytes([number])
    if number < 16384:
        return bytes([0x40 | number >> 8, number & 255])
    if number < 1 << 32:
        return b"\x80" + struct.pack(">I", number)
    return b"\x81" + struct.pack(">Q", number)


@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of a record: a length (`len`), a string, or bytes of a fixed size (`id`, `time`, `double`, `text-double`, `byte`).

    The kind of a string says what it holds: `text`, or the packed encoding (`listpack`, `ziplist`, `intset`, `zipmap`, `node`
    for a listpack of stream entries), with the number of entries that make one element (`listpack2`: pairs).
    """

    kind: str
    value: int | bytes
    raw: bytes | None = None

    def changed(self, value: int | bytes) -> "Piece":
        return Piece(self.kind, value)

    def bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if isinstance(self.value, int):
            return length(self.value)
        if self.kind in FIXED:
            return self.value
        return length(len(self.value)) + self.value


FIXED = ("id", "time", "double", "text-double", "byte")


@dataclasses.dataclass(frozen=True)
class Record:
    """A key with its value; `prefix` are the opcodes before it."""

    prefix: bytes
    type: int
    key: Piece
    pieces: tuple[Piece, ...]

    def bytes(self) -> bytes:
        return self.prefix + bytes([self.type]) + self.key.bytes() + b"".join(piece.bytes() for piece in self.pieces)


class Unknown(Exception):
    """A type or opcode that this reader does not know."""


class Reader:
    def __init__(self, data: bytes, at: int = 0):
        self.data, self.at, self.pieces = data, at, []

    def take(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        if len(taken) != size:
            raise EOFError
        self.at += size
        return taken

    def number(self) -> tuple[int, bool]:
        first = self.take(1)[0]
        if first >> 6 == 0:
            return first, False
        if first >> 6 == 1:
            return (first & 63) << 8 | self.take(1)[0], False
        if first == 0x80:
            return struct.unpack(">I", self.take(4))[0], False
        if first == 0x81:
            return struct.unpack(">Q", self.take(8))[0], False
        return first & 63, True

    def len(self) -> int:
        start = self.at
        value, _ = self.number()
        self.pieces.append(Piece("len", value, self.data[start : self.at]))
        return value

    def fixed(self, kind: str, size: int) -> bytes:
        value = self.take(size)
        self.pieces.append(Piece(kind, value))
        return value

    def string(self, kind: str = "text") -> None:
        start = self.at
        size, special = self.number()
        if not special:
            value = self.take(size)
        elif size < 3:
            value = str(int.from_bytes(self.take(1 << size), "little", signed=True)).encode()
        else:
            packed, plain = self.number()[0], self.number()[0]
            value = expand(self.take(packed), plain)
        self.pieces.append(Piece(kind, value, self.data[start : self.at]))

    def text_double(self) -> None:
        start = self.at
        size = self.take(1)[0]
        self.take(size if size < 253 else 0)
        self.pieces.append(Piece("text-double", self.data[start : self.at]))


def expand(block: bytes, size: int) -> bytes:
    """Expands an LZF block."""
    out, at = bytearray(), 0
    while at < len(block):
        mark = block[at]
        at += 1
        if mark < 32:
            out += block[at : at + mark + 1]
            at += mark + 1
            continue
        run = mark >> 5
        if run == 7:
            run += block[at]
            at += 1
        start = len(out) - ((mark & 31) << 8 | block[at]) - 1
        at += 1
        for offset in range(run + 2):
            out.append(out[start + offset])
    assert len(out) == size
    return bytes(out)


def repeat(*steps: Callable[[Reader], None]) -> Callable[[Reader], None]:
    """Reads a count, then so many times the steps."""

    def read(reader: Reader) -> None:
        for _ in range(reader.len()):
            for step in steps:
                step(reader)

    return read


def blob(kind: str) -> Callable[[Reader], None]:
    return lambda reader: reader.string(kind)


def node(reader: Reader) -> None:
    container = reader.len()
    reader.string("listpack1" if container == 2 else "text")


def stream(layout: int) -> Callable[[Reader], None]:
    def consumer(reader: Reader) -> None:
        reader.string()
        reader.fixed("time", 8)
        if layout >= 3:
            reader.fixed("time", 8)
        repeat(lambda r: r.fixed("id", 16))(reader)

    def pending(reader: Reader) -> None:
        reader.fixed("id", 16)
        reader.fixed("time", 8)
        reader.len()

    def group(reader: Reader) -> None:
        reader.string()
        for _ in range(3 if layout >= 2 else 2):
            reader.len()
        repeat(pending)(reader)
        repeat(consumer)(reader)
        if layout >= 5:
            repeat(lambda r: r.fixed("id", 16))(reader)

    def producer(reader: Reader) -> None:
        reader.string()
        repeat(Reader.string, Reader.len, Reader.len)(reader)

    def read(reader: Reader) -> None:
        repeat(Reader.string, blob("node"))(reader)
        for _ in range(8 if layout >= 2 else 3):
            reader.len()
        repeat(group)(reader)
        if layout >= 4:
            reader.len()
            reader.len()
            repeat(producer)(reader)
            reader.len()
            reader.len()

    return read


def array(reader: Reader) -> None:
    items = reader.len()
    if reader.len():
        reader.len()
    for _ in range(items):
        reader.len()
        if (tag := reader.len()) in (1, 2):
            reader.fixed("double" if tag == 2 else "time", 8)
        else:
            reader.string()


def module(reader: Reader) -> None:
    reader.len()
    while tag := reader.len():
        match tag:
            case 1 | 2:
                reader.len()
            case 3:
                reader.fixed("byte", 4)
            case 4:
                reader.fixed("double", 8)
            case 5:
                reader.string()
            case _:
                raise Unknown(tag)


def template_listpack(reader: Reader) -> None:
    if reader.len() == 0:
        reader.string("listpack1")
    else:
        repeat(Reader.string)(reader)
    reader.string("listpack1")


def expiring(reader: Reader) -> None:
    reader.fixed("time", 8)
    repeat(Reader.len, Reader.string, Reader.string)(reader)


def expiring_listpack(reader: Reader) -> None:
    reader.fixed("time", 8)
    reader.string("listpack3")


def pairs_with_time(reader: Reader) -> None:
    repeat(Reader.string, Reader.string, lambda r: r.fixed("time", 8))(reader)


VALUES: dict[int, Callable[[Reader], None]] = {
    0: Reader.string,
    1: repeat(Reader.string),
    2: repeat(Reader.string),
    3: repeat(Reader.string, Reader.text_double),
    4: repeat(Reader.string, Reader.string),
    5: repeat(Reader.string, lambda r: r.fixed("double", 8)),
    7: module,
    9: blob("zipmap2"),
    10: blob("ziplist1"),
    11: blob("intset1"),
    12: blob("ziplist2"),
    13: blob("ziplist2"),
    14: repeat(blob("ziplist1")),
    15: stream(1),
    16: blob("listpack2"),
    17: blob("listpack2"),
    18: repeat(node),
    19: stream(2),
    20: blob("listpack1"),
    21: stream(3),
    24: expiring,
    25: expiring_listpack,
    26: stream(4),
    27: stream(5),
    28: array,
    29: template_listpack,
    30: blob("listpack1"),
}
VALKEY = {22: pairs_with_time}


@dataclasses.dataclass(frozen=True)
class Dump:
    """The magic of a dump, its templates of compact hashes, and the records that this reader knows."""

    name: str
    magic: bytes
    templates: bytes
    records: tuple[Record, ...]

    def file(self, records: Iterator[Record] | list[Record]) -> bytes:
        """Returns a file with these records, its checksum not yet right."""
        body = b"".join(record.bytes() for record in records)
        templates = self.templates if any(record.type in (30, 32) for record in records) else b""
        return self.magic + templates + b"\xfe\x00" + body + b"\xff"


def sealed(file: bytes) -> bytes:
    """Appends the checksum."""
    return file + struct.pack("<Q", crc64(file))


def records(data: bytes, name: str) -> Dump:
    """Takes a dump apart, up to the first thing that this reader does not know."""
    reader, found, templates, prefix = Reader(data, 9), [], b"", 9
    fields: dict[int, int] = {}
    values = VALUES | (VALKEY if data.startswith(b"VALKEY") else {})
    try:
        while True:
            start = reader.at
            byte = reader.take(1)[0]
            reader.pieces = []
            match byte:
                case 255:
                    break
                case 254 | 248:
                    reader.len()
                case 253:
                    reader.take(4)
                case 252:
                    reader.take(8)
                case 249:
                    reader.take(1)
                case 251:
                    reader.len(), reader.len()
                case 250:
                    reader.string(), reader.string()
                case 245:
                    reader.string()
                case 244:
                    reader.len(), reader.len(), reader.len()
                case 242 if not data.startswith(b"VALKEY"):
                    number = reader.len()
                    repeat(Reader.string)(reader)
                    fields[number] = reader.pieces[1].value
                    templates += data[start : reader.at]
                case 32 if fields:
                    reader.string()
                    key = reader.pieces.pop()
                    for _ in range(fields[reader.len()]):
                        reader.string()
                    found.append(Record(data[prefix:start], byte, key, tuple(reader.pieces)))
                case _ if byte in values:
                    reader.string()
                    key = reader.pieces.pop()
                    values[byte](reader)
                    found.append(Record(data[prefix:start], byte, key, tuple(reader.pieces)))
                case _:
                    raise Unknown(byte)
            if byte not in (252, 253, 248, 249):
                prefix = reader.at
    except (Unknown, EOFError):
        pass
    return Dump(name, data[:9], templates, tuple(found))
