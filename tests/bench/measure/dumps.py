"""Dumps to measure: created on demand, removed afterwards."""

import contextlib
import json
import os
import re
import subprocess

# Profiles, and the time limit of analyze on each as a multiple of `cat`.
LOADS = {"small": 4, "packed": 3, "tables": 3, "mix": 3, "large": 1, "wide": 8, "templates": 6, "mixed-names": 3.5}
# Profiles with one family of names each, and the limit of analyze on one thread in nanoseconds a key.
FAMILIES = ["numbers", "joined", "tags", "dates", "words", "addresses", "mails", "uuids", "digests", "tokens"]
FAMILY_LIMIT = 110
ADVERSARIES = ["nested", "zeros", "giant"]
KEYS = {"small": 10_000_000, "wide": 10_000_000, "mixed-names": 10_000_000}
KEYS |= {f"name-{family}": 1_000_000 for family in FAMILIES}
# Versions of the format that profiles need.
VERSIONS = {"templates": 15}
BYTES = {"giant": 1_610_612_736}
USUAL_BYTES = 1_200_000_000


def build(*targets):
    """Builds the program and these benchmark programs, and returns their paths by name."""
    words = ["cargo", "build", "--release", "--message-format", "json", "--bin", "rdblens"]
    for target in targets:
        words += ["--bench", target]
    result = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True)
    messages = (json.loads(line) for line in result.stdout.splitlines() if line.startswith("{"))
    return {message["target"]["name"]: message["executable"] for message in messages if message.get("executable")}


class Dumps:
    """A folder of dumps. Dumps that exist already are used and kept."""

    def __init__(self, generator, folder, share, keep):
        self.generator = generator
        self.folder = folder
        self.share = share
        self.keep = keep

    def scale(self, profile, times=1.0):
        """Returns arguments for a profile of its default size times a factor."""
        if profile in KEYS:
            return ["--keys", str(int(KEYS[profile] * self.share * times))]
        return ["--bytes", str(int(BYTES.get(profile, USUAL_BYTES) * self.share * times))]

    @contextlib.contextmanager
    def dump(self, profile, scale, version=None):
        """Returns the path of a dump and its number of keys, after reading it into the page cache."""
        version = version or VERSIONS.get(profile, 11)
        path = os.path.join(self.folder, f"{profile}-{scale[1]}-v{version}.rdb")
        known = path + ".keys"
        made = not os.path.exists(known)
        if made:
            words = [self.generator, profile, *scale, "--rdb-version", str(version), "--out", path]
            print(f"  making {os.path.basename(path)}", flush=True)
            said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
            with open(known, "w") as file:
                file.write(re.match(r"\d+", said).group())
        with open(known) as file:
            keys = int(file.read())
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
        try:
            yield path, keys
        finally:
            if made and not self.keep:
                os.remove(path)
                os.remove(known)
