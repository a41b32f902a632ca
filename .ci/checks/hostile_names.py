"""A dump whose key names try everything that a name can try with a page that shows it."""

import struct
from collections.abc import Iterator
from pathlib import Path

MARKUP = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "</style><img src=x onerror=alert(3)>",
    '"><svg onload=alert(4)>',
    "' onmouseover='alert(5)",
    "<!-- ",
    "]]>",
    "&lt;b&gt;&amp;&#x3c;script&#x3e;",
    "javascript:alert(6)",
    "{{ 7 * 7 }}{% include 'page.html' %}{# x #}",
    "${7*7}`${alert(8)}`",
    "<iframe src=https://example.com/>",
    "<base href=https://example.com/>",
    "<meta http-equiv=refresh content='0;url=https://example.com/'>",
    "<link rel=stylesheet href=https://example.com/x.css>",
    "<a href=https://example.com/>click</a>",
    "</bdi></td></table><h1>owned</h1>",
    "</textarea></title></svg></foreignObject>",
]
TEXT = [
    "\u202egpj.exe",
    "\u2066a\u2069\u2069\u2068",
    "\u05d0\u05d1\u05d2:123:\u0627\u0644",
    "zero\u200bwidth",
    "line\u2028sep\u2029",
    "new\nline\r\ttab",
    "\x00\x01\x1b[31m",
    "emoji:\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "a" + "\u0301" * 200,
    "\ufeffbom",
    "",
    "用户:会话:一二三",
    "\\u{202e}",
    "`code`",
    "…",
    "  spaces  ",
    "__proto__",
    "constructor:toString",
    "#m1",
    "m1:m2:m3",
]
BYTES = [b"\xff\xfe\xfd", b"ok:\xc3\x28:x", b"\xed\xa0\x80", b"\xf0\x9f", bytes(range(256))]


def names() -> Iterator[bytes]:
    """Yields each name alone and as a prefix, and some of them 10 KB long."""
    plain = [text.encode() for text in MARKUP + TEXT] + BYTES
    for name in plain:
        yield name
        for child in range(6):
            yield name + b":%d:" % child + name
    for name in (b"<script>", "\u202e".encode(), b'"', b"&", b"{{", b"long", "长".encode(), "\u05d0".encode()):
        yield (name * 10240)[:10240]
        yield b"deep:" + (name + b":") * (10240 // (len(name) + 1))


def length(n: int) -> bytes:
    """Encodes a length as RDB does."""
    if n < 64:
        return bytes([n])
    return struct.pack(">H", 0x4000 | n) if n < 16384 else b"\x80" + struct.pack(">I", n)


def string(text: bytes) -> bytes:
    """Encodes a string as RDB does."""
    return length(len(text)) + text


def write(path: Path) -> None:
    """Writes the dump; some keys expire."""
    with path.open("wb") as out:
        out.write(b"REDIS0011\xfa" + string(b"redis-ver") + string(b"7.2.6<script>alert(9)</script>"))
        out.write(b"\xfa" + string(b"<b>\"'&") + string("\u202e</script>{{ x }}".encode() * 50) + b"\xfe\x00")
        for at, name in enumerate(dict.fromkeys(names())):
            if at % 3 == 0:
                out.write(b"\xfc" + struct.pack("<Q", 1_900_000_000_000 + at))
            out.write(b"\x00" + string(name) + string(b"x" * (100 + 7 * at)))
        # All zero: no checksum was computed.
        out.write(b"\xff" + bytes(8))
