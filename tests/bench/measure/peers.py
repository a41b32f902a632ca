"""Other programs that read dumps: how to find them, and the commands nearest to our report."""

import os
import shutil
import subprocess

from processes import Command


class Peer:
    """A program, its path, and its commands."""

    def __init__(self, name, program, asked, sign=None):
        self.name = name
        self.asked = asked
        self.program = shutil.which(program) if program else None
        # Several programs are called `rdb`: this text in its help identifies the one meant.
        if self.program and sign and sign not in help_text(self.program):
            self.program = None

    def commands(self, dump):
        """Returns a command for each report, over a tenth of the keys."""
        for what, words in self.asked.items():
            filled = [self.program if word == "PROGRAM" else dump if word == "DUMP" else word for word in words]
            yield Command(f"{self.name}, {what}", filled, tenth=True, good=(0,))


def help_text(program):
    """Returns the version that a program prints."""
    result = subprocess.run([program, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return result.stdout + result.stderr


def all_peers(args):
    """Returns all known peers, installed or not."""
    null = os.devnull
    return [
        Peer("redis-check-rdb", args.redis_check_rdb, {"check": ["PROGRAM", "DUMP"]}),
        Peer(
            "HDT3213/rdb",
            args.hdt3213,
            {
                "memory of every key": ["PROGRAM", "-c", "memory", "-o", null, "DUMP"],
                "biggest keys": ["PROGRAM", "-c", "bigkey", "-n", "20", "-o", null, "DUMP"],
                "prefixes": ["PROGRAM", "-c", "prefix", "-n", "20", "-o", null, "DUMP"],
            },
            sign="max-depth",
        ),
        Peer("librdb", args.librdb, {"print every key": ["PROGRAM", "DUMP", "-l", null, "print", "-o", null]}),
        Peer(
            "redis-rdb-tools",
            args.rdbtools,
            {"memory of every key": ["PROGRAM", "-c", "memory", "-f", null, "DUMP"]},
            sign="justkeyvals",
        ),
    ]
