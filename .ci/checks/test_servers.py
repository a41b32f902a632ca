"""Servers of the live checks: each can be had, starts, and has an allocator that rdblens has a model of."""

from checks.servers import ServerBinary


def test_server_starts(binary: ServerBinary, summary: list[str]) -> None:
    summary.append(f"{binary.name:<12} {binary.allocator:<14} {binary.path}")
    assert binary.line >= (7, 0)


def test_servers_differ(binaries: dict[str, ServerBinary]) -> None:
    """Both families and all allocators are among them."""
    assert len({binary.name for binary in binaries.values()}) == len(binaries) >= 4
    assert {binary.family for binary in binaries.values()} == {"redis", "valkey"}
    assert {binary.allocator for binary in binaries.values()} == {"jemalloc", "jemalloc-q16", "glibc"}
