"""Measures rdblens and writes the measured part of docs/performance.md: see .ci/measure."""

import argparse
import os
import platform
import tempfile
import time

import document
import sections
from dumps import Dumps, build
from processes import output


def arguments():
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog=".ci/measure", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="hundredth dumps, one round, no document: does it all work?")
    parser.add_argument("--rounds", type=int, help="rounds of which the median counts (5)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a report (2)")
    parser.add_argument("--profiles", default=",".join(sections.PROFILES), help="which, with commas between")
    parser.add_argument("--sections", default=",".join(sections.ALL), help="which, with commas between")
    parser.add_argument("--folder", help="where dumps lie; those that are there already are used and kept")
    parser.add_argument("--keep", action="store_true", help="keep dumps that were made, for another run")
    parser.add_argument("--out", help="write the tables there instead of into docs/performance.md")
    parser.add_argument("--redis-check-rdb", default="redis-check-rdb", metavar="PROGRAM")
    parser.add_argument("--hdt3213", default="rdb", metavar="PROGRAM", help="the rdb of github.com/HDT3213/rdb")
    parser.add_argument("--librdb", default="rdb-cli", metavar="PROGRAM", help="the rdb-cli of github.com/redis/librdb")
    parser.add_argument("--rdbtools", default="rdb", metavar="PROGRAM", help="the rdb of the Python package rdbtools")
    args = parser.parse_args()
    args.rounds = args.rounds or (1 if args.quick else 5)
    return args


def machine(args):
    """Describes the machine and the settings of the run."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = output(["git", "rev-parse", "--short", "HEAD"]).strip()
    load = os.getloadavg()[0]
    return (
        f"Measured on {time.strftime('%Y-%m-%d', time.gmtime())} at commit {commit}: {os.cpu_count()} × {model or platform.machine()}, "
        f"{memory:.0f} GiB of memory,\nLinux {platform.release()}, release build, warm page cache; median of {args.rounds}, all "
        f"commands of a table in turns. The load of the\nmachine was {load:.1f} when it began."
    )


def main():
    """Builds the programs, measures, writes the document."""
    args = arguments()
    where = machine(args)
    programs = build("dumps", "passes")
    if args.folder:
        os.makedirs(args.folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        dumps = Dumps(programs["dumps"], args.folder or folder, 0.01 if args.quick else 1.0, args.keep)
        bench = sections.Bench(args, programs, dumps)
        parts = sections.all_sections(bench, args.sections.split(","), args.profiles.split(","))
    text = "\n\n".join([where, *parts])
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    elif args.quick:
        print("\n" + text)
    else:
        document.write("docs/performance.md", text)


main()
