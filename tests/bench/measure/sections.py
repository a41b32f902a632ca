"""Measurements, one function for each section of the document."""

import json
import os

from document import mebibytes, seconds, table, times
from dumps import ADVERSARIES, FAMILIES, FAMILY_LIMIT, KEYS, LOADS, VERSIONS
from peers import all_peers
from processes import Command, alternate, anonymous_peak, output, start_up

SHOP = "testdata/dumps/shop.rdb"
# Keys of a small file.
FEW = 1000
POLICIES = ["service", "hzero", "platform", "strict", "aliyun"]
# What a policy may add to the processor time of a report, in percent.
POLICY_LIMIT = 40


class Bench:
    """Programs, dumps and settings of a run."""

    def __init__(self, args, programs, dumps):
        self.args = args
        self.rdblens = programs["rdblens"]
        self.passes = programs["passes"]
        self.dumps = dumps
        self.rounds = args.rounds

    def analyze(self, dump, threads, *more, name=None):
        """Returns the command of a full report."""
        words = [self.rdblens, "analyze", dump, "--threads", str(threads), "--quiet", *more]
        return Command(name or f"analyze, {threads} threads", words)

    def bare(self, kind, dump, name):
        """Returns the command of a pass that reports nothing."""
        return Command(name, [self.passes, kind, dump])

    def machine(self, dump, threads):
        """Returns commands that show how the machine itself scales: independent one-thread reports at once, and a sum of bytes."""
        together = '"$0" "$@" & ' * threads + "wait"
        return [
            Command("processes", ["sh", "-c", together, *self.analyze(dump, 1).words]),
            self.bare("sum", dump, "sum"),
            Command("sum on threads", [self.passes, "sum", dump, "--threads", str(threads)]),
        ]

    def agree(self, dump, keys):
        """Checks that all programs count equal keys: a fast wrong answer does not count."""
        report = json.loads(output([self.rdblens, "analyze", dump, "--format", "json", "--quiet"]))
        counts = {
            "generator": keys,
            "analyze": report["totals"]["keys"],
            "scan": int(output([self.passes, "scan", dump]).split()[-1]),
        }
        checksum = report["source"]["files"][0]["checksum"]
        if len(set(counts.values())) != 1 or checksum != "ok":
            raise SystemExit(f"{dump}: {counts}, checksum {checksum}")
        print(f"  {keys:,} keys, {os.path.getsize(dump):,} bytes; generator, scan and analyze agree", flush=True)


def profiles(bench, wanted):
    """Measures each profile: cat, bare passes, the report on one thread, on all processors and on more threads than those."""
    rows, gains = [], []
    for profile in wanted:
        print(profile, flush=True)
        with bench.dumps.dump(profile, bench.dumps.scale(profile)) as (dump, keys):
            bench.agree(dump, keys)
            threads = bench.args.threads
            # The crate reads no version as new as these.
            crate = [] if profile in VERSIONS else [
                bench.bare("rdb-skip", dump, "rdb crate, skipping"),
                bench.bare("rdb-decode", dump, "rdb crate, decoding"),
            ]
            commands = [
                Command("cat", ["cat", dump]),
                bench.bare("scan", dump, "scan"),
                bench.analyze(dump, 1),
                bench.analyze(dump, threads),
                bench.analyze(dump, 8),
                Command("check", [bench.rdblens, "check", dump, "--quiet"]),
            ]
            machine = bench.machine(dump, threads)
            alternate(commands + crate + machine, bench.rounds)
            cat, scan, one, many, eight, check = (command.median for command in commands)
            peak = anonymous_peak(bench.analyze(dump, threads).words)
            size = os.path.getsize(dump)
            limit = LOADS.get(profile)
            rows.append([
                f"`{profile}`", f"{keys:,}", f"{size / 1e9:.2f}",
                seconds(cat), seconds(scan), seconds(one), seconds(many), f"**{times(many / cat)}**",
                limit or "", f"{one / many:.2f}", seconds(eight), f"{size / many / 1e9:.2f}", f"{keys / many / 1e6:.1f}",
                seconds(check), mebibytes(peak), *([seconds(command.median) for command in crate] or ["", ""]),
            ])
            processes, alone, together = (command.median for command in machine)
            gains.append([
                f"`{profile}`", seconds(one), seconds(many), f"**{one / many:.2f}**", seconds(processes),
                f"{threads * one / processes:.2f}", seconds(alone), seconds(together), f"{alone / together:.2f}",
            ])
    heads = [
        "profile", "keys", "GB", "`cat`", "bare scan", "1 thread", f"{bench.args.threads} threads", "× `cat`", "goal",
        f"speed-up of {bench.args.threads}", "8 threads", "GB/s", "million keys/s", "`check`", "MiB", "`rdb` skips", "`rdb` decodes",
    ]
    said = (
        f"Seconds of `rdblens analyze` with its defaults, the checksum included, by profile. GB/s, keys and MiB (peak\n"
        f"anonymous memory) are those of {bench.args.threads} threads. The bare scan finds every record and decodes nothing, on one thread;\n"
        "the `rdb` crate goes over the file and reports nothing, skipping or decoding every value; it reads no RDB 15."
    )
    return "### By profile\n\n" + said + "\n\n" + table(heads, rows) + "\n\n" + gain(bench.args.threads, gains)


