"""The dumps that the checks read: those of testdata and of the corpus."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "..", "shared", "corpus")
INPUTS = ["dump.rdb", "appendonly.aof", "appendonlydir"]


def dumps(corpus):
    """All dumps, with the name that messages give them."""
    shop = os.path.join(ROOT, "testdata", "dumps")
    for name in sorted(os.listdir(shop)):
        yield name, os.path.join(shop, name)
    for parent in [os.path.join(ROOT, "testdata", "corpus"), corpus]:
        for folder in sorted(os.listdir(parent)):
            for name in INPUTS:
                path = os.path.join(parent, folder, name)
                if os.path.exists(path):
                    yield f"{os.path.basename(parent)}/{folder}/{name}", path
