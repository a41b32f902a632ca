"""What the checks of all dumps share: the dumps of testdata and of the corpus, the options, the count of differences."""

import argparse
import os
import sys

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


def options():
    """The words of the command line: where the corpus and the program are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default=CORPUS)
    parser.add_argument("--rdblens", default=os.path.join(ROOT, "target", "release", "rdblens"))
    words = parser.parse_args()
    if not os.path.isdir(words.corpus):
        sys.exit(f"{words.corpus} is missing")
    return words


def count_differences(what, cases):
    """Prints the differences of all cases, each a name and what differs, then `what` with the number of cases.

    Returns the exit status: 1 if anything differs.
    """
    checked = wrong = 0
    for name, differences in cases:
        checked += 1
        for difference in differences:
            wrong += 1
            print(f"{name}: {difference}")
    print(f"{what.format(checked)}, {wrong} differences")
    # As many as testdata alone has.
    return 1 if wrong or checked < 20 else 0