def gain(threads, rows):
    """Measures the gain of a second thread, and the most that the machine allows."""
    heads = [
        "profile", "1 thread", f"{threads} threads", "speed-up", f"{threads} processes", "throughput over 1 process",
        "sum", f"sum, {threads} threads", "speed-up of the sum",
    ]
    said = (
        f"Speed-up of {threads} threads on one file, compared with what the machine allows: {threads} processes of one thread that read the whole file at\n"
        "once, and threads that only add up the bytes of the map. All in the same turns as above."
    )
    return "### By threads\n\n" + said + "\n\n" + table(heads, rows)


def names(bench):
    """Measures each family of names on one thread."""
    print("names", flush=True)
    rows = []
    for family in FAMILIES:
        profile = f"name-{family}"
        with bench.dumps.dump(profile, bench.dumps.scale(profile)) as (dump, keys):
            bench.agree(dump, keys)
            commands = [Command("cat", ["cat", dump]), bench.analyze(dump, 1)]
            alternate(commands, bench.rounds)
            cat, analyze = (command.median for command in commands)
            rows.append([f"`{profile}`", f"{keys:,}", seconds(cat), seconds(analyze), f"**{analyze / keys * 1e9:.0f}**",
                         FAMILY_LIMIT])
    heads = ["profile", "keys", "`cat`", "1 thread", "ns/key", "goal"]
    said = "`analyze --threads 1` over strings of 20 to 79 bytes under names of one family, the start of the process included."
    return "### By names\n\n" + said + "\n\n" + table(heads, rows)


def peers(bench):
    """Measures other programs, which report less, on the profile `small`."""
    print("peers", flush=True)
    known = all_peers(bench.args)
    usual = bench.dumps.scale("small")
    tenth = bench.dumps.scale("small", 0.1)
    # Every peer reads version 9.
    with bench.dumps.dump("small", usual) as (dump, _), bench.dumps.dump("small", tenth, version=9) as (part, _):
        ours = [
            Command("`cat`", ["cat", dump]),
            bench.bare("sum", dump, "adding up the mapped bytes"),
            bench.bare("crc", dump, "the checksum alone"),
            bench.bare("scan", dump, "our bare scan"),
            Command("`rdblens check`", [bench.rdblens, "check", dump, "--quiet"]),
            bench.analyze(dump, bench.args.threads, name="**`rdblens analyze`**"),
            bench.bare("rdb-skip", dump, "`rdb` crate, skipping every value"),
            bench.bare("rdb-decode", dump, "`rdb` crate, decoding every value"),
        ]
        theirs = [command for peer in known if peer.program for command in peer.commands(part)]
        usable = []
        for command in theirs:
            try:
                command.run()
                usable.append(command)
            except SystemExit as error:
                print(f"  left out: {error}", flush=True)
        alternate(ours + [command for command in usable if command.median < 100], bench.rounds)
    report = ours[5].median
    rows = [
        [command.name + (" ¹" if command.tenth else ""), seconds(command.median), times(command.median / ours[0].median),
         f"{command.median / report:.2f}" if command.median < 10 * report else times(command.median / report)]
        for command in ours + sorted(usable, key=lambda command: command.median)
    ]
    text = table(["", "seconds", "× `cat`", "× `analyze`"], rows)
    text += "\n\n¹ on a tenth of the keys, times ten; commands that take more than ten seconds for these ran once."
    missing = [peer.name for peer in known if not peer.program]
    if missing:
        text += f" Not installed here: {', '.join(missing)}."
    return "### Beside others\n\nProfile `small`, all in one run.\n\n" + text


def policies(bench, wanted):
    """Measures the cost of rules."""
    names = ["none", "default", *POLICIES]
    rows = []
    for profile in [profile for profile in LOADS if profile in wanted]:
        print(f"policies, {profile}", flush=True)
        with bench.dumps.dump(profile, bench.dumps.scale(profile)) as (dump, _):
            commands = [bench.analyze(dump, 1, "--policy", name, name=name) for name in names]
            alternate(commands, bench.rounds)
        none, *others = (min(command.processor) for command in commands)
        rows.append([f"`{profile}`", seconds(none), *(f"{(least / none - 1) * 100:.0f} %" for least in others)])
    heads = ["profile", "`none`, seconds", *(f"`{name}`" for name in names[1:])]
    said = (
        "Processor time of `analyze --threads 1`, the least of all rounds: without a policy, and what each adds. The goal is at most\n"
        f"{POLICY_LIMIT} %."
    )
    return "### By policy\n\n" + said + "\n\n" + table(heads, rows)


def growth(bench):
    """Shows that time is linear in bytes and memory constant."""
    print("growth", flush=True)
    gib = 2**30 * bench.dumps.share
    sizes = [("small", ["--bytes", str(int(gib * size))], f"{size} GiB") for size in (0.1, 1, 4)]
    for profile in ("small", "wide"):
        sizes += [(profile, ["--keys", str(int(KEYS[profile] * bench.dumps.share * by))], f"{10 * by} million keys") for by in (1, 4)]
    rows = []
    for profile, scale, name in sizes:
        with bench.dumps.dump(profile, scale) as (dump, keys):
            commands = [Command("cat", ["cat", dump]), bench.analyze(dump, bench.args.threads)]
            alternate(commands, bench.rounds)
            cat, analyze = (command.median for command in commands)
            peak = anonymous_peak(commands[1].words)
            size = os.path.getsize(dump)
            rows.append([f"`{profile}`, {name}", f"{keys:,}", seconds(analyze), f"{analyze / size * 2**30:.3f}",
                         f"{analyze / keys * 1e9:.0f}", times(analyze / cat), mebibytes(peak)])
    heads = ["dump", "keys", "seconds", "seconds/GiB", "ns/key", "× `cat`", "MiB"]
    said = f"`analyze` on {bench.args.threads} threads."
    return "### By size\n\n" + said + "\n\n" + table(heads, rows)


def starting(bench):
    """Measures small files."""
    print("start-up", flush=True)
    rounds = 10 if bench.args.quick else 300
    rows = []
    with bench.dumps.dump("small", ["--keys", str(FEW)]) as (dump, _):
        for name, words in [
            ("`true`", ["/bin/true"]),
            ("`rdblens --version`", [bench.rdblens, "--version"]),
            (f"`rdblens analyze` of {FEW:,} keys", [bench.rdblens, "analyze", dump, "--quiet"]),
            (f"`rdblens analyze --format json` of {FEW:,} keys", [bench.rdblens, "analyze", dump, "--quiet", "--format", "json"]),
            ("`rdblens check shop.rdb`", [bench.rdblens, "check", SHOP, "--quiet"]),
            ("`rdblens analyze shop.rdb`", [bench.rdblens, "analyze", SHOP, "--quiet"]),
        ]:
            rows.append([name, f"{start_up(words, rounds) * 1000:.1f}"])
        sizes = os.path.getsize(dump), os.path.getsize(SHOP)
    said = (
        f"Mean of {rounds} runs from starting the process to its end, over a dump of {sizes[0]:,} bytes of the profile `small`, and\n"
        f"over `{SHOP}`: {sizes[1]:,} bytes of a small server, with nearly every section of a report."
    )
    return "### Start-up\n\n" + said + "\n\n" + table(["", "milliseconds"], rows)


def all_sections(bench, sections, wanted):
    """Returns the requested sections."""
    makers = {
        "profiles": lambda: profiles(bench, wanted),
        "names": lambda: names(bench),
        "peers": lambda: peers(bench),
        "policies": lambda: policies(bench, wanted),
        "growth": lambda: growth(bench),
        "start": lambda: starting(bench),
    }
    return [makers[section]() for section in sections]


ALL = ["profiles", "names", "peers", "policies", "growth", "start"]
PROFILES = [*LOADS, *ADVERSARIES]
